# Section 4.2, further: what does an encoder predict without a classifier?


from darksecrets.beyond.predictions import preflight as predictions_checks

PREDICTIONS = "Section 4.2, masked words"
TABLES_OF_MASKED_WORDS = ("minimal_pairs", "cloze")
TABLES_OF_AGREEMENT = ("agreement_heads", "agreement_groups")
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
        **ask("load"),
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
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        models=["pretrained", RANDOM_MODEL],
        settings=leave_out(config["predictions"], "tasks", "sentences", "longest"),
        std=READING["std"],
    message:
        "Predict masked words"
    script:
        "../../../scripts/beyond/predict_words.py"


rule sweep_agreement:
    """Disable each head while the encoder chooses between verbs that agree with their subjects, or do not."""
    input:
        pairs=compat.mark_in_place(config["predictions"]["pairs"]),
        model="<results>/models/masked",
        token_pairs=["<results>/tables/token_pairs.csv"] if tasks_of("token_pairs") else [],
    output:
        **{name: table(name) for name in TABLES_OF_AGREEMENT},
    log:
        "<logs>/sweep_agreement.log",
    benchmark:
        "<benchmarks>/sweep_agreement.tsv"
    group:
        "predictions"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/sweep_agreement.py"),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        settings=leave_out(config["predictions"], "tasks", "cloze", "sentences", "longest"),
        resampling=RESAMPLING,
    message:
        "Disable heads for the agreement of verbs"
    script:
        "../../../scripts/beyond/sweep_agreement.py"


rule measure_impact:
    """Grow trees from the impact of words on each other, pre-trained and with random weights."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        models=["<results>/models/pretrained"] * 2,
    output:
        trees="<results>/impact/pretrained.csv",
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
        trees="<results>/impact/tasks/{task}.csv",
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


rule compare_trees:
    """Put trees of impact into one table with those from attention and from states, if the run has them."""
    input:
        impact=[
            "<results>/impact/pretrained.csv",
            *expand("<results>/impact/tasks/{task}.csv", task=IMPACT_TASKS),
        ],
        attention_trees=(
            ["<results>/tables/attention_trees.csv"] if "syntax" in config["analyses"] else []
        ),
        structural_probes=(
            ["<results>/tables/structural_probes.csv"] if "layers" in config["analyses"] else []
        ),
    output:
        trees=table("trees"),
    log:
        "<logs>/compare_trees.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/compare_trees.py"),
    message:
        "Compare trees of impact with others"
    script:
        "../../../scripts/beyond/compare_trees.py"


rule draw_predictions:
    """Draw which of two sentences is more probable, and what stands in the place of a masked word."""
    input:
        minimal_pairs="<results>/tables/minimal_pairs.csv",
        cloze="<results>/tables/cloze.csv",
        unless=refusal(UNMASKED),
    output:
        report(
            "<results>/figures/minimal_pairs.svg",
            caption="../../report/minimal_pairs.rst",
            category=PREDICTIONS,
            labels={"result": "Minimal pairs (Goldberg 2019, Warstadt et al. 2020)"},
        ),
        multiext("<results>/figures/minimal_pairs", ".pdf", ".png"),
        report(
            "<results>/figures/cloze.svg",
            caption="../../report/cloze.rst",
            category=PREDICTIONS,
            labels={"result": "Masked words (Petroni et al. 2019, Ettinger 2020)"},
        ),
        multiext("<results>/figures/cloze", ".pdf", ".png"),
    log:
        "<logs>/draw_predictions.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("minimal_pairs", "cloze"),
        code=code_of("beyond/draw_predictions.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw minimal_pairs, cloze"
    script:
        "../../../scripts/beyond/draw_predictions.py"


rule minimal_pairs:
    """How often an encoder finds the right one of two sentences more probable."""
    input:
        multiext("<results>/figures/minimal_pairs", ".svg", ".pdf", ".png"),
    message:
        "Finished: minimal_pairs"


rule cloze:
    """What an encoder puts in the place of a masked word, and how much a condition changes of that."""
    input:
        multiext("<results>/figures/cloze", ".svg", ".pdf", ".png"),
    message:
        "Finished: cloze"


rule draw_agreement:
    """Draw which heads the agreement of verbs needs."""
    input:
        agreement_heads=[
            "<results>/tables/agreement_heads.csv",
            "<results>/tables/agreement_groups.csv",
        ],
        unless=refusal(UNMASKED),
    output:
        report(
            "<results>/figures/agreement_heads.svg",
            caption="../../report/agreement_heads.rst",
            category=PREDICTIONS,
            labels={"result": "Heads that agreement needs"},
        ),
        multiext("<results>/figures/agreement_heads", ".pdf", ".png"),
    log:
        "<logs>/draw_agreement.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("agreement_heads", label=ENCODER_LABEL),
        code=code_of("beyond/draw_predictions.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw agreement_heads"
    script:
        "../../../scripts/beyond/draw_predictions.py"


rule agreement_heads:
    """Which heads an encoder needs to choose the verb that agrees with its subject."""
    input:
        multiext("<results>/figures/agreement_heads", ".svg", ".pdf", ".png"),
    message:
        "Finished: agreement_heads"


rule draw_trees:
    """Draw how far trees of impact, from attention and from states are gold trees."""
    input:
        trees="<results>/tables/trees.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/trees.svg",
            caption="../../report/trees.rst",
            category=PREDICTIONS,
            labels={"result": "Trees of masked words (Wu et al. 2020), beside others"},
        ),
        multiext("<results>/figures/trees", ".pdf", ".png"),
    log:
        "<logs>/draw_trees.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("trees", label=TREEBANK_LABEL),
        code=code_of("beyond/draw_predictions.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw trees"
    script:
        "../../../scripts/beyond/draw_predictions.py"


rule trees:
    """How much trees of the impact of masked words, from attention and from states are like gold trees."""
    input:
        multiext("<results>/figures/trees", ".svg", ".pdf", ".png"),
    message:
        "Finished: trees"


RESULTS_OF["predictions"] += [*tables("trees"), *figures("trees")]
if not UNMASKED:
    RESULTS_OF["predictions"] += [
        *tables(*TABLES_OF_MASKED_WORDS),
        *figures("minimal_pairs", "cloze"),
    ]
    if not LEFT_OUT:
        RESULTS_OF["predictions"] += [
            *tables(*TABLES_OF_AGREEMENT),
            *figures("agreement_heads"),
        ]
