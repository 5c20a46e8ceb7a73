# Section 4.3: what does fine-tuning change?


rule compute_similarity:
    """Compare each head's maps before and after fine-tuning, example by example."""
    input:
        code=code("similarity"),
        pretrained="<results>/attention/{task}/pretrained",
        finetuned="<results>/attention/{task}/finetuned/seed-{seed}",
    output:
        similarity="<results>/similarity/{task}/seed-{seed}.csv",
        provenance="<results>/similarity/{task}/seed-{seed}.provenance.json",
    log:
        "<logs>/compute_similarity/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/compute_similarity/{task}/seed-{seed}.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    message:
        "Compare attention maps before and after fine-tuning on {wildcards.task}, seed {wildcards.seed}"
    script:
        "../../scripts/compute_similarity.py"


rule collect_similarity:
    """Gather the similarities of all tasks and seeds: the numbers of Figure 5."""
    input:
        code=code("tables"),
        similarity=per_task_and_seed("<results>/similarity/{task}/seed-{seed}.csv"),
    output:
        table="<results>/tables/cosine.csv",
        provenance="<results>/tables/cosine.provenance.json",
    log:
        "<logs>/collect_similarity.log",
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the similarities"
    script:
        "../../scripts/collect_tables.py"
