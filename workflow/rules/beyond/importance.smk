# Section 4.6, further: how important is each head, and how many can be removed for good?


from darksecrets.beyond.head_measures import HEAD_MEASURES
from darksecrets.beyond.importance import preflight as importance_checks

IMPORTANCE = "Section 4.6, importance and removal of heads"
MEASURED = config["importance"]["tasks"] if SWEPT else []
PRUNED = [task for task in config["importance"]["pruning"]["tasks"] if task in MEASURED]
PRUNING = config["importance"]["pruning"]
TABLES_OF_IMPORTANCE = ("head_importance", "importance_agreement")
LEARNED = [task for task in config["importance"]["learned_gates"]["tasks"] if task in MEASURED]
TABLES_OF_GATES = ("learned_gates", "head_gates")
TABLES_OF_PRUNING = (
    "pruning_curves",
    "pruned_heads",
    "remaining_heads",
    "smaller_models",
    "layer_needs",
)
for importance_rule in ("measure_importance", "learn_gates"):
    CHECKS[importance_rule] = ablation_checks.check_run
for importance_rule, key in (
    ("collect_importance", "importance.tasks"),
    ("score_pruned", "importance.pruning.tasks"),
    ("collect_gates", "importance.learned_gates.tasks"),
):
    CHECKS[importance_rule] = partial(
        importance_checks.check_tasks, key=key, left_out=config["left_out"]["interventions"]
    )


