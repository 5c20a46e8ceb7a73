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


collect(
    "collect_norms",
    "Gather the tables of weights and norms of all tasks.",
    tables={name: per_task(f"<results>/norms/{{task}}/{name}.csv") for name in TABLES_OF_NORMS},
    group="features",
)


draw(
    "draw_norms",
    figure(
        "weights_and_norms",
        "How much heads attend to kinds of tokens, by weights and by norms.",
        section=NORMS,
        label="Weights and norms (Kobayashi et al. 2020)",
        when=not config["left_out"]["values"],
        table="<results>/tables/norm_levels.csv",
        learned="<results>/tables/learned.csv",
    ),
    of="norms",
    group="features",
)


add_results(*TABLES_OF_NORMS, of="norms", when=not config["left_out"]["values"])
