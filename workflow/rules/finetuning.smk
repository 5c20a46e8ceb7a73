# Sections 3 and 4.3: the states of the model, their scores, and what fine-tuning changes in the attention.


CHANGES = "Section 4.3, what fine-tuning changes"
CHECKS["finetune"] = of_finetuning.check_run


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
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.finetuning, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        fine_tuning=settings_of_training,
    message:
        "Fine-tune on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/finetune.py"


FOLLOWED = config["landscape"]["trajectories"]["tasks"]


rule keep_snapshots:
    """Repeat a training that is followed, and keep its weights at some steps until they are measured.

    Its results do not depend on whether it is followed, nor on what is changed in that later.
    """
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        snapshots=temp(directory("<results>/snapshots/{task}/{state}/seed-{seed}")),
    log:
        "<logs>/keep_snapshots/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/keep_snapshots/{task}/{state}/seed-{seed}.tsv"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.keeping_snapshots, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        fine_tuning=settings_of_training,
        snapshots=lookup(dpath="landscape/trajectories/snapshots", within=config),
    message:
        "Keep weights of {wildcards.state} on {wildcards.task} during training: seed {wildcards.seed}"
    script:
        "../../scripts/keep_snapshots.py"


rule evaluate_pretrained:
    """Score the pre-trained weights with an untrained classifier, and with a trained one."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        scores="<results>/scores/{task}/pretrained/seed-{seed}.csv",
        predictions="<results>/predictions/{task}/pretrained/seed-{seed}.csv",
        frozen_scores="<results>/scores/{task}/frozen/seed-{seed}.csv",
        frozen_predictions="<results>/predictions/{task}/frozen/seed-{seed}.csv",
        provenance="<results>/scores/{task}/pretrained/seed-{seed}.provenance.json",
    log:
        "<logs>/evaluate_pretrained/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/evaluate_pretrained/{task}/seed-{seed}.tsv"
    group:
        "pretrained"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.frozen, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        classifier=settings_of_frozen,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Score the pre-trained model on {wildcards.task}, seed {wildcards.seed}"
    script:
        "../../scripts/evaluate_pretrained.py"


rule evaluate_baselines:
    """Score what needs no model: the majority class and a bag of words."""
    input:
        dataset="<results>/data/{task}",
    output:
        scores="<results>/scores/{task}/baselines.csv",
        predictions="<results>/predictions/{task}/baselines.csv",
        provenance="<results>/scores/{task}/baselines.provenance.json",
    log:
        "<logs>/evaluate_baselines/{task}.log",
    benchmark:
        "<benchmarks>/evaluate_baselines/{task}.tsv"
    group:
        "data"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.baselines),
    params:
        task=entry_of_task(*OF_EXAMPLES),
    message:
        "Score the baselines on {wildcards.task}"
    script:
        "../../scripts/evaluate_baselines.py"


collect(
    "collect_scores",
    "Gather the scores of all states and seeds: the numbers of Table 1.",
    group="scores",
    table="table1",
    metrics=METRICS_OF_TASKS,
    tables=scored("<results>/scores/{task}/{state}/seed-{seed}.csv"),
)


rule compare_scores:
    """Intervals of all scores, and tests of their differences, over examples and seeds."""
    input:
        predictions=scored("<results>/predictions/{task}/{state}/seed-{seed}.csv"),
        baselines=per_task("<results>/predictions/{task}/baselines.csv"),
    output:
        means="<results>/tables/score_means.csv",
        differences="<results>/tables/score_differences.csv",
        mean_differences="<results>/tables/mean_differences.csv",
        provenance="<results>/tables/score_differences.provenance.json",
    log:
        "<logs>/compare_scores.log",
    benchmark:
        "<benchmarks>/compare_scores.tsv"
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.comparing_scores),
    params:
        tasks=entries_to_score(),
        resamples=lookup(dpath="scores/resamples", within=config),
        seed=lookup(dpath="scores/seed", within=config),
    message:
        "Compare the scores of all models"
    script:
        "../../scripts/compare_scores.py"


collect(
    "collect_baselines",
    "Gather the baselines of all tasks.",
    group="scores",
    table="baselines",
    metrics=METRICS_OF_TASKS,
    tables=per_task("<results>/scores/{task}/baselines.csv"),
)


collect(
    "collect_learning_curves",
    "Gather the losses and scores during all fine-tunings.",
    group="scores",
    table="learning_curves",
    metrics=METRICS_OF_TASKS,
    tables=[
        *per_task_and_seed("<results>/curves/{task}/finetuned/seed-{seed}.csv"),
        *per_task_and_seed("<results>/curves/{task}/finetuned-from-normal/seed-{seed}.csv"),
    ],
)


rule table1:
    """Table 1: scores of the states of the model, and their differences."""
    input:
        scores="<results>/tables/table1.csv",
        baselines="<results>/tables/baselines.csv",
        means="<results>/tables/score_means.csv",
        differences="<results>/tables/score_differences.csv",
        mean_differences="<results>/tables/mean_differences.csv",
        data=per_task("<results>/data/{task}"),
        published=shipped("paper/table1.csv") if PAPER else [],
    output:
        html=report(
            "<results>/figures/table1.html",
            caption="../report/table1.rst",
            category=CHANGES,
            labels={"result": "Table 1"},
        ),
        markdown="<results>/figures/table1.md",
        latex="<results>/figures/table1.tex",
    log:
        "<logs>/table1.log",
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    params:
        **drawn_by("table1"),
    message:
        "Write Table 1"
    script:
        "../../scripts/figure.py"


RESULTS_OF_RUN += expand("<results>/figures/table1.{format}", format=("md", "html", "tex"))


figure(
    "learning_curves",
    "Losses and scores during the fine-tunings behind Table 1.",
    section=CHANGES,
    label="Learning curves",
    group="scores",
    table="<results>/tables/learning_curves.csv",
    baselines="<results>/tables/baselines.csv",
)


rule compute_similarity:
    """Compare each head's maps before and after fine-tuning, example by example, and with the floors."""
    input:
        pretrained="<results>/attention/{task}/pretrained",
        finetuned="<results>/attention/{task}/finetuned/seed-{seed}",
        other_seed=attention_of_next_seed,
    output:
        similarity="<results>/similarity/{task}/seed-{seed}.csv",
        layers="<results>/similarity/{task}/seed-{seed}.layers.csv",
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
        **ask(resources.similarity),
    message:
        "Compare attention maps before and after fine-tuning on {wildcards.task}, seed {wildcards.seed}"
    script:
        "../../scripts/compute_similarity.py"


