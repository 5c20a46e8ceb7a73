# Sections 3 and 4.3: the states of the model, their scores, and what fine-tuning changes in the attention.


from darksecrets.paper.finetuning import preflight as finetuning_checks

CHANGES = "Section 4.3, what fine-tuning changes"
CHECKS["finetune"] = finetuning_checks.check_run


rule finetune:
    """Fine-tune on one task, from the pre-trained weights or from a normal distribution."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        model=directory("<results>/models/{task}/{state}/seed-{seed}"),
        scores="<results>/scores/{task}/{state}/seed-{seed}.csv",
        predictions="<results>/predictions/{task}/{state}/seed-{seed}.csv",
        curve="<results>/curves/{task}/{state}/seed-{seed}.csv",
    log:
        "<logs>/finetune/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/finetune/{task}/{state}/seed-{seed}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train", gpu=True),
    params:
        code=code_of("paper/finetune.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        fine_tuning=settings_of_training,
    message:
        "Fine-tune on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../../scripts/paper/finetune.py"


rule evaluate_pretrained:
    """Score the pre-trained weights with an untrained classifier, and with a trained one, for every seed."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        **{
            f"{state}_{kind}": directory(f"<results>/{kind}/{{task}}/{state}")
            for state in NOT_FINETUNED
            for kind in ("scores", "predictions")
        },
    log:
        "<logs>/evaluate_pretrained/{task}.log",
    benchmark:
        "<benchmarks>/evaluate_pretrained/{task}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train", gpu=True),
    params:
        code=code_of("paper/evaluate_pretrained.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        seeds=lambda wildcards: config["tasks"][wildcards.task]["seeds"],
        classifier=settings_of_frozen,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Score the pre-trained model on {wildcards.task}"
    script:
        "../../../scripts/paper/evaluate_pretrained.py"


rule evaluate_baselines:
    """Score what needs no model: the majority class and a bag of words; say which fine-tuned models are not better.

    Figures mark the tasks of these, and need no other models for it.
    """
    input:
        datasets=per_task("<results>/data/{task}"),
        model="<results>/models/pretrained",
        finetuned=per_task_and_seed("<results>/predictions/{task}/finetuned/seed-{seed}.csv"),
    output:
        table=table("baselines"),
        predictions=per_task("<results>/predictions/{task}/baselines.csv"),
        learned=table("learned"),
    log:
        "<logs>/evaluate_baselines.log",
    benchmark:
        "<benchmarks>/evaluate_baselines.tsv"
    group:
        "scores"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/evaluate_baselines.py"),
        tasks=entries_to_score(),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        resamples=lookup(dpath="scores/resamples", within=config),
        seed=lookup(dpath="scores/seed", within=config),
    message:
        "Score the baselines"
    script:
        "../../../scripts/paper/evaluate_baselines.py"


rule compare_scores:
    """Gather the scores of all states and seeds, the numbers of Table 1; and compare them.

    Intervals of all scores, and tests of their differences, are over examples and seeds. The losses and scores
    during training are gathered, too.
    """
    input:
        scores=scored("scores"),
        predictions=scored("predictions"),
        baselines=per_task("<results>/predictions/{task}/baselines.csv"),
        curves=[
            path
            for state in FINETUNED_STATES
            for path in per_task_and_seed(f"<results>/curves/{{task}}/{state}/seed-{{seed}}.csv")
        ],
    output:
        table1=table("table1"),
        means=table("score_means"),
        differences=table("score_differences"),
        mean_differences=table("mean_differences"),
        learning_curves=table("learning_curves"),
    log:
        "<logs>/compare_scores.log",
    benchmark:
        "<benchmarks>/compare_scores.tsv"
    group:
        "scores"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/compare_scores.py"),
        tasks=entries_to_score(),
        seeds={task: entry["seeds"] for task, entry in config["tasks"].items()},
        resamples=lookup(dpath="scores/resamples", within=config),
        seed=lookup(dpath="scores/seed", within=config),
    message:
        "Compare the scores of all models"
    script:
        "../../../scripts/paper/compare_scores.py"


rule draw_scores:
    """Draw Table 1 and the learning curves behind it."""
    input:
        table1=[
            "<results>/tables/table1.csv",
            "<results>/tables/baselines.csv",
            "<results>/tables/score_means.csv",
            "<results>/tables/score_differences.csv",
            "<results>/tables/mean_differences.csv",
        ],
        learning_curves=["<results>/tables/learning_curves.csv", "<results>/tables/baselines.csv"],
        data=per_task("<results>/data/{task}"),
        published=shipped("paper/table1.csv") if PAPER else [],
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/table1.html",
            caption="../../report/table1.rst",
            category=CHANGES,
            labels={"result": "Table 1"},
        ),
        multiext("<results>/figures/table1", ".md", ".tex"),
        report(
            "<results>/figures/learning_curves.svg",
            caption="../../report/learning_curves.rst",
            category=CHANGES,
            labels={"result": "Learning curves"},
        ),
        multiext("<results>/figures/learning_curves", ".pdf", ".png"),
    log:
        "<logs>/draw_scores.log",
    group:
        "scores"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("table1", "learning_curves"),
        code=code_of("paper/draw_scores.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw table1, learning_curves"
    script:
        "../../../scripts/paper/draw_scores.py"


rule table1:
    """Table 1: scores of the states of the model, and their differences."""
    input:
        multiext("<results>/figures/table1", ".html", ".md", ".tex"),
    message:
        "Finished: table1"


rule learning_curves:
    """Losses and scores during the fine-tunings behind Table 1."""
    input:
        multiext("<results>/figures/learning_curves", ".svg", ".pdf", ".png"),
    message:
        "Finished: learning_curves"


RESULTS_OF[analyses.PAPER] += [
    *tables(
        "learned",
        "baselines",
        "table1",
        "score_means",
        "score_differences",
        "mean_differences",
        "learning_curves",
    ),
    *expand("<results>/figures/table1.{format}", format=("html", "md", "tex")),
    *figures("learning_curves"),
]
