# Section 3: self-attention maps of the sampled validation examples.


rule extract_attention:
    """Store the maps of a task's models, cropped to real tokens, in half precision.

    Beside them are those of an encoder with random weights.
    """
    input:
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        stores=directory("<results>/attention/{task}"),
    log:
        "<logs>/extract_attention/{task}.log",
    benchmark:
        "<benchmarks>/extract_attention/{task}.tsv"
    group:
        "attention"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("core/extract_attention.py"),
        models=lambda wildcards: measured_models(wildcards.task),
        samples=lookup(dpath="samples", within=config),
        reading=READING,
    message:
        "Extract attention maps on {wildcards.task}"
    script:
        "../../../scripts/core/extract_attention.py"
