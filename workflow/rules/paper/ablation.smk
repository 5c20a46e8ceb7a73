# Section 4.6: what if a head, or a whole layer, is disabled?


from darksecrets.paper.ablation import preflight as ablation_checks

DISABLING = "Section 4.6, disabling heads and layers"
LEFT_OUT = config["left_out"]["interventions"]
SWEPT = bool(config["ablation"]["states"]) and not LEFT_OUT
SWEPT_TASKS = config["ablation"]["tasks"]
SWEPT_MODELS = [
    [task, state, seed]
    for task in SWEPT_TASKS
    for state in config["ablation"]["states"]
    for seed in config["tasks"][task]["seeds"]
]
# Effects over seeds are of tasks that have several.
COMPARED_TASKS = [task for task in SWEPT_TASKS if len(config["tasks"][task]["seeds"]) > 1]
RESAMPLING = {
    key: config["ablation"][key] for key in ("bootstrap", "permutations", "splits", "seed")
}
SETTINGS_OF_SWEEP = {key: config["ablation"][key] for key in ("mode", "sets")}
EFFECTS = (
    "head_ablation",
    "layer_ablation",
    "set_ablation",
    "survival",
    "seed_effects",
)
COMPARISONS = (
    "task_agreement",
    "worst_heads",
    "linked_groups",
)
if not LEFT_OUT:
    CHECKS["sweep_heads"] = ablation_checks.check_run
CHECKS["score_ablation"] = partial(ablation_checks.check_states, left_out=LEFT_OUT)


rule sweep_heads:
    """Predict the validation set with heads disabled: each head, each layer, and custom sets.

    The job loads the model once for all sets and computes what they have in common only once.
    """
    input:
        dataset="<results>/data/{task}",
        model=classifier_folder,
    output:
        sweep=directory("<results>/ablation/{task}/{state}/seed-{seed}"),
    log:
        "<logs>/sweep_heads/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/sweep_heads/{task}/{state}/seed-{seed}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        "ablation"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("paper/sweep_heads.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        settings=SETTINGS_OF_SWEEP,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../../scripts/paper/sweep_heads.py"


rule score_ablation:
    """Compare every disabled set with the intact model, example by example: the numbers of Figures 8 and 9.

    The paper only reports scores. With 144 heads to choose from, the best one gains a few examples by
    chance alone, so every difference gets an interval and a test, and the best head is scored on
    examples that did not choose it. Where a task has several seeds, effects are also estimated over these.
    """
    input:
        sweeps=sweeps_of("<results>/ablation/{task}/{state}/seed-{seed}", SWEPT_TASKS),
    output:
        **{name: table(name) for name in EFFECTS},
    log:
        "<logs>/score_ablation.log",
    benchmark:
        "<benchmarks>/score_ablation.tsv"
    group:
        "effects"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/score_ablation.py"),
        models=SWEPT_MODELS,
        tasks=entries_to_score(SWEPT_TASKS),
        resampling=RESAMPLING,
    message:
        "Compare the disabled heads and layers"
    script:
        "../../../scripts/paper/score_ablation.py"


rule compare_effects:
    """Compare which heads matter between tasks, and with the heads that other sections single out.

    The latter follow frames or attend to equal or related words (section 5). Beside them are random heads of
    the same layers, and a limit for what each of them may cost.
    """
    input:
        heads="<results>/tables/head_ablation.csv",
        sweeps=sweeps_of("<results>/ablation/{task}/{state}/seed-{seed}", SWEPT_TASKS),
        framenet="<results>/tables/framenet_heads.csv",
        equal_words=["<results>/tables/equal_words.csv"] if tasks_of("equal_words") else [],
        token_pairs=["<results>/tables/token_pairs.csv"] if tasks_of("token_pairs") else [],
    output:
        **{name: table(name) for name in COMPARISONS},
    log:
        "<logs>/compare_effects.log",
    benchmark:
        "<benchmarks>/compare_effects.tsv"
    group:
        "effects"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/compare_effects.py"),
        models=SWEPT_MODELS,
        metrics={task: METRICS_OF_TASKS[task][0] for task in SWEPT_TASKS},
        resampling=RESAMPLING,
    message:
        "Compare the heads that matter"
    script:
        "../../../scripts/paper/compare_effects.py"


rule draw_ablation:
    """Draw what disabling a head or a layer costs (Figures 8 and 9), and which gains are significant."""
    input:
        figure8="<results>/tables/head_ablation.csv",
        figure9="<results>/tables/layer_ablation.csv",
        ablation_gains=["<results>/tables/head_ablation.csv", "<results>/tables/survival.csv"],
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/figure8.svg",
            caption="../../report/figure8.rst",
            category=DISABLING,
            labels={"result": "Figure 8"},
        ),
        multiext("<results>/figures/figure8", ".pdf", ".png"),
        report(
            "<results>/figures/figure9.svg",
            caption="../../report/figure9.rst",
            category=DISABLING,
            labels={"result": "Figure 9"},
        ),
        multiext("<results>/figures/figure9", ".pdf", ".png"),
        report(
            "<results>/figures/ablation_gains.svg",
            caption="../../report/ablation_gains.rst",
            category=DISABLING,
            labels={"result": "Which gains are real"},
        ),
        multiext("<results>/figures/ablation_gains", ".pdf", ".png"),
    log:
        "<logs>/draw_ablation.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("figure8", "figure9", "ablation_gains"),
        code=code_of("paper/draw_ablation.py"),
        metrics=metrics_of(SWEPT_TASKS),
    message:
        "Draw figure8, figure9, ablation_gains"
    script:
        "../../../scripts/paper/draw_ablation.py"


rule figure8:
    """Figure 8: score of every task with each head disabled, compared with the intact model's."""
    input:
        multiext("<results>/figures/figure8", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure8"


rule figure9:
    """Figure 9: score of every task with each layer disabled, compared with the intact model's."""
    input:
        multiext("<results>/figures/figure9", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure9"


rule ablation_gains:
    """Which gains are significant: sorted effects with intervals, and the best head's unbiased gain."""
    input:
        multiext("<results>/figures/ablation_gains", ".svg", ".pdf", ".png"),
    message:
        "Finished: ablation_gains"


rule draw_task_agreement:
    """Draw how alike tasks depend on heads."""
    input:
        task_agreement="<results>/tables/task_agreement.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/task_agreement.svg",
            caption="../../report/task_agreement.rst",
            category=DISABLING,
            labels={"result": "Heads across tasks"},
        ),
        multiext("<results>/figures/task_agreement", ".pdf", ".png"),
    log:
        "<logs>/draw_task_agreement.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("task_agreement"),
        code=code_of("paper/draw_ablation.py"),
        metrics=metrics_of(SWEPT_TASKS),
    message:
        "Draw task_agreement"
    script:
        "../../../scripts/paper/draw_ablation.py"


rule task_agreement:
    """Whether the same heads matter for different tasks: rank correlations of their effects."""
    input:
        multiext("<results>/figures/task_agreement", ".svg", ".pdf", ".png"),
    message:
        "Finished: task_agreement"


if SWEPT:
    RESULTS_OF[analyses.PAPER] += [
        *tables(*EFFECTS, *COMPARISONS),
        *figures("figure8", "figure9", "ablation_gains"),
    ]
if SWEPT and (COMPARED_TASKS or len(SWEPT_TASKS) > 1):
    RESULTS_OF[analyses.PAPER] += figures("task_agreement")
