# Section 3: the tasks.


rule prepare_dataset:
    """Convert one task from any source to the project's columns, and check every row."""
    input:
        files=data_files,
    output:
        dataset=directory("<results>/data/{task}"),
    log:
        "<logs>/prepare_dataset/{task}.log",
    benchmark:
        "<benchmarks>/prepare_dataset/{task}.tsv"
    group:
        "data"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("core/prepare_dataset.py"),
        task=entry_of_task(*DATA_KEYS),
    message:
        "Prepare {wildcards.task}"
    script:
        "../../../scripts/core/prepare_dataset.py"
