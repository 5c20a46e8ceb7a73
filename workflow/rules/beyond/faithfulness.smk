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


rule collect_faithfulness:
    """Gather the tables of attention and decisions of all tasks."""
    input:
        **{
            name: expand(
                f"<results>/faithfulness/{{task}}/{name}.csv", task=config["faithfulness"]["tasks"]
            )
            for name in TABLES_OF_FAITHFULNESS
        },
    output:
        **{name: table(name) for name in TABLES_OF_FAITHFULNESS},
    log:
        "<logs>/collect_faithfulness.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=list(TABLES_OF_FAITHFULNESS),
    message:
        "Gather the tables of attention and decisions of all tasks"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_faithfulness:
    """Draw gradients by attention, and how far attention explains decisions."""
    input:
        attention_gradients="<results>/tables/attention_gradients.csv",
        faithfulness=["<results>/tables/faithfulness.csv", "<results>/tables/erasure.csv"],
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/attention_gradients.svg",
            caption="../../report/attention_gradients.rst",
            category=FAITHFULNESS,
            labels={"result": "Gradients by attention (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/attention_gradients", ".pdf", ".png"),
        report(
            "<results>/figures/faithfulness.svg",
            caption="../../report/faithfulness.rst",
            category=FAITHFULNESS,
            labels={
                "result": "Attention and decisions (Jain and Wallace, Serrano and Smith 2019)"
            },
        ),
        multiext("<results>/figures/faithfulness", ".pdf", ".png"),
    log:
        "<logs>/draw_faithfulness.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("attention_gradients", "faithfulness"),
        code=code_of("beyond/draw_faithfulness.py"),
        metrics=metrics_of(config["faithfulness"]["tasks"]),
    message:
        "Draw attention_gradients, faithfulness"
    script:
        "../../../scripts/beyond/draw_faithfulness.py"


rule attention_gradients:
    """How much a change of attention to tokens of a kind would change the loss, by layer."""
    input:
        multiext("<results>/figures/attention_gradients", ".svg", ".pdf", ".png"),
    message:
        "Finished: attention_gradients"


rule faithfulness:
    """Whether attention and gradients rank tokens alike, and how many must be erased to change a decision."""
    input:
        multiext("<results>/figures/faithfulness", ".svg", ".pdf", ".png"),
    message:
        "Finished: faithfulness"


if EXPLAINED:
    RESULTS_OF["faithfulness"] += [
        *tables(*TABLES_OF_FAITHFULNESS),
        *figures("attention_gradients", "faithfulness"),
    ]
