# Section 4.6: what if a head, or a whole layer, is disabled?


DISABLING = "Section 4.6: disabling heads and layers"
CHUNKS_OF_ABLATION = config["ablation"]["chunks"]
SWEPT = bool(config["ablation"]["states"]) and not config["left_out"]
SETTINGS_OF_SWEEP = {key: config["ablation"][key] for key in ("mode", "sets", "screening")}
if not config["left_out"]:
    CHECKS["sweep_heads_chunk"] = of_ablation.check_run
CHECKS["collect_ablation"] = partial(of_ablation.check_states, left_out=config["left_out"])


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
        settings=SETTINGS_OF_SWEEP,
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
        settings=SETTINGS_OF_SWEEP,
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
    tables=expand(
        "<results>/ablation_effects/{task}/{state}/seed-{seed}/{{table}}.csv",
        task=config["tasks"],
        state=config["ablation"]["states"],
        seed=config["seeds"],
    ),
    choices="(head|layer|set)_ablation|best_head|survival",
)


rule compare_seeds:
    """Compare the ranking of heads between fine-tuning seeds."""
    input:
        heads="<results>/tables/head_ablation.csv",
    output:
        table="<results>/tables/seed_agreement.csv",
        provenance="<results>/tables/seed_agreement.provenance.json",
    log:
        "<logs>/compare_seeds.log",
    group:
        "effects"
    conda:
        "../../envs/model.yaml"
    message:
        "Compare the heads that matter between seeds"
    script:
        "../../scripts/compare_seeds.py"


rule link_ablation:
    """Look up the effects of the heads that follow frames or attend to equal words (section 5)."""
    input:
        heads="<results>/tables/head_ablation.csv",
        framenet="<results>/tables/framenet_heads.csv",
        equal_words=["<results>/tables/equal_words.csv"] if tasks_of("equal_words") else [],
    output:
        table="<results>/tables/linked_ablation.csv",
        provenance="<results>/tables/linked_ablation.provenance.json",
    log:
        "<logs>/link_ablation.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
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
    table="<results>/tables/head_ablation.csv",
)


figure(
    "figure9",
    "Figure 9: score of every task with each layer disabled, compared with the intact model's.",
    section=DISABLING,
    label="Figure 9",
    group="effects",
    of_run=SWEPT,
    table="<results>/tables/layer_ablation.csv",
)


figure(
    "ablation_deltas",
    "Effect of every head, centred on 0, with significant ones marked.",
    section=DISABLING,
    label="Effects of heads",
    group="effects",
    of_run=SWEPT,
    table="<results>/tables/head_ablation.csv",
)


figure(
    "ablation_distribution",
    "How many heads help or hurt, and by how much.",
    section=DISABLING,
    label="Distribution of effects",
    group="effects",
    of_run=SWEPT,
    table="<results>/tables/head_ablation.csv",
)


figure(
    "ablation_gains",
    "Which gains are significant: sorted effects with intervals, and the best head's unbiased gain.",
    section=DISABLING,
    label="Which gains are real",
    group="effects",
    of_run=SWEPT,
    table="<results>/tables/head_ablation.csv",
    best="<results>/tables/best_head.csv",
)


if not SWEPT:
    TABLES_LEFT_OUT |= {table.name for table in tables_of_ablation.TABLES}
if SWEPT:
    RESULTS_OF_RUN += expand(
        "<results>/tables/{table}.csv",
        table=("set_ablation", "survival", "seed_agreement", "linked_ablation"),
    )
