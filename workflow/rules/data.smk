# Section 3: the seven GLUE tasks, and the validation examples that the attention experiments use.

from darksecrets.data import sources


def data_files(wildcards) -> list[str]:
    """Local files that a task's data come from: the grammar's words, or the classic GLUE files."""
    if config["data"]["source"] == "builtin":
        return corpus_files()
    if config["data"]["source"] == "tsv":
        files = sources.tsv_files(TASKS[wildcards.task], Path(config["data"]["folder"]))
        return [compat.in_place(path) for path in files.values()]
    return []


rule prepare_dataset:
    """Bring one task into the project's columns, from any source, and check every row."""
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
        source=lookup(dpath="data", within=config),
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
        **ask(resources.table(0, seconds=3)),
    params:
        size=lookup(dpath="samples/size", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Sample validation examples of {wildcards.task}"
    script:
        "../../scripts/sample_examples.py"
