# One page that shows the run: its claims, every head by every measure, and its maps.


TABLES_OF_ATLAS = [
    str(RESULTS / "tables" / table.file)
    for table in (
        *measures_of_atlas.tables().values(),
        *measures_of_atlas.tables(measures_of_atlas.MODELS).values(),
        contracts.TABLES["score_means"],
    )
    if table.name not in TABLES_LEFT_OUT
]


# What heads do, beside what disabling them does; see importance.smk.
TABLES_OF_HEADS = [
    str(RESULTS / "tables" / table.file)
    for table in measures_of_atlas.tables(measures_of_atlas.WHAT_HEADS_DO).values()
    if table.name not in TABLES_LEFT_OUT
]


rule atlas_maps:
    """Choose a task's examples by rules; pack their maps and all heads' mean maps in a few bits a weight."""
    input:
        stores=stores_for_atlas,
        predictions=predictions_for_atlas,
        sweep=sweep_for_atlas,
    output:
        maps="<results>/atlas/{task}.json",
        provenance="<results>/atlas/{task}.provenance.json",
    log:
        "<logs>/atlas_maps/{task}.log",
    benchmark:
        "<benchmarks>/atlas_maps/{task}.tsv"
    group:
        "atlas"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.atlas_maps),
    params:
        models=models_of_atlas,
        settings=settings_of_atlas,
    message:
        "Choose examples for the atlas on {wildcards.task}"
    script:
        "../../scripts/atlas_maps.py"


rule atlas:
    """Make the atlas of heads: one page that opens from disk and shows the run."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        claims="<results>/tables/claims.csv",
        tables=TABLES_OF_ATLAS,
        maps=per_task("<results>/atlas/{task}.json"),
    output:
        page="<results>/atlas.html",
        provenance="<results>/atlas.provenance.json",
    log:
        "<logs>/atlas.log",
    group:
        "atlas"
    conda:
        "../../envs/figures.yaml"
    params:
        run={
            "name": config["run"],
            "label": RUN_LABEL,
            "metrics": METRICS_OF_TASKS,
            "seeds": sorted(
                {seed for entry in config["tasks"].values() for seed in entry["seeds"]}
            ),
            "comparable": PAPER,
            "figures": tables_of_figures(),
            "left_out": config["left_out"],
        },
        facts=FACTS,
        page=imports.digest(page_of_atlas.files()),
    message:
        "Make the atlas of heads"
    script:
        "../../scripts/atlas.py"


RESULTS_OF_RUN.append("<results>/atlas.html")
