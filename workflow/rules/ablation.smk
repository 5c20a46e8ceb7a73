# Section 4.6: what if a head, or a whole layer, is disabled?


DISABLING = "Section 4.6, disabling heads and layers"
CHUNKS_OF_ABLATION = config["ablation"]["chunks"]
SWEPT = bool(config["ablation"]["states"]) and not config["left_out"]
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
SETTINGS_OF_JOINT = {key: config["ablation"][key] for key in ("mode", "screening")}
JOINT = config["ablation"]["joint"]["tasks"] if SWEPT else []
if not config["left_out"]:
    CHECKS["sweep_heads_chunk"] = of_ablation.check_run
CHECKS["collect_ablation"] = partial(of_ablation.check_states, left_out=config["left_out"])
CHECKS["collect_joint"] = partial(of_ablation.check_joint, left_out=config["left_out"])


rule sweep_heads_chunk:
    """Predict a chunk of the validation set with heads disabled: each head, each layer, and custom sets.

    A job loads the model once for all sets and computes what they have in common only once.
    """
    input:
        dataset="<results>/data/{task}",
        model=classifier_folder,
    output:
        chunk=temp(
            directory("<results>/ablation_chunks/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}")
        ),
    log:
        "<logs>/sweep_heads_chunk/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}.log",
    benchmark:
        "<benchmarks>/sweep_heads_chunk/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        chunk_group("ablation", CHUNKS_OF_ABLATION)
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.sweep_chunk, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        settings=settings_of_sweep,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}, chunk {wildcards.chunk} of {wildcards.chunks}"
    script:
        "../../scripts/sweep_heads_chunk.py"


rule sweep_heads:
    """Gather the predictions of a sweep, and decide what the chunks alone leave open."""
    input:
        chunks=chunks_of("<results>/ablation_chunks/{task}/{state}/seed-{seed}", CHUNKS_OF_ABLATION),
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
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.sweep, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        settings=settings_of_sweep,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Gather the sweep over heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/sweep_heads.py"


rule score_ablation:
    """Compare every disabled set with the intact model, example by example.

    The paper only reports scores. With 144 heads to choose from, the best one gains a few examples by
    chance alone, so every difference gets an interval and a test, and the best head is scored on
    examples that did not choose it.
    """
    input:
        sweep="<results>/ablation/{task}/{state}/seed-{seed}",
    output:
        head_ablation="<results>/ablation_effects/{task}/{state}/seed-{seed}/head_ablation.csv",
        layer_ablation="<results>/ablation_effects/{task}/{state}/seed-{seed}/layer_ablation.csv",
        set_ablation="<results>/ablation_effects/{task}/{state}/seed-{seed}/set_ablation.csv",
        best_head="<results>/ablation_effects/{task}/{state}/seed-{seed}/best_head.csv",
        survival="<results>/ablation_effects/{task}/{state}/seed-{seed}/survival.csv",
        mode_comparison="<results>/ablation_effects/{task}/{state}/seed-{seed}/mode_comparison.csv",
        provenance="<results>/ablation_effects/{task}/{state}/seed-{seed}/provenance.json",
    log:
        "<logs>/score_ablation/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/score_ablation/{task}/{state}/seed-{seed}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        "ablation"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.scoring),
    params:
        task=entry_of_task(*OF_EXAMPLES, "metrics"),
        compare_modes=compared_modes,
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        permutations=lookup(dpath="ablation/permutations", within=config),
        splits=lookup(dpath="ablation/splits", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Compare the disabled heads and layers of {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/score_ablation.py"


collect(
    "collect_ablation",
    "Gather a table of all tasks and seeds: the numbers of Figures 8 and 9, and significant effects.",
    group="effects",
    table="{table}",
    tables=sweeps_of("<results>/ablation_effects/{task}/{state}/seed-{seed}/{{table}}.csv"),
    choices="(head|layer|set)_ablation|best_head|survival|mode_comparison",
)


rule sweep_joint_chunk:
    """Predict a chunk of the validation set with several heads disabled together.

    Which heads follows from the effects of single heads on one half of the examples; the other half scores
    them.
    """
    input:
        dataset="<results>/data/{task}",
        model=classifier_folder,
        sweep="<results>/ablation/{task}/{state}/seed-{seed}",
    output:
        chunk=temp(
            directory("<results>/joint_chunks/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}")
        ),
    log:
        "<logs>/sweep_joint_chunk/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}.log",
    benchmark:
        "<benchmarks>/sweep_joint_chunk/{task}/{state}/seed-{seed}/{chunk}-of-{chunks}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        chunk_group("joint", CHUNKS_OF_ABLATION)
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.joint_chunk, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        settings=SETTINGS_OF_JOINT,
        joint=joint_of_task,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads together on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}, chunk {wildcards.chunk} of {wildcards.chunks}"
    script:
        "../../scripts/sweep_joint_chunk.py"


rule sweep_joint:
    """Gather the predictions with several heads disabled together."""
    input:
        chunks=chunks_of("<results>/joint_chunks/{task}/{state}/seed-{seed}", CHUNKS_OF_ABLATION),
        dataset="<results>/data/{task}",
        model=classifier_folder,
        sweep="<results>/ablation/{task}/{state}/seed-{seed}",
    output:
        joint=directory("<results>/joint/{task}/{state}/seed-{seed}"),
    log:
        "<logs>/sweep_joint/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/sweep_joint/{task}/{state}/seed-{seed}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        "joint"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.joint, gpu=True),
    params:
        task=entry_of_task(*OF_EXAMPLES),
        settings=SETTINGS_OF_JOINT,
        joint=joint_of_task,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Gather the heads disabled together on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/sweep_joint.py"


rule score_joint:
    """Compare heads disabled together with the intact model, on the examples that did not choose them."""
    input:
        sweep="<results>/ablation/{task}/{state}/seed-{seed}",
        joint="<results>/joint/{task}/{state}/seed-{seed}",
    output:
        joint_ablation="<results>/joint_effects/{task}/{state}/seed-{seed}/joint_ablation.csv",
        tolerated_heads="<results>/joint_effects/{task}/{state}/seed-{seed}/tolerated_heads.csv",
        provenance="<results>/joint_effects/{task}/{state}/seed-{seed}/provenance.json",
    log:
        "<logs>/score_joint/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/score_joint/{task}/{state}/seed-{seed}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    group:
        "joint"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.joint_scoring),
    params:
        task=entry_of_task(*OF_EXAMPLES, "metrics"),
        joint=joint_of_task,
        tolerance=lookup(dpath="ablation/joint/tolerance", within=config),
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
    message:
        "Compare the heads disabled together on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/score_joint.py"


