# Section 4.4, further: stripes by weights, and by the lengths of the vectors that are weighted.


NORMS = "Section 4.4, weights and norms"
TABLES_OF_NORMS = ("norm_statistics", "norm_levels")
CHECKS["measure_norms"] = partial(norms_checks.check_run, left_out=config["left_out"]["values"])


rule measure_norms:
    """Measure how much heads attend to kinds of tokens, by weights and by norms, in all models of a task."""
    input:
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        **{name: f"<results>/norms/{{task}}/{name}.csv" for name in TABLES_OF_NORMS},
    log:
        "<logs>/measure_norms/{task}.log",
    benchmark:
        "<benchmarks>/measure_norms/{task}.tsv"
    group:
        "norms"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_norms.py"),
        samples=lookup(dpath="samples", within=config),
        models=lambda wildcards: measured_models(wildcards.task),
        reading=READING,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure weights and norms on {wildcards.task}"
    script:
        "../../../scripts/beyond/measure_norms.py"


rule collect_norms:
    """Gather the tables of weights and norms of all tasks."""
    input:
        **{name: per_task(f"<results>/norms/{{task}}/{name}.csv") for name in TABLES_OF_NORMS},
    output:
        **{name: table(name) for name in TABLES_OF_NORMS},
    log:
        "<logs>/collect_norms.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=list(TABLES_OF_NORMS),
    message:
        "Gather the tables of weights and norms of all tasks"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_norms:
    """Draw weights beside norms of what they weigh."""
    input:
        weights_and_norms="<results>/tables/norm_levels.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/weights_and_norms.svg",
            caption="../../report/weights_and_norms.rst",
            category=NORMS,
            labels={"result": "Weights and norms (Kobayashi et al. 2020)"},
        ),
        multiext("<results>/figures/weights_and_norms", ".pdf", ".png"),
    log:
        "<logs>/draw_norms.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("weights_and_norms"),
        code=code_of("beyond/draw_norms.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw weights_and_norms"
    script:
        "../../../scripts/beyond/draw_norms.py"


rule weights_and_norms:
    """How much heads attend to kinds of tokens, by weights and by norms."""
    input:
        multiext("<results>/figures/weights_and_norms", ".svg", ".pdf", ".png"),
    message:
        "Finished: weights_and_norms"


if not config["left_out"]["values"]:
    RESULTS_OF["norms"] += [*tables(*TABLES_OF_NORMS), *figures("weights_and_norms")]
