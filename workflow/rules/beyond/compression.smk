# Section 5: how much smaller can the overparametrised model be made? Beside published compressed models.


from darksecrets.beyond.compression import preflight as compression_checks

COMPRESSION = "Section 5, smaller models"
COMPRESSED = config["compression"]["tasks"]
TABLES_OF_COMPRESSION = ("compression", "compression_times")
CHECKS["collect_compression"] = partial(
    data_checks.check_chosen, key="compression.tasks", lacks="compresses no models"
)
UNCOMPRESSED = compression_checks.left_out(config, RESULTS / "models" / "pretrained")
if COMPRESSED and UNCOMPRESSED and "compression" in config["analyses"] and workflow.is_main_process:
    logger.warning(UNCOMPRESSED)


rule compress_model:
    """Compress a fine-tuned model in several ways: bytes, score and time of what is left.

    Nothing is trained again, and validation examples choose nothing. Times are those of a CPU.
    """
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
        orders=orders_of_task,
        mlps=mlps_of_task,
    output:
        **{
            name: f"<results>/compression/{{task}}/seed-{{seed}}/{name}.csv"
            for name in TABLES_OF_COMPRESSION
        },
    log:
        "<logs>/compress_model/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/compress_model/{task}/seed-{seed}.tsv"
    group:
        "compression"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward"),
    params:
        code=code_of("beyond/compress_model.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        settings=leave_out(config["compression"], "tasks"),
        tolerance=lookup(dpath="importance/pruning/tolerance", within=config),
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Compress the model of {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/compress_model.py"


rule collect_compression:
    """Gather the tables of all tasks and seeds: compressed models."""
    input:
        **{
            name: per_task_and_seed(
                f"<results>/compression/{{task}}/seed-{{seed}}/{name}.csv", COMPRESSED
            )
            for name in TABLES_OF_COMPRESSION
        },
    output:
        **{name: table(name) for name in TABLES_OF_COMPRESSION},
    log:
        "<logs>/collect_compression.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=list(TABLES_OF_COMPRESSION),
    message:
        "Gather the tables of all tasks and seeds: compressed models"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_compression:
    """Draw what compressed models retain, against their size and their time."""
    input:
        compression="<results>/tables/compression.csv",
        compression_times=[
            "<results>/tables/compression.csv",
            "<results>/tables/compression_times.csv",
        ],
        compression_rogers2020=shipped("paper/compression_rogers2020.csv"),
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/compression.svg",
            caption="../../report/compression.rst",
            category=COMPRESSION,
            labels={"result": "Size (Rogers et al. 2020, table 1)"},
        ),
        multiext("<results>/figures/compression", ".pdf", ".png"),
        report(
            "<results>/figures/compression_times.svg",
            caption="../../report/compression_times.rst",
            category=COMPRESSION,
            labels={"result": "Time"},
        ),
        multiext("<results>/figures/compression_times", ".pdf", ".png"),
    log:
        "<logs>/draw_compression.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("compression", "compression_times"),
        code=code_of("beyond/draw_compression.py"),
        metrics=metrics_of(COMPRESSED),
    message:
        "Draw compression, compression_times"
    script:
        "../../../scripts/beyond/draw_compression.py"


rule compression:
    """Score that compressed models retain against their size, beside published ones."""
    input:
        multiext("<results>/figures/compression", ".svg", ".pdf", ".png"),
    message:
        "Finished: compression"


rule compression_times:
    """Score that compressed models retain against the time that they take."""
    input:
        multiext("<results>/figures/compression_times", ".svg", ".pdf", ".png"),
    message:
        "Finished: compression_times"


if COMPRESSED:
    RESULTS_OF["compression"] += [
        *tables(*TABLES_OF_COMPRESSION),
        *figures("compression", "compression_times"),
    ]
