# Section 3: self-attention maps of the sampled validation examples.


rule extract_attention:
    """Store the maps of one model on one task, cropped to real tokens, in half precision."""
    input:
        code=code("attention"),
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        model=model_folder,
    output:
        store=directory("<results>/attention/{task}/{model}"),
    log:
        "<logs>/extract_attention/{task}/{model}.log",
    benchmark:
        "<benchmarks>/extract_attention/{task}/{model}.tsv"
    group:
        "attention"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("extract_attention"),
    params:
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Extract attention maps on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/extract_attention.py"