collect(
    "collect_similarity",
    "Gather the similarities of all tasks and seeds: the numbers of Figure 5.",
    group="similarity",
    table="cosine",
    tables=per_task_and_seed("<results>/similarity/{task}/seed-{seed}.csv"),
)


rule compare_layers:
    """Compare how much fine-tuning changes the layers: do the last two change most?"""
    input:
        layers=per_task_and_seed("<results>/similarity/{task}/seed-{seed}.layers.csv"),
    output:
        layer_changes="<results>/tables/layer_changes.csv",
        last_layers="<results>/tables/last_layers.csv",
        provenance="<results>/tables/last_layers.provenance.json",
    log:
        "<logs>/compare_layers.log",
    group:
        "similarity"
    conda:
        "../../envs/figures.yaml"
    message:
        "Compare the changes of the layers"
    script:
        "../../scripts/compare_layers.py"


RESULTS_OF_RUN += [f"<results>/tables/{name}.csv" for name in ("layer_changes", "last_layers")]


figure(
    "figure5",
    "Figure 5: cosine similarity of pre-trained and fine-tuned maps, per head.",
    section=CHANGES,
    label="Figure 5",
    group="similarity",
    options={"scale": config["figures"]["cosine_scale"]},
    table="<results>/tables/cosine.csv",
)
