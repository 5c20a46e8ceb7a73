# Section 3: self-attention maps of the sampled validation examples.


rule extract_attention_shard:
    """Store the maps of a part of the examples, where `attention.shards` splits the extraction.

    A shard is a run of whole batches, so that the maps are those of a job that does it all.
    """
    input:
        code=code("attention.extraction"),
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        model=model_folder,
    output:
        store=temp(directory("<results>/attention_shards/{task}/{model}/{piece}-of-{pieces}")),
    log:
        "<logs>/extract_attention_shard/{task}/{model}/{piece}-of-{pieces}.log",
    benchmark:
        "<benchmarks>/extract_attention_shard/{task}/{model}/{piece}-of-{pieces}.tsv"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("extract_attention_shard"),
    params:
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Extract attention maps on {wildcards.task}: {wildcards.model}, shard {wildcards.piece} of {wildcards.pieces}"
    script:
        "../../scripts/extract_attention_shard.py"


rule extract_attention:
    """Store the maps of one model on one task, cropped to real tokens, in half precision.

    Where there are shards, it puts them together.
    """
    input:
        shards=pieces("<results>/attention_shards/{task}/{model}", config["attention"]["shards"]),
        code=code("attention.extraction"),
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
