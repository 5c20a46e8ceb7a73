# Section 5, further: does attention explain decisions?


FAITHFULNESS = "Section 5, what decisions depend on"
TABLES_OF_FAITHFULNESS = ("attention_gradients", "faithfulness", "erasure")
CHECKS["collect_faithfulness"] = partial(
    data_checks.check_chosen, key="faithfulness.tasks", lacks="compares attention with no decisions"
)
EXPLAINED = bool(config["faithfulness"]["tasks"]) and not config["left_out"]["values"]
CHECKS["measure_faithfulness"] = partial(
    norms_checks.check_run, left_out=config["left_out"]["values"]
)


rule measure_faithfulness:
    """Compare attention with gradients of loss and decision; erase tokens until the decision changes."""
    input:
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        **{name: f"<results>/faithfulness/{{task}}/{name}.csv" for name in TABLES_OF_FAITHFULNESS},
    log:
        "<logs>/measure_faithfulness/{task}.log",
    benchmark:
        "<benchmarks>/measure_faithfulness/{task}.tsv"
    group:
        "faithfulness"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_faithfulness.py"),
        samples=lookup(dpath="samples", within=config),
        task=entry_of_task(*EXAMPLE_KEYS),
        models=lambda wildcards: measured_models(wildcards.task)[1:],
        settings=leave_out(config["faithfulness"], "tasks"),
        reading=READING,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Compare attention with decisions on {wildcards.task}"
    script:
        "../../../scripts/beyond/measure_faithfulness.py"


collect(
    "collect_faithfulness",
    "Gather the tables of attention and decisions of all tasks.",
    tables={
        name: expand(
            f"<results>/faithfulness/{{task}}/{name}.csv", task=config["faithfulness"]["tasks"]
        )
        for name in TABLES_OF_FAITHFULNESS
    },
    group="features",
)


draw(
    "draw_faithfulness",
    figure(
        "attention_gradients",
        "How much a change of attention to tokens of a kind would change the loss, by layer.",
        section=FAITHFULNESS,
        label="Gradients by attention (Clark et al. 2019)",
        when=EXPLAINED,
        tasks=config["faithfulness"]["tasks"],
        table="<results>/tables/attention_gradients.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "faithfulness",
        "Whether attention and gradients rank tokens alike, and how many must be erased to change a decision.",
        section=FAITHFULNESS,
        label="Attention and decisions (Jain and Wallace, Serrano and Smith 2019)",
        when=EXPLAINED,
        tasks=config["faithfulness"]["tasks"],
        table="<results>/tables/faithfulness.csv",
        erasure="<results>/tables/erasure.csv",
        learned="<results>/tables/learned.csv",
    ),
    of="faithfulness",
    group="features",
)


add_results(*TABLES_OF_FAITHFULNESS, of="faithfulness", when=EXPLAINED)
