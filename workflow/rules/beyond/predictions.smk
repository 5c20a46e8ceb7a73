# Section 4.2, further: what does an encoder predict without a classifier?


from darksecrets.beyond.predictions import preflight as predictions_checks

PREDICTIONS = "Section 4.2, masked words"
TABLES_OF_MASKED_WORDS = ("minimal_pairs", "cloze")
IMPACT_TASKS = config["predictions"]["tasks"]
UNMASKED = predictions_checks.left_out(config, RESULTS / "models" / "pretrained")
if UNMASKED and "predictions" in config["analyses"] and workflow.is_main_process:
    logger.warning(UNMASKED)


rule get_masked_model:
    """Fetch the pre-trained model with the head that predicts masked words."""
    input:
        files=checkpoint_files,
    output:
        model=directory("<results>/models/masked"),
    log:
        "<logs>/get_masked_model.log",
    benchmark:
        "<benchmarks>/get_masked_model.tsv"
    group:
        "predictions"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("forward"),
    params:
        code=code_of("beyond/get_masked_model.py"),
        source=lookup(dpath="model", within=config),
    message:
        "Get the model that predicts masked words"
    script:
        "../../../scripts/beyond/get_masked_model.py"


rule predict_words:
    """Ask an encoder for masked words, pre-trained and with random weights."""
    input:
        pairs=compat.mark_in_place(config["predictions"]["pairs"]),
        cloze=compat.mark_in_place(config["predictions"]["cloze"]),
        model="<results>/models/masked",
        datasets=per_task("<results>/data/{task}"),
    output:
        **{name: table(name) for name in TABLES_OF_MASKED_WORDS},
    log:
        "<logs>/predict_words.log",
    benchmark:
        "<benchmarks>/predict_words.tsv"
    group:
        "predictions"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/predict_words.py"),
        models=["pretrained", RANDOM_MODEL],
        settings=leave_out(config["predictions"], "tasks", "sentences", "longest"),
        std=READING["std"],
    message:
        "Predict masked words"
    script:
        "../../../scripts/beyond/predict_words.py"


rule measure_impact:
    """Grow trees from the impact of words on each other, pre-trained and with random weights."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        models=["<results>/models/pretrained"] * 2,
    output:
        impact_trees="<results>/impact/pretrained.csv",
    log:
        "<logs>/measure_impact.log",
    benchmark:
        "<benchmarks>/measure_impact.tsv"
    group:
        "predictions"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_impact.py"),
        task="",
        models=["pretrained", RANDOM_MODEL],
        settings=leave_out(config["predictions"], "tasks", "pairs", "cloze", "most"),
        reading=READING,
    message:
        "Mask words, and grow trees of their impact on each other"
    script:
        "../../../scripts/beyond/measure_impact.py"


use rule measure_impact as measure_impact_of_task with:
    input:
        treebank="<results>/treebank/treebank.jsonl",
        models=finetuned_folders,
    output:
        impact_trees="<results>/impact/tasks/{task}.csv",
    log:
        "<logs>/measure_impact/{task}.log",
    benchmark:
        "<benchmarks>/measure_impact/{task}.tsv"
    params:
        code=code_of("beyond/measure_impact.py"),
        task=lambda wildcards: wildcards.task,
        models=lambda wildcards: trained_models(wildcards.task)[1:],
        settings=leave_out(config["predictions"], "tasks", "pairs", "cloze", "most"),
        reading=READING,
    message:
        "Mask words for models of {wildcards.task}, and grow trees"


collect(
    "collect_impact",
    "Gather the trees of impact of all models.",
    tables={
        "impact_trees": [
            "<results>/impact/pretrained.csv",
            *expand("<results>/impact/tasks/{task}.csv", task=IMPACT_TASKS),
        ]
    },
    group="features",
)


draw(
    "draw_predictions",
    figure(
        "minimal_pairs",
        "How often an encoder finds the right one of two sentences more probable.",
        section=PREDICTIONS,
        label="Minimal pairs (Goldberg 2019, Warstadt et al. 2020)",
        left_out=UNMASKED,
        table="<results>/tables/minimal_pairs.csv",
    ),
    figure(
        "cloze",
        "What an encoder puts in the place of a masked word, and how much a condition changes of that.",
        section=PREDICTIONS,
        label="Masked words (Petroni et al. 2019, Ettinger 2020)",
        left_out=UNMASKED,
        table="<results>/tables/cloze.csv",
    ),
    of="predictions",
    group="features",
)


draw(
    "draw_impact",
    figure(
        "impact_trees",
        "How much trees of the impact of masked words are like gold trees.",
        section=PREDICTIONS,
        label="Impact trees (Wu et al. 2020)",
        table="<results>/tables/impact_trees.csv",
        learned="<results>/tables/learned.csv",
    ),
    label=TREEBANK_LABEL,
    of="predictions",
    group="features",
)


add_results("impact_trees", of="predictions")
add_results(*TABLES_OF_MASKED_WORDS, of="predictions", when=not UNMASKED)
