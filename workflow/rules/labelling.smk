# Section 4.1: maps for people to label. Nothing depends on them: labels come from people, so the rules
# of the classifier read a folder of annotations. `make label` makes one.


rule sample_maps:
    """Draw the maps to label: every task, layer and head of the fine-tuned models equally often."""
    input:
        code=code("patterns.sampling"),
        stores=per_task(f"<results>/attention/{{task}}/finetuned/seed-{config['seeds'][0]}"),
    output:
        maps=directory("<results>/patterns/maps"),
    log:
        "<logs>/sample_maps.log",
    benchmark:
        "<benchmarks>/sample_maps.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        tasks=lookup(dpath="tasks", within=config),
        model_seed=config["seeds"][0],
        size=lookup(dpath="patterns/label_maps/size", within=config),
        seed=lookup(dpath="patterns/label_maps/seed", within=config),
        model=configuration.describe_model(config),
        prefix=lookup(dpath="run", within=config),
    message:
        "Draw {params.size} maps to label"
    script:
        "../../scripts/sample_maps.py"
