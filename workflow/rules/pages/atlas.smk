# One page that shows the run: its claims, every head by every measure, and its maps.


from darksecrets.pages.atlas import html as page_of_atlas
from darksecrets.pages.atlas import layers as layers_of_atlas
from darksecrets.pages.atlas import measures as measures_of_atlas

TABLES_OF_ATLAS = (
    *tables_of(measures_of_atlas.SHOWN),
    *(measure.table.name for measure in layers_of_atlas.MEASURES),
    "score_means",
    "learned",
)
# The atlas shows the maps of every task's first fine-tuned model, and what flips its predictions.
FIRST = {
    task: f"{task}/finetuned/seed-{entry['seeds'][0]}" for task, entry in config["tasks"].items()
}
FLIPPED = [task for task in SWEPT_TASKS if SWEPT and "finetuned" in config["ablation"]["states"]]


rule atlas_maps:
    """Choose examples of every task by rules; pack their maps and all heads' mean maps in a few bits a weight."""
    input:
        stores=per_task("<results>/attention/{task}"),
        predictions=[f"<results>/predictions/{model}.csv" for model in FIRST.values()],
        sweeps=[f"<results>/ablation/{FIRST[task]}" for task in FLIPPED],
    output:
        maps=per_task("<results>/atlas/{task}.json"),
    log:
        "<logs>/atlas_maps.log",
    benchmark:
        "<benchmarks>/atlas_maps.tsv"
    group:
        "atlas"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("forward"),
    params:
        code=code_of("pages/atlas_maps.py"),
        models={task: trained_models(task) for task in config["tasks"]},
        labels={task: list(TASKS[task].labels) for task in config["tasks"]},
        swept=FLIPPED,
        settings={**config["atlas"], "seed": config["samples"]["seed"]},
    message:
        "Choose examples for the atlas"
    script:
        "../../../scripts/pages/atlas_maps.py"


rule atlas:
    """Make the atlas of heads: one page that opens from disk and shows the run."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        claims="<results>/tables/claims.csv",
        findings="<results>/tables/findings.csv",
        tables=made_tables(TABLES_OF_ATLAS),
        maps=per_task("<results>/atlas/{task}.json"),
    output:
        page="<results>/atlas.html",
    log:
        "<logs>/atlas.log",
    group:
        "atlas"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("pages/atlas.py"),
        run={
            "name": config["run"],
            "label": RUN_LABEL,
            "metrics": METRICS_OF_TASKS,
            "seeds": sorted(
                {seed for entry in config["tasks"].values() for seed in entry["seeds"]}
            ),
            "comparable": PAPER,
            "figures": compat.tables_of_figures(workflow, results_of_run()),
            "left_out": config["left_out"]["interventions"],
            "synthetic": SYNTHETIC,
        },
        analyses=config["analyses"],
        facts=FACTS,
        page=imports.digest(page_of_atlas.files()),
    message:
        "Make the atlas of heads"
    script:
        "../../../scripts/pages/atlas.py"


RESULTS_OF[analyses.PAPER] += ["<results>/atlas.html"]
