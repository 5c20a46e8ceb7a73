# Section 3: self-attention maps of the sampled validation examples.


CHUNKS_OF_ATTENTION = config["chunks"]


rule extract_attention:
    """Store the maps of a task's models, cropped to real tokens, in half precision.

    If other jobs extract them, each of a chunk of the examples, this one gathers the chunks.
    """
    input:
        chunks=chunks_of("<results>/attention_chunks/{task}", CHUNKS_OF_ATTENTION),
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
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.extraction, gpu=CHUNKS_OF_ATTENTION == 1),
    params:
        models=lambda wildcards: trained_models(wildcards.task),
        samples=lookup(dpath="samples", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Extract attention maps on {wildcards.task}"
    script:
        "../../scripts/extract_attention.py"


# A chunk consists of whole batches, so the maps are the same as those of a single job.
use rule extract_attention as extract_attention_chunk with:
    input:
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        stores=temp(directory("<results>/attention_chunks/{task}/{chunk}-of-{chunks}")),
    log:
        "<logs>/extract_attention_chunk/{task}/{chunk}-of-{chunks}.log",
    benchmark:
        "<benchmarks>/extract_attention_chunk/{task}/{chunk}-of-{chunks}.tsv"
    group:
        "attention_chunk"
    resources:
        **ask(resources.extraction_chunk, gpu=True),
    message:
        "Extract attention maps on {wildcards.task}, chunk {wildcards.chunk} of {wildcards.chunks}"