rule measure_importance:
    """Measure how much the loss of a model depends on each head and each MLP, on training examples.

    One backward pass gives the gradients of all of them, and each is also disabled. The effects on the
    validation scores are those of the sweep.
    """
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
        sweep="<results>/ablation/{task}/finetuned/seed-{seed}",
    output:
        **{
            name: f"<results>/importance/{{task}}/seed-{{seed}}/{name}.csv"
            for name in (*TABLES_OF_IMPORTANCE, "mlp_importance")
        },
    log:
        "<logs>/measure_importance/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/measure_importance/{task}/seed-{seed}.tsv"
    group:
        "ablation"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/measure_importance.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        examples=lookup(dpath="importance/examples", within=config),
        mode=lookup(dpath="ablation/mode", within=config),
        permutations=lookup(dpath="ablation/permutations", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Measure the importance of heads and MLPs on {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/measure_importance.py"


rule collect_importance:
    """Gather the tables of all tasks and seeds: how important heads and MLPs are."""
    input:
        **{
            name: per_task_and_seed(
                f"<results>/importance/{{task}}/seed-{{seed}}/{name}.csv", MEASURED
            )
            for name in TABLES_OF_IMPORTANCE
        },
    output:
        **{name: table(name) for name in TABLES_OF_IMPORTANCE},
    log:
        "<logs>/collect_importance.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=list(TABLES_OF_IMPORTANCE),
    message:
        "Gather the tables of all tasks and seeds: how important heads and MLPs are"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule order_heads:
    """Order the heads of a model for removal: by importance, greedily, in reverse and at random.

    Training examples that made no order choose how many heads are removed.
    """
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
        importance="<results>/importance/{task}/seed-{seed}/head_importance.csv",
    output:
        orders="<results>/importance/{task}/seed-{seed}/pruning_orders.csv",
        choices="<results>/importance/{task}/seed-{seed}/pruning_choices.csv",
    log:
        "<logs>/order_heads/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/order_heads/{task}/seed-{seed}.tsv"
    group:
        "pruning"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/order_heads.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        settings={
            "examples": config["importance"]["examples"],
            "pruning": leave_out(PRUNING, "tasks"),
        },
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Order the heads for removal on {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/order_heads.py"


rule sweep_pruned:
    """Predict the validation set with more and more heads removed."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
        orders="<results>/importance/{task}/seed-{seed}/pruning_orders.csv",
    output:
        pruned=directory("<results>/pruned/{task}/seed-{seed}"),
    log:
        "<logs>/sweep_pruned/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/sweep_pruned/{task}/seed-{seed}.tsv"
    group:
        "pruning"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/sweep_pruned.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Remove heads on {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/sweep_pruned.py"


rule score_pruned:
    """Score every order of removal on the validation set, and what each layer needs."""
    input:
        orders=per_task_and_seed(
            "<results>/importance/{task}/seed-{seed}/pruning_orders.csv", PRUNED
        ),
        choices=per_task_and_seed(
            "<results>/importance/{task}/seed-{seed}/pruning_choices.csv", PRUNED
        ),
        pruned=per_task_and_seed("<results>/pruned/{task}/seed-{seed}", PRUNED),
    output:
        **{name: table(name) for name in TABLES_OF_PRUNING},
    log:
        "<logs>/score_pruned.log",
    benchmark:
        "<benchmarks>/score_pruned.tsv"
    group:
        "effects"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/score_pruned.py"),
        tasks=entries_to_score(PRUNED),
        models=[(task, seed) for task in PRUNED for seed in config["tasks"][task]["seeds"]],
        tolerance=lookup(dpath="importance/pruning/tolerance", within=config),
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Score the models with heads removed"
    script:
        "../../../scripts/beyond/score_pruned.py"


rule learn_gates:
    """Train on with gates that learn to close heads, and compare them with as many other heads."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
        importance="<results>/importance/{task}/seed-{seed}/head_importance.csv",
    output:
        **{name: f"<results>/gates/{{task}}/seed-{{seed}}/{name}.csv" for name in TABLES_OF_GATES},
    log:
        "<logs>/learn_gates/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/learn_gates/{task}/seed-{seed}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train", gpu=True),
    params:
        code=code_of("beyond/learn_gates.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        fine_tuning=leave_out(config["fine_tuning"], *KEYS_UNUSED_BY_GATES),
        gates=leave_out(config["importance"]["learned_gates"], "tasks"),
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Learn head gates on {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/learn_gates.py"


rule collect_gates:
    """Gather the tables of all tasks and seeds: heads closed by gates that learn."""
    input:
        **{
            name: per_task_and_seed(f"<results>/gates/{{task}}/seed-{{seed}}/{name}.csv", LEARNED)
            for name in TABLES_OF_GATES
        },
    output:
        **{name: table(name) for name in TABLES_OF_GATES},
    log:
        "<logs>/collect_gates.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=list(TABLES_OF_GATES),
    message:
        "Gather the tables of all tasks and seeds: learned head gates"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_importance:
    """Draw how far definitions of importance agree."""
    input:
        importance_agreement="<results>/tables/importance_agreement.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/importance_agreement.svg",
            caption="../../report/importance_agreement.rst",
            category=IMPORTANCE,
            labels={"result": "Which importance can be trusted"},
        ),
        multiext("<results>/figures/importance_agreement", ".pdf", ".png"),
    log:
        "<logs>/draw_importance.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("importance_agreement"),
        code=code_of("beyond/draw_importance.py"),
        metrics=metrics_of(MEASURED),
    message:
        "Draw importance_agreement"
    script:
        "../../../scripts/beyond/draw_importance.py"


rule importance_agreement:
    """Whether cheap definitions of importance rank heads as disabling them does."""
    input:
        multiext("<results>/figures/importance_agreement", ".svg", ".pdf", ".png"),
    message:
        "Finished: importance_agreement"


rule draw_pruning:
    """Draw what removing heads costs."""
    input:
        pruning_curves="<results>/tables/pruning_curves.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/pruning_curves.svg",
            caption="../../report/pruning_curves.rst",
            category=IMPORTANCE,
            labels={"result": "Pruning curves"},
        ),
        multiext("<results>/figures/pruning_curves", ".pdf", ".png"),
    log:
        "<logs>/draw_pruning.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("pruning_curves"),
        code=code_of("beyond/draw_importance.py"),
        metrics=metrics_of(PRUNED),
    message:
        "Draw pruning_curves"
    script:
        "../../../scripts/beyond/draw_importance.py"


rule pruning_curves:
    """Score against the share of heads removed, in the order of each definition of importance."""
    input:
        multiext("<results>/figures/pruning_curves", ".svg", ".pdf", ".png"),
    message:
        "Finished: pruning_curves"


rule draw_gates:
    """Draw how many heads learned gates keep, and what that costs."""
    input:
        learned_gates="<results>/tables/learned_gates.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/learned_gates.svg",
            caption="../../report/learned_gates.rst",
            category=IMPORTANCE,
            labels={"result": "Gates that learn"},
        ),
        multiext("<results>/figures/learned_gates", ".pdf", ".png"),
    log:
        "<logs>/draw_gates.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("learned_gates"),
        code=code_of("beyond/draw_importance.py"),
        metrics=metrics_of(LEARNED),
    message:
        "Draw learned_gates"
    script:
        "../../../scripts/beyond/draw_importance.py"


rule learned_gates:
    """Score of the heads that learned gates keep, beside as many others."""
    input:
        multiext("<results>/figures/learned_gates", ".svg", ".pdf", ".png"),
    message:
        "Finished: learned_gates"


rule compare_important_heads:
    """Correlate the importance of heads with what they do: do the interpretable ones survive removal?"""
    input:
        importance="<results>/tables/head_importance.csv",
        tables=lambda wildcards: made_tables(tables_of(HEAD_MEASURES)),
    output:
        table=table("important_heads"),
    log:
        "<logs>/compare_important_heads.log",
    benchmark:
        "<benchmarks>/compare_important_heads.tsv"
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/compare_important_heads.py"),
        metrics=METRICS_OF_TASKS,
        permutations=1999,
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Compare the heads that tasks need with what heads do"
    script:
        "../../../scripts/beyond/compare_important_heads.py"


if MEASURED:
    RESULTS_OF["importance"] += [
        *tables(*TABLES_OF_IMPORTANCE, "important_heads"),
        *figures("importance_agreement"),
    ]
if PRUNED:
    RESULTS_OF["importance"] += [*tables(*TABLES_OF_PRUNING), *figures("pruning_curves")]
if LEARNED:
    RESULTS_OF["importance"] += [*tables(*TABLES_OF_GATES), *figures("learned_gates")]
