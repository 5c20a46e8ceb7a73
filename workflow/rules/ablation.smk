# Section 4.6: what if a head, or a whole layer, is disabled?


rule sweep_heads_part:
    """Compute every n-th block of examples for `sweep_heads`, where `ablation.parts` splits it."""
    input:
        code=code("ablation.sweep"),
        dataset="<results>/data/{task}",
        model=classifier_folder,
    output:
        part=temp(
            directory("<results>/ablation_parts/{task}/{state}/seed-{seed}/{piece}-of-{pieces}")
        ),
    log:
        "<logs>/sweep_heads_part/{task}/{state}/seed-{seed}/{piece}-of-{pieces}.log",
    benchmark:
        "<benchmarks>/sweep_heads_part/{task}/{state}/seed-{seed}/{piece}-of-{pieces}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep_heads_part"),
    params:
        mode=lookup(dpath="ablation/mode", within=config),
        sets=lookup(dpath="ablation/sets", within=config),
        screening=lookup(dpath="ablation/screening", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}, part {wildcards.piece} of {wildcards.pieces}"
    script:
        "../../scripts/sweep_heads_part.py"


rule sweep_heads:
    """Predict the validation set with every head alone, every layer and every set of your own disabled.

    One job loads the model once for all sets, and shares what they have in common. Where there are
    parts, it goes on from them.
    """
    input:
        parts=pieces(
            "<results>/ablation_parts/{task}/{state}/seed-{seed}", config["ablation"]["parts"]
        ),
        code=code("ablation.sweep"),
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
        **ask("sweep_heads"),
    params:
        mode=lookup(dpath="ablation/mode", within=config),
        sets=lookup(dpath="ablation/sets", within=config),
        screening=lookup(dpath="ablation/screening", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/sweep_heads.py"


rule score_ablation:
    """Compare every disabled set with the intact model, example by example.

    The paper reports scores alone. With 144 heads to choose from, a gain of a few examples is what
    chance gives the best, so every difference gets an interval and a test, and the best head is
    scored on examples that did not choose it.
    """
    input:
        code=code("ablation.statistics", "ablation.best", "run.tables"),
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
        **ask("score_ablation"),
    params:
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        permutations=lookup(dpath="ablation/permutations", within=config),
        splits=lookup(dpath="ablation/splits", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Compare the disabled heads and layers of {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/score_ablation.py"


rule collect_ablation:
    """Gather one table of all tasks and seeds: the numbers of Figures 8 and 9 and what survives."""
    input:
        code=code("run.tables"),
        tables=expand(
            "<results>/ablation_effects/{task}/{state}/seed-{seed}/{{table}}.csv",
            task=config["tasks"],
            state=config["ablation"]["states"],
            seed=config["seeds"],
        ),
    output:
        table="<results>/tables/{table}.csv",
        provenance="<results>/tables/{table}.provenance.json",
    log:
        "<logs>/collect_ablation/{table}.log",
    wildcard_constraints:
        table="(head|layer|set)_ablation|best_head|survival",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the effects of disabling: {wildcards.table}"
    script:
        "../../scripts/collect_tables.py"


rule compare_seeds:
    """Compare the ranking of heads between fine-tuning seeds."""
    input:
        code=code("ablation.agreement"),
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
        code=code("ablation.links"),
        heads="<results>/tables/head_ablation.csv",
        framenet="<results>/tables/framenet_heads.csv",
        equal_words=["<results>/tables/equal_words.csv"] if HAS_PAIRS else [],
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
        "Look up the effects of the heads that stand out elsewhere"
    script:
        "../../scripts/link_ablation.py"


rule figure8:
    """Figure 8: score of every task with each head disabled, beside the intact model's."""
    input:
        code=code("ablation.figure8"),
        table="<results>/tables/head_ablation.csv",
    output:
        svg=report(
            "<results>/figures/figure8.svg",
            caption="../report/figure8.rst",
            category="Section 4.6: disabling heads and layers",
            labels={"result": "Figure 8"},
        ),
        pdf="<results>/figures/figure8.pdf",
        png="<results>/figures/figure8.png",
    log:
        "<logs>/figure8.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 8"
    script:
        "../../scripts/figure8.py"


rule figure9:
    """Figure 9: score of every task with each layer disabled, beside the intact model's."""
    input:
        code=code("ablation.figure9"),
        table="<results>/tables/layer_ablation.csv",
    output:
        svg=report(
            "<results>/figures/figure9.svg",
            caption="../report/figure9.rst",
            category="Section 4.6: disabling heads and layers",
            labels={"result": "Figure 9"},
        ),
        pdf="<results>/figures/figure9.pdf",
        png="<results>/figures/figure9.png",
    log:
        "<logs>/figure9.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 9"
    script:
        "../../scripts/figure9.py"


rule ablation_deltas:
    """Effect of every head around 0, with those marked that are no chance."""
    input:
        code=code("ablation.ablation_deltas"),
        table="<results>/tables/head_ablation.csv",
    output:
        svg=report(
            "<results>/figures/ablation_deltas.svg",
            caption="../report/ablation_deltas.rst",
            category="Section 4.6: disabling heads and layers",
            labels={"result": "Effects of heads"},
        ),
        pdf="<results>/figures/ablation_deltas.pdf",
        png="<results>/figures/ablation_deltas.png",
    log:
        "<logs>/ablation_deltas.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw ablation_deltas"
    script:
        "../../scripts/ablation_deltas.py"


rule ablation_distribution:
    """How many heads help or hurt, and by how much."""
    input:
        code=code("ablation.ablation_distribution"),
        table="<results>/tables/head_ablation.csv",
    output:
        svg=report(
            "<results>/figures/ablation_distribution.svg",
            caption="../report/ablation_distribution.rst",
            category="Section 4.6: disabling heads and layers",
            labels={"result": "Distribution of effects"},
        ),
        pdf="<results>/figures/ablation_distribution.pdf",
        png="<results>/figures/ablation_distribution.png",
    log:
        "<logs>/ablation_distribution.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw ablation_distribution"
    script:
        "../../scripts/ablation_distribution.py"


rule ablation_gains:
    """Which gains are real: sorted effects with intervals, and the best head's unbiased gain."""
    input:
        code=code("ablation.ablation_gains"),
        table="<results>/tables/head_ablation.csv",
        best="<results>/tables/best_head.csv",
    output:
        svg=report(
            "<results>/figures/ablation_gains.svg",
            caption="../report/ablation_gains.rst",
            category="Section 4.6: disabling heads and layers",
            labels={"result": "Which gains are real"},
        ),
        pdf="<results>/figures/ablation_gains.pdf",
        png="<results>/figures/ablation_gains.png",
    log:
        "<logs>/ablation_gains.log",
    group:
        "effects"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw ablation_gains"
    script:
        "../../scripts/ablation_gains.py"


if config["ablation"]["states"]:
    RESULTS_OF_RUN += figure_files(
        "figure8", "figure9", "ablation_deltas", "ablation_distribution", "ablation_gains"
    )
    RESULTS_OF_RUN += expand(
        "<results>/tables/{table}.csv",
        table=("set_ablation", "survival", "seed_agreement", "linked_ablation"),
    )