collect(
    "collect_joint",
    "Gather a table of all tasks and seeds: several heads disabled together, and how many are tolerated.",
    group="effects",
    table="{table}",
    tables=per_task_and_seed(
        "<results>/joint_effects/{task}/{state}/seed-{seed}/{{table}}.csv",
        JOINT,
        state=config["ablation"]["states"],
    ),
    choices="joint_ablation|tolerated_heads",
)


rule average_tolerated:
    """Average the numbers of heads that are tolerated over fine-tuning seeds; with one seed, no rows."""
    input:
        tolerated="<results>/tables/tolerated_heads.csv",
    output:
        means="<results>/tables/tolerated_means.csv",
        provenance="<results>/tables/tolerated_means.provenance.json",
    log:
        "<logs>/average_tolerated.log",
    group:
        "effects"
    conda:
        "../../envs/model.yaml"
    message:
        "Average the heads that are tolerated over seeds"
    script:
        "../../scripts/average_tolerated.py"


rule compare_seeds:
    """Estimate effects over fine-tuning seeds, and score heads that another seed's model chose.

    A task with one seed has no rows.
    """
    input:
        sweeps=per_task_and_seed(
            "<results>/ablation/{task}/{state}/seed-{seed}",
            COMPARED_TASKS,
            state=config["ablation"]["states"],
        ),
    output:
        effects="<results>/tables/seed_effects.csv",
        transfer="<results>/tables/seed_transfer.csv",
        provenance="<results>/tables/seed_effects.provenance.json",
    log:
        "<logs>/compare_seeds.log",
    group:
        "effects"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.comparing),
    params:
        models=[model for model in SWEPT_MODELS if model[0] in COMPARED_TASKS],
        tasks={
            name: {key: entry[key] for key in (*OF_EXAMPLES, "metrics") if key in entry}
            for name, entry in config["tasks"].items()
            if name in COMPARED_TASKS
        },
        resampling=RESAMPLING,
    message:
        "Compare the effects of heads and layers between seeds"
    script:
        "../../scripts/compare_seeds.py"


