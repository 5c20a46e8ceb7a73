# Sections 3 and 4.3, further: how much scores depend on the seeds of fine-tuning.


GRIDS = config["seed_grid"]["tasks"]
TABLES_OF_SEEDS = ("seed_variance", "expected_maximum", "early_stopping")
CHECKS["score_seeds"] = partial(
    data_checks.check_chosen, key="seed_grid.tasks", lacks="has no grid of seeds"
)


rule finetune_cell:
    """Fine-tune with one seed for the start and another for the order; the model is not kept."""
    input:
        dataset="<results>/data/{task}",
        model="<results>/models/pretrained",
    output:
        model=temp(directory("<results>/seed_grid/{task}/init-{init}-order-{order}")),
        scores="<results>/seed_grid/{task}/init-{init}-order-{order}.scores.csv",
        predictions="<results>/seed_grid/{task}/init-{init}-order-{order}.predictions.csv",
        curve="<results>/seed_grid/{task}/init-{init}-order-{order}.curve.csv",
    log:
        "<logs>/finetune_cell/{task}/init-{init}-order-{order}.log",
    benchmark:
        "<benchmarks>/finetune_cell/{task}/init-{init}-order-{order}.tsv"
    wildcard_constraints:
        init=r"\d+",
        order=r"\d+",
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train", gpu=True),
    params:
        code=code_of("beyond/finetune_cell.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        fine_tuning=settings_of_training,
    message:
        "Fine-tune on {wildcards.task}: start {wildcards.init}, order {wildcards.order}"
    script:
        "../../../scripts/beyond/finetune_cell.py"


rule score_seeds:
    """Components of the variance over seeds, the best of several runs, and stopping bad ones early."""
    input:
        predictions=files_of_grids("predictions", "predictions"),
        curves=files_of_grids("curves", "curve"),
        baselines=expand("<results>/predictions/{task}/baselines.csv", task=GRIDS),
    output:
        **{name: table(name) for name in TABLES_OF_SEEDS},
    log:
        "<logs>/score_seeds.log",
    benchmark:
        "<benchmarks>/score_seeds.tsv"
    group:
        "seeds"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/score_seeds.py"),
        tasks=entries_to_score(GRIDS),
        settings=leave_out(config["seed_grid"], "tasks"),
        resamples=lookup(dpath="scores/resamples", within=config),
        seed=lookup(dpath="scores/seed", within=config),
    message:
        "Compare the seeds of fine-tuning"
    script:
        "../../../scripts/beyond/score_seeds.py"


rule draw_seeds:
    """Draw how much scores depend on seeds."""
    input:
        seed_variance=[
            "<results>/tables/seed_variance.csv",
            "<results>/tables/expected_maximum.csv",
            "<results>/tables/early_stopping.csv",
        ],
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/seed_variance.svg",
            caption="../../report/seed_variance.rst",
            category=CHANGES,
            labels={"result": "Seeds (Dodge et al. 2020)"},
        ),
        multiext("<results>/figures/seed_variance", ".pdf", ".png"),
    log:
        "<logs>/draw_seeds.log",
    group:
        "seeds"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("seed_variance"),
        code=code_of("beyond/draw_seeds.py"),
        metrics=metrics_of(GRIDS),
    message:
        "Draw seed_variance"
    script:
        "../../../scripts/beyond/draw_seeds.py"


rule seed_variance:
    """How much scores depend on the seeds of start and order, and what the best of several runs gives."""
    input:
        multiext("<results>/figures/seed_variance", ".svg", ".pdf", ".png"),
    message:
        "Finished: seed_variance"


if GRIDS:
    RESULTS_OF["seed_grid"] += [*tables(*TABLES_OF_SEEDS), *figures("seed_variance")]
