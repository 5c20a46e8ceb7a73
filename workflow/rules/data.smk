# Section 3: the tasks, and the validation examples used in the attention experiments.


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
        "../../envs/model.yaml"
    resources:
        **ask(resources.dataset),
    params:
        task=entry_of_task(*OF_DATA),
        builtin=builtin_corpus,
    message:
        "Prepare {wildcards.task}"
    script:
        "../../scripts/prepare_dataset.py"


rule sample_examples:
    """Draw the validation examples whose attention is studied, the same for every model."""
    input:
        dataset="<results>/data/{task}",
    output:
        sample="<results>/samples/{task}.csv",
    log:
        "<logs>/sample_examples/{task}.log",
    group:
        "data"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.SAMPLING),
    params:
        size=lookup(dpath="samples/size", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Sample validation examples of {wildcards.task}"
    script:
        "../../scripts/sample_examples.py"
