# Section 4.3: what does fine-tuning change?


rule compute_similarity:
    """Compare each head's maps before and after fine-tuning, example by example."""
    input:
        code=code("finetuning.cosine"),
        pretrained="<results>/attention/{task}/pretrained",
        finetuned="<results>/attention/{task}/finetuned/seed-{seed}",
    output:
        similarity="<results>/similarity/{task}/seed-{seed}.csv",
        provenance="<results>/similarity/{task}/seed-{seed}.provenance.json",
    log:
        "<logs>/compute_similarity/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/compute_similarity/{task}/seed-{seed}.tsv"
    group:
        "similarity"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask("compute_similarity"),
    message:
        "Compare attention maps before and after fine-tuning on {wildcards.task}, seed {wildcards.seed}"
    script:
        "../../scripts/compute_similarity.py"


rule collect_similarity:
    """Gather the similarities of all tasks and seeds: the numbers of Figure 5."""
    input:
        code=code("run.tables"),
        similarity=per_task_and_seed("<results>/similarity/{task}/seed-{seed}.csv"),
    output:
        table="<results>/tables/cosine.csv",
        provenance="<results>/tables/cosine.provenance.json",
    log:
        "<logs>/collect_similarity.log",
    group:
        "similarity"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the similarities"
    script:
        "../../scripts/collect_tables.py"


rule figure5:
    """Figure 5: cosine similarity of pre-trained and fine-tuned maps, head by head."""
    input:
        code=code("finetuning.figure5"),
        table="<results>/tables/cosine.csv",
    output:
        svg=report(
            "<results>/figures/figure5.svg",
            caption="../report/figure5.rst",
            category="Section 4.3: what fine-tuning changes",
            labels={"result": "Figure 5"},
        ),
        pdf="<results>/figures/figure5.pdf",
        png="<results>/figures/figure5.png",
    log:
        "<logs>/figure5.log",
    group:
        "similarity"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 5"
    script:
        "../../scripts/figure5.py"


RESULTS_OF_RUN += figure_files("figure5")
