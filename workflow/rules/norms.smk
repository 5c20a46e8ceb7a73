# Section 4.4, second opinion: stripes by weights, and by the lengths of the vectors that are weighted.


NORMS = "Section 4.4, weights and norms"
TABLES_OF_NORMS = ("norm_statistics", "norm_levels")
CHECKS["measure_norms"] = partial(of_norms.check_run, left_out=config["norms_left_out"])


rule measure_norms:
    """Measure how much heads attend to kinds of tokens, by weights and by norms, in all models of a task."""
    input:
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        **{name: f"<results>/norms/{{task}}/{name}.csv" for name in TABLES_OF_NORMS},
        provenance="<results>/norms/{task}/provenance.json",
    log:
        "<logs>/measure_norms/{task}.log",
    benchmark:
        "<benchmarks>/measure_norms/{task}.tsv"
    group:
        "norms"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.norms, gpu=True),
    params:
        models=lambda wildcards: measured_models(wildcards.task),
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure weights and norms on {wildcards.task}"
    script:
        "../../scripts/measure_norms.py"


collect(
    "collect_norms",
    "Gather a table of weights and norms of all tasks.",
    group="features",
    table="{table}",
    tables=norms_of_tasks,
    choices="|".join(TABLES_OF_NORMS),
)


figure(
    "weights_and_norms",
    "How much heads attend to kinds of tokens, by weights and by norms.",
    section=NORMS,
    label="Weights and norms (Kobayashi et al. 2020)",
    group="features",
    of_run=not config["norms_left_out"],
    table="<results>/tables/norm_levels.csv",
)


if config["norms_left_out"]:
    TABLES_LEFT_OUT |= set(TABLES_OF_NORMS)
else:
    RESULTS_OF_RUN += [f"<results>/tables/{name}.csv" for name in TABLES_OF_NORMS]
