# Section 3: self-attention maps of the sampled validation examples.


CHUNKS_OF_ATTENTION = config["attention"]["chunks"]
TRAINED_MODELS = r"pretrained|finetuned/seed-\d+"


rule extract_attention_chunk:
    """Store the maps of a chunk of the examples, cropped to real tokens, in half precision.

    A chunk consists of whole batches, so the maps are the same as those of a single job.
    """
    input:
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        model=model_folder,
    output:
        store=temp(directory("<results>/attention_chunks/{task}/{model}/{chunk}-of-{chunks}")),
    log:
        "<logs>/extract_attention_chunk/{task}/{model}/{chunk}-of-{chunks}.log",
    benchmark:
        "<benchmarks>/extract_attention_chunk/{task}/{model}/{chunk}-of-{chunks}.tsv"
    wildcard_constraints:
        model=TRAINED_MODELS,
    group:
        chunk_group("attention", CHUNKS_OF_ATTENTION)
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.extraction_chunk, gpu=True),
    params:
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Extract attention maps on {wildcards.task}: {wildcards.model}, chunk {wildcards.chunk} of {wildcards.chunks}"
    script:
        "../../scripts/extract_attention_chunk.py"


rule extract_attention:
    """Gather the maps of one model on one task."""
    input:
        chunks=chunks_of("<results>/attention_chunks/{task}/{model}", CHUNKS_OF_ATTENTION),
        sample="<results>/samples/{task}.csv",
    output:
        store=directory("<results>/attention/{task}/{model}"),
    log:
        "<logs>/extract_attention/{task}/{model}.log",
    benchmark:
        "<benchmarks>/extract_attention/{task}/{model}.tsv"
    wildcard_constraints:
        model=TRAINED_MODELS,
    group:
        "attention"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.gathering),
    message:
        "Gather the attention maps on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/extract_attention.py"


rule extract_random_attention:
    """Store the maps of an encoder with random weights, until they are measured."""
    input:
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        model="<results>/models/pretrained",
    output:
        store=temp(directory("<results>/attention/{task}/random/seed-{seed}")),
    log:
        "<logs>/extract_random_attention/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/extract_random_attention/{task}/seed-{seed}.tsv"
    group:
        "attention"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.all_maps, gpu=True),
    params:
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Extract attention maps on {wildcards.task}: random weights"
    script:
        "../../scripts/extract_random_attention.py"