rule compare_rankings:
    """Compare which heads matter between seeds and between tasks: the same ones, or the same layers?"""
    input:
        heads="<results>/tables/head_ablation.csv",
        equal_words=["<results>/tables/equal_words.csv"] if tasks_of("equal_words") else [],
    output:
        seed_agreement="<results>/tables/seed_agreement.csv",
        task_agreement="<results>/tables/task_agreement.csv",
        worst_overlap="<results>/tables/worst_overlap.csv",
        worst_heads="<results>/tables/worst_heads.csv",
        provenance="<results>/tables/task_agreement.provenance.json",
    log:
        "<logs>/compare_rankings.log",
    group:
        "effects"
    conda:
        "../../envs/model.yaml"
    params:
        metrics={task: METRICS_OF_TASKS[task][0] for task in SWEPT_TASKS},
        draws={key: RESAMPLING[key] for key in ("bootstrap", "permutations", "seed")},
    message:
        "Compare the heads that matter between seeds and tasks"
    script:
        "../../scripts/compare_rankings.py"


rule link_ablation:
    """Look up the effects of the heads that follow frames or attend to equal or related words (section 5).

    Beside them are random heads of the same layers, and a limit for what each of them may cost.
    """
    input:
        heads="<results>/tables/head_ablation.csv",
        sweeps=sweeps_of("<results>/ablation/{task}/{state}/seed-{seed}"),
        framenet="<results>/tables/framenet_heads.csv",
        equal_words=["<results>/tables/equal_words.csv"] if tasks_of("equal_words") else [],
        token_pairs="<results>/tables/token_pairs.csv",
    output:
        table="<results>/tables/linked_ablation.csv",
        groups="<results>/tables/linked_groups.csv",
        provenance="<results>/tables/linked_ablation.provenance.json",
    log:
        "<logs>/link_ablation.log",
    group:
        "effects"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.comparing),
    params:
        models=SWEPT_MODELS,
        resampling=RESAMPLING,
    message:
        "Look up the effects of the heads that other sections single out"
    script:
        "../../scripts/link_ablation.py"


figure(
    "figure8",
    "Figure 8: score of every task with each head disabled, compared with the intact model's.",
    section=DISABLING,
    label="Figure 8",
    group="effects",
    of_run=SWEPT,
    tasks=SWEPT_TASKS,
    table="<results>/tables/head_ablation.csv",
)


figure(
    "figure9",
    "Figure 9: score of every task with each layer disabled, compared with the intact model's.",
    section=DISABLING,
    label="Figure 9",
    group="effects",
    of_run=SWEPT,
    tasks=SWEPT_TASKS,
    table="<results>/tables/layer_ablation.csv",
)


figure(
    "ablation_deltas",
    "Effect of every head, centred on 0, with significant ones marked.",
    section=DISABLING,
    label="Effects of heads",
    group="effects",
    of_run=SWEPT,
    tasks=SWEPT_TASKS,
    table="<results>/tables/head_ablation.csv",
)


figure(
    "ablation_distribution",
    "How many heads help or hurt, and by how much.",
    section=DISABLING,
    label="Distribution of effects",
    group="effects",
    of_run=SWEPT,
    tasks=SWEPT_TASKS,
    table="<results>/tables/head_ablation.csv",
)


figure(
    "ablation_gains",
    "Which gains are significant: sorted effects with intervals, and the best head's unbiased gain.",
    section=DISABLING,
    label="Which gains are real",
    group="effects",
    of_run=SWEPT,
    tasks=SWEPT_TASKS,
    table="<results>/tables/head_ablation.csv",
    best="<results>/tables/best_head.csv",
)


figure(
    "task_agreement",
    "Whether the same heads matter for different tasks: rank correlations of their effects.",
    section=DISABLING,
    label="Heads across tasks",
    group="effects",
    of_run=SWEPT and (COMPARED_TASKS or len(SWEPT_TASKS) > 1),
    tasks=SWEPT_TASKS,
    table="<results>/tables/task_agreement.csv",
)


figure(
    "joint_ablation",
    "Score against the number of heads disabled together: at random, and in the order of their single effects.",
    section=DISABLING,
    label="Heads disabled together",
    group="effects",
    of_run=bool(JOINT),
    tasks=JOINT,
    table="<results>/tables/joint_ablation.csv",
)


if JOINT:
    RESULTS_OF_RUN += expand(
        "<results>/tables/{table}.csv", table=("tolerated_heads", "tolerated_means")
    )
else:
    TABLES_LEFT_OUT |= {
        table.name for table in (*tables_of_ablation.JOINT, tables_of_ablation.TOLERATED_MEANS)
    }
if SWEPT:
    RESULTS_OF_RUN += expand(
        "<results>/tables/{table}.csv",
        table=(
            *("set_ablation", "survival", "mode_comparison", "seed_effects", "seed_transfer"),
            *("seed_agreement", "worst_overlap", "worst_heads", "linked_ablation", "linked_groups"),
        ),
    )
else:
    TABLES_LEFT_OUT |= {table.name for table in tables_of_ablation.TABLES}
