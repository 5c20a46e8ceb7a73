# The tiny BERT that ships with the project. Nothing depends on this rule: it is for reproducing the
# model, or making another.


rule pretrain_tiny_bert:
    """Pre-train the tiny BERT on the built-in corpus again (about an hour)."""
    input:
        words=corpus_files(),
    output:
        model=directory("results/tiny-bert"),
    log:
        "results/pretraining/logs/pretrain_tiny_bert.log",
    benchmark:
        "results/pretraining/benchmarks/pretrain_tiny_bert.tsv"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train"),
    params:
        configuration={},
        seed=1,
    message:
        "Pre-train the tiny BERT"
    script:
        "../../scripts/pretrain_tiny_bert.py"
