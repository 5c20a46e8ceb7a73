# Section 3: the three states of the model, and how well each does its task (Table 1).


rule get_pretrained_model:
    """Fetch the pre-trained model that every state but `finetuned-from-normal` begins with."""
    input:
        code=code("models.loading"),
        files=checkpoint_files,
    output:
        model=directory("<results>/models/pretrained"),
    log:
        "<logs>/get_pretrained_model.log",
    benchmark:
        "<benchmarks>/get_pretrained_model.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask("get_pretrained_model"),
    params:
        source=lookup(dpath="model", within=config),
    message:
        "Get the pre-trained model"
    script:
        "../../scripts/get_pretrained_model.py"


rule finetune:
    """Fine-tune on one task, from the pre-trained weights or from a normal distribution."""
    input:
        code=code("finetuning.training"),
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
        **ask("finetune"),
    params:
        fine_tuning=lookup(dpath="fine_tuning", within=config),
    message:
        "Fine-tune on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/finetune.py"


rule evaluate_pretrained:
    """Score the pre-trained weights with a classifier that was never trained."""
    input:
        code=code("finetuning.evaluation"),
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        scores="<results>/scores/{task}/pretrained/seed-{seed}.csv",
        predictions="<results>/predictions/{task}/pretrained/seed-{seed}.csv",
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
        **ask("evaluate_pretrained"),
    params:
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Score the pre-trained model on {wildcards.task}, seed {wildcards.seed}"
    script:
        "../../scripts/evaluate_pretrained.py"


rule evaluate_baselines:
    """Score what needs no model: the majority class and a bag of words."""
    input:
        code=code("finetuning.baselines"),
        dataset="<results>/data/{task}",
    output:
        scores="<results>/scores/{task}/baselines.csv",
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
        **ask("evaluate_baselines"),
    message:
        "Score the baselines on {wildcards.task}"
    script:
        "../../scripts/evaluate_baselines.py"


rule collect_scores:
    """Gather the scores of all states and seeds: the numbers of Table 1."""
    input:
        code=code("run.tables"),
        scores=[
            *per_task_and_seed("<results>/scores/{task}/pretrained/seed-{seed}.csv"),
            *per_task_and_seed("<results>/scores/{task}/finetuned/seed-{seed}.csv"),
            *per_task_and_seed("<results>/scores/{task}/finetuned-from-normal/seed-{seed}.csv"),
        ],
    output:
        table="<results>/tables/table1.csv",
        provenance="<results>/tables/table1.provenance.json",
    log:
        "<logs>/collect_scores.log",
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the scores"
    script:
        "../../scripts/collect_tables.py"


rule collect_baselines:
    """Gather the baselines of all tasks."""
    input:
        code=code("run.tables"),
        scores=per_task("<results>/scores/{task}/baselines.csv"),
    output:
        table="<results>/tables/baselines.csv",
        provenance="<results>/tables/baselines.provenance.json",
    log:
        "<logs>/collect_baselines.log",
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the baselines"
    script:
        "../../scripts/collect_tables.py"


rule collect_learning_curves:
    """Gather the losses and scores along all fine-tunings."""
    input:
        code=code("run.tables"),
        curves=[
            *per_task_and_seed("<results>/curves/{task}/finetuned/seed-{seed}.csv"),
            *per_task_and_seed("<results>/curves/{task}/finetuned-from-normal/seed-{seed}.csv"),
        ],
    output:
        table="<results>/tables/learning_curves.csv",
        provenance="<results>/tables/learning_curves.provenance.json",
    log:
        "<logs>/collect_learning_curves.log",
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the learning curves"
    script:
        "../../scripts/collect_tables.py"


rule table1:
    """Table 1: scores of the three states of the model."""
    input:
        code=code("finetuning.table1"),
        scores="<results>/tables/table1.csv",
        baselines="<results>/tables/baselines.csv",
        data=per_task("<results>/data/{task}"),
        published=shipped("paper/table1.csv"),
    output:
        html=report(
            "<results>/figures/table1.html",
            caption="../report/table1.rst",
            category="Section 4.3: what fine-tuning changes",
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
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
        paper=configuration.is_paper_run(config),
    message:
        "Write Table 1"
    script:
        "../../scripts/table1.py"


rule learning_curves:
    """Losses and scores along the fine-tunings behind Table 1."""
    input:
        code=code("finetuning.learning_curves"),
        table="<results>/tables/learning_curves.csv",
    output:
        svg=report(
            "<results>/figures/learning_curves.svg",
            caption="../report/learning_curves.rst",
            category="Section 4.3: what fine-tuning changes",
            labels={"result": "Learning curves"},
        ),
        pdf="<results>/figures/learning_curves.pdf",
        png="<results>/figures/learning_curves.png",
    log:
        "<logs>/learning_curves.log",
    group:
        "scores"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the learning curves"
    script:
        "../../scripts/learning_curves.py"


RESULTS_OF_RUN += [
    *expand("<results>/figures/table1.{format}", format=("md", "html", "tex")),
    *figure_files("learning_curves"),
]
