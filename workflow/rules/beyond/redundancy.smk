# Section 5, further: which heads attend alike, and of what types are they?


from darksecrets.beyond.redundancy import preflight as redundancy_checks

REDUNDANCY = "Section 5, redundancy of heads"
SEVERAL_HEADS = not redundancy_checks.has_one_head(config, RESULTS / "models" / "pretrained")
REDUNDANCY_IN_RUN = SEVERAL_HEADS and WORDS_ANNOTATED  # punctuation is a type of heads
TABLES_OF_REDUNDANCY = ("redundancy", "head_types", "head_type_counts")
CHECKS["measure_redundancy"] = redundancy_checks.check_heads


rule measure_redundancy:
    """Measure distances between the heads of a task's models, and what decides their types."""
    input:
        stores="<results>/attention/{task}",
        annotation=annotation_with_words,
    output:
        head_distances="<results>/redundancy/{task}/head_distances.parquet",
        example_distances="<results>/redundancy/{task}/example_distances.csv",
        statistics=directory("<results>/redundancy/{task}/statistics"),
    log:
        "<logs>/measure_redundancy/{task}.log",
    benchmark:
        "<benchmarks>/measure_redundancy/{task}.tsv"
    group:
        "redundancy"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("forward"),
    params:
        code=code_of("beyond/measure_redundancy.py"),
        models=lambda wildcards: measured_models(wildcards.task),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure how alike heads attend on {wildcards.task}"
    script:
        "../../../scripts/beyond/measure_redundancy.py"


rule compare_redundancy:
    """Compare distances between heads, and their types, over all tasks and models."""
    input:
        head_distances=per_task("<results>/redundancy/{task}/head_distances.parquet"),
        example_distances=per_task("<results>/redundancy/{task}/example_distances.csv"),
        statistics=per_task("<results>/redundancy/{task}/statistics"),
    output:
        **{name: table(name) for name in TABLES_OF_REDUNDANCY},
    log:
        "<logs>/compare_redundancy.log",
    benchmark:
        "<benchmarks>/compare_redundancy.tsv"
    group:
        "features"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/compare_redundancy.py"),
        models=MEASURED_MODELS,
        resamples=1000,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Compare how alike heads attend"
    script:
        "../../../scripts/beyond/compare_redundancy.py"


rule draw_redundancy:
    """Draw how alike heads attend."""
    input:
        redundancy="<results>/tables/redundancy.csv",
    output:
        report(
            "<results>/figures/redundancy.svg",
            caption="../../report/redundancy.rst",
            category=REDUNDANCY,
            labels={"result": "Redundancy of heads (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/redundancy", ".pdf", ".png"),
    log:
        "<logs>/draw_redundancy.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("redundancy"),
        code=code_of("beyond/draw_redundancy.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw redundancy"
    script:
        "../../../scripts/beyond/draw_redundancy.py"


rule redundancy:
    """How alike the attention of two heads is: mean distances by kind of pairs."""
    input:
        multiext("<results>/figures/redundancy", ".svg", ".pdf", ".png"),
    message:
        "Finished: redundancy"


if REDUNDANCY_IN_RUN:
    RESULTS_OF["redundancy"] += [*tables(*TABLES_OF_REDUNDANCY), *figures("redundancy")]
