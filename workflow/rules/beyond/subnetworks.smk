# Section 4.6, further: which heads and MLPs are enough, and which are not? (Prasanna et al. 2020)


from darksecrets.beyond.subnetworks import preflight as subnetworks_checks

SUBNETWORKS = "Section 4.6, subnetworks"
SEARCH = config["subnetworks"]
SEARCHED = SEARCH["tasks"] if SWEPT and "finetuned" in config["ablation"]["states"] else []
TABLES_OF_SUBNETWORKS = ("subnetworks", "subnetwork_scores", "subnetwork_agreement")
# Kind and number of the subnetworks that are trained again.
RETRAINED = (
    ["good-1", "bad-1", *(f"random-{draw}" for draw in range(1, SEARCH["retrained_draws"] + 1))]
    if SEARCH["retrain"]
    else []
)
CHECKS["find_subnetworks"] = subnetworks_checks.check_run
CHECKS["score_subnetworks"] = partial(
    subnetworks_checks.check_tasks, left_out=config["left_out"]["interventions"]
)


rule find_subnetworks:
    """Find the heads and MLPs that are enough for most of a model's score; predict with these and with others.

    Training examples choose them.
    """
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/{task}/finetuned/seed-{seed}",
    output:
        subnetworks="<results>/subnetworks/{task}/seed-{seed}/subnetworks.csv",
        predictions=directory("<results>/subnetworks/{task}/seed-{seed}/predictions"),
    log:
        "<logs>/find_subnetworks/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/find_subnetworks/{task}/seed-{seed}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/find_subnetworks.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        settings={key: SEARCH[key] for key in ("share", "examples", "draws")},
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Find subnetworks of {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/find_subnetworks.py"


rule retrain_subnetwork:
    """Fine-tune a subnetwork from the pre-trained weights, with all other heads and MLPs removed."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
        subnetworks="<results>/subnetworks/{task}/seed-{seed}/subnetworks.csv",
    output:
        model=temp(directory("<results>/retrained/{task}/seed-{seed}/{subnetwork}-{draw}")),
        predictions="<results>/retrained/{task}/seed-{seed}/{subnetwork}-{draw}.csv",
    log:
        "<logs>/retrain_subnetwork/{task}/seed-{seed}/{subnetwork}-{draw}.log",
    benchmark:
        "<benchmarks>/retrain_subnetwork/{task}/seed-{seed}/{subnetwork}-{draw}.tsv"
    wildcard_constraints:
        subnetwork="good|bad|random",
        draw=r"\d+",
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train", gpu=True),
    params:
        code=code_of("beyond/retrain_subnetwork.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        fine_tuning=settings_of_training,
    message:
        "Train a subnetwork of {wildcards.task} again: seed {wildcards.seed}, {wildcards.subnetwork} {wildcards.draw}"
    script:
        "../../../scripts/beyond/retrain_subnetwork.py"


rule score_subnetworks:
    """Score the subnetworks of all models, as they are and re-trained.

    Also compare the good subnetworks of seeds: do they keep the same heads and MLPs?
    """
    input:
        subnetworks=per_task_and_seed(
            "<results>/subnetworks/{task}/seed-{seed}/subnetworks.csv", SEARCHED
        ),
        predictions=per_task_and_seed(
            "<results>/subnetworks/{task}/seed-{seed}/predictions", SEARCHED
        ),
        retrained=[
            f"{folder}/{name}.csv"
            for folder in per_task_and_seed("<results>/retrained/{task}/seed-{seed}", SEARCHED)
            for name in RETRAINED
        ],
    output:
        **{name: table(name) for name in TABLES_OF_SUBNETWORKS},
    log:
        "<logs>/score_subnetworks.log",
    benchmark:
        "<benchmarks>/score_subnetworks.tsv"
    group:
        "effects"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/score_subnetworks.py"),
        tasks=entries_to_score(SEARCHED),
        models=[(task, seed) for task in SEARCHED for seed in config["tasks"][task]["seeds"]],
        retrained=RETRAINED,
        bootstrap=lookup(dpath="ablation/bootstrap", within=config),
        seed=lookup(dpath="ablation/seed", within=config),
    message:
        "Score and compare subnetworks"
    script:
        "../../../scripts/beyond/score_subnetworks.py"


rule draw_subnetworks:
    """Draw the parts that survive, and the scores of subnetworks."""
    input:
        surviving_parts=[
            "<results>/tables/subnetworks.csv",
            "<results>/tables/subnetwork_agreement.csv",
        ],
        subnetwork_scores="<results>/tables/subnetwork_scores.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/surviving_parts.svg",
            caption="../../report/surviving_parts.rst",
            category=SUBNETWORKS,
            labels={"result": "Heads and MLPs that survive"},
        ),
        multiext("<results>/figures/surviving_parts", ".pdf", ".png"),
        report(
            "<results>/figures/subnetwork_scores.svg",
            caption="../../report/subnetwork_scores.rst",
            category=SUBNETWORKS,
            labels={"result": "Scores of subnetworks"},
        ),
        multiext("<results>/figures/subnetwork_scores", ".pdf", ".png"),
    log:
        "<logs>/draw_subnetworks.log",
    group:
        "effects"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("surviving_parts", "subnetwork_scores"),
        code=code_of("beyond/draw_subnetworks.py"),
        metrics=metrics_of(SEARCHED),
    message:
        "Draw surviving_parts, subnetwork_scores"
    script:
        "../../../scripts/beyond/draw_subnetworks.py"


rule surviving_parts:
    """Heads and MLPs of the good subnetworks: the share of seeds in which they survive."""
    input:
        multiext("<results>/figures/surviving_parts", ".svg", ".pdf", ".png"),
    message:
        "Finished: surviving_parts"


rule subnetwork_scores:
    """Scores of good, random and bad subnetworks, against the weights that are left."""
    input:
        multiext("<results>/figures/subnetwork_scores", ".svg", ".pdf", ".png"),
    message:
        "Finished: subnetwork_scores"


if SEARCHED:
    RESULTS_OF["subnetworks"] += [
        *tables(*TABLES_OF_SUBNETWORKS),
        *figures("surviving_parts", "subnetwork_scores"),
    ]
