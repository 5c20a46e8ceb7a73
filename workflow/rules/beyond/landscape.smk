# Section 4.3, further: what does fine-tuning do? Layers reset, and how flat the loss is around models.


from darksecrets.beyond.landscape import preflight as landscape_checks

LANDSCAPE = "Section 4.3, what fine-tuning does"
RESET = [] if config["left_out"]["layers"] else config["landscape"]["tasks"]
TABLES_OF_LANDSCAPE = ("reset_layers", "reset_means")
SURFACES = config["landscape"]["surface"]["tasks"]
# The models that span a plane, in the order of `darksecrets.beyond.landscape.declared.CORNERS`.
SPANNING = ("pretrained", "finetuned", "finetuned-from-normal")
FLATNESS = config["landscape"]["flatness"]
# What fine-tunings begin with, besides state and seed.
STARTING = {
    "std": config["fine_tuning"]["from_normal_std"],
    "init_seed": config["fine_tuning"]["init_seed"],
    "layers": config["fine_tuning"]["reinitialized_layers"],
}
for landscape_rule, key, lacks in (
    ("score_reset", "tasks", "resets no layers"),
    ("collect_surfaces", "surface.tasks", "computes no loss surfaces"),
    ("collect_flatness", "flatness.tasks", "measures no flatness"),
):
    CHECKS[landscape_rule] = partial(data_checks.check_chosen, key=f"landscape.{key}", lacks=lacks)
CHECKS["reset_weights"] = partial(landscape_checks.check_run, left_out=config["left_out"]["layers"])


rule reset_weights:
    """Put weights that fine-tuning began with back into a fine-tuned model, layer by layer."""
    input:
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned="<results>/models/{task}/{state}/seed-{seed}",
        predictions="<results>/predictions/{task}/{state}/seed-{seed}.csv",
    output:
        outputs=directory("<results>/reset/{task}/{state}/seed-{seed}"),
    log:
        "<logs>/reset_weights/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/reset_weights/{task}/{state}/seed-{seed}.tsv"
    group:
        "resetting"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/reset_weights.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        settings={"examples": config["landscape"]["examples"]},
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        start=STARTING,
    message:
        "Reset layers of {wildcards.state} on {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/reset_weights.py"


rule score_reset:
    """Score all models with layers reset."""
    input:
        outputs=[
            f"<results>/reset/{task}/{state}/seed-{seed}"
            for task in RESET
            for state in config["landscape"]["states"]
            for seed in config["tasks"][task]["seeds"]
        ],
    output:
        **{name: table(name) for name in TABLES_OF_LANDSCAPE},
    log:
        "<logs>/score_reset.log",
    benchmark:
        "<benchmarks>/score_reset.tsv"
    group:
        "landscape"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/score_reset.py"),
        tasks=entries_to_score(RESET),
        states=config["landscape"]["states"],
        seeds={task: config["tasks"][task]["seeds"] for task in RESET},
        resampling=RESAMPLING,
    message:
        "Score the models with layers reset"
    script:
        "../../../scripts/beyond/score_reset.py"


rule measure_flatness:
    """Measure how flat the loss is around a task's fine-tuned models, as a function of the encoder's weights.

    Models are kept until all are measured, so that a job that was stopped goes on.
    """
    input:
        dataset="<results>/data/{task}",
        finetuned=lambda wildcards: [
            f"<results>/models/{wildcards.task}/{state}/seed-{seed}"
            for state, seed in finetunings(wildcards)
        ],
    output:
        flatness="<results>/flatness/{task}.csv",
    log:
        "<logs>/measure_flatness/{task}.log",
    benchmark:
        "<benchmarks>/measure_flatness/{task}.tsv"
    group:
        "flatness"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/measure_flatness.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        models=finetunings,
        settings=leave_out(FLATNESS, "tasks"),
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Measure the flatness around the models of {wildcards.task}"
    script:
        "../../../scripts/beyond/measure_flatness.py"


rule collect_flatness:
    """Gather how flat the loss is around the models of all tasks."""
    input:
        flatness=expand("<results>/flatness/{task}.csv", task=FLATNESS["tasks"]),
    output:
        flatness=table("flatness"),
    log:
        "<logs>/collect_flatness.log",
    group:
        "landscape"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=["flatness"],
    message:
        "Gather how flat the loss is around the models of all tasks"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule measure_surface:
    """Measure the loss on the plane of three models, and on the line of two.

    Rows of points are kept until all are there, so that a job that was stopped goes on.
    """
    input:
        dataset="<results>/data/{task}",
        models=[
            "<results>/models/pretrained",
            *(f"<results>/models/{{task}}/{state}/seed-{{seed}}" for state in SPANNING[1:]),
        ],
    output:
        losses="<results>/surfaces/{task}/seed-{seed}.csv",
    log:
        "<logs>/measure_surface/{task}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/measure_surface/{task}/seed-{seed}.tsv"
    group:
        "surfaces"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("sweep", gpu=True),
    params:
        code=code_of("beyond/measure_surface.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        settings=leave_out(config["landscape"]["surface"], "tasks", "seeds"),
        seed=lookup(dpath="ablation/seed", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Measure the loss surface of {wildcards.task}: seed {wildcards.seed}"
    script:
        "../../../scripts/beyond/measure_surface.py"


rule collect_surfaces:
    """Gather the loss surfaces of all tasks."""
    input:
        loss_surfaces=[
            f"<results>/surfaces/{task}/seed-{seed}.csv"
            for task in SURFACES
            for seed in config["tasks"][task]["seeds"][: config["landscape"]["surface"]["seeds"]]
        ],
    output:
        loss_surfaces=table("loss_surfaces"),
    log:
        "<logs>/collect_surfaces.log",
    group:
        "landscape"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=["loss_surfaces"],
    message:
        "Gather the loss surfaces of all tasks"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_landscape:
    """Draw what resetting layers to their pre-trained weights costs."""
    input:
        reset_layers="<results>/tables/reset_means.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/reset_layers.svg",
            caption="../../report/reset_layers.rst",
            category=LANDSCAPE,
            labels={"result": "Layers reset (Hao et al. 2019)"},
        ),
        multiext("<results>/figures/reset_layers", ".pdf", ".png"),
    log:
        "<logs>/draw_landscape.log",
    group:
        "landscape"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("reset_layers"),
        code=code_of("beyond/draw_landscape.py"),
        metrics=metrics_of(RESET),
    message:
        "Draw reset_layers"
    script:
        "../../../scripts/beyond/draw_landscape.py"


rule reset_layers:
    """The score of every task with layers reset, one by one, from below and from above."""
    input:
        multiext("<results>/figures/reset_layers", ".svg", ".pdf", ".png"),
    message:
        "Finished: reset_layers"


rule draw_flatness:
    """Draw how wide optima are."""
    input:
        flatness="<results>/tables/flatness.csv",
    output:
        report(
            "<results>/figures/flatness.svg",
            caption="../../report/flatness.rst",
            category=LANDSCAPE,
            labels={"result": "Flatness (Hao et al. 2019)"},
        ),
        multiext("<results>/figures/flatness", ".pdf", ".png"),
    log:
        "<logs>/draw_flatness.log",
    group:
        "landscape"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("flatness"),
        code=code_of("beyond/draw_landscape.py"),
        metrics=metrics_of(FLATNESS["tasks"]),
    message:
        "Draw flatness"
    script:
        "../../../scripts/beyond/draw_landscape.py"


rule flatness:
    """How flat the loss is around fine-tuned models that began with pre-trained and with random weights."""
    input:
        multiext("<results>/figures/flatness", ".svg", ".pdf", ".png"),
    message:
        "Finished: flatness"


rule draw_surfaces:
    """Draw the loss between models."""
    input:
        loss_surfaces="<results>/tables/loss_surfaces.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/loss_surfaces.svg",
            caption="../../report/loss_surfaces.rst",
            category=LANDSCAPE,
            labels={"result": "Loss surfaces (Hao et al. 2019)"},
        ),
        multiext("<results>/figures/loss_surfaces", ".pdf", ".png"),
    log:
        "<logs>/draw_surfaces.log",
    group:
        "landscape"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("loss_surfaces"),
        code=code_of("beyond/draw_landscape.py"),
        metrics=metrics_of(SURFACES),
    message:
        "Draw loss_surfaces"
    script:
        "../../../scripts/beyond/draw_landscape.py"


rule loss_surfaces:
    """Losses of every task around its fine-tuned model, on a plane and a line."""
    input:
        multiext("<results>/figures/loss_surfaces", ".svg", ".pdf", ".png"),
    message:
        "Finished: loss_surfaces"


if RESET:
    RESULTS_OF["landscape"] += [*tables(*TABLES_OF_LANDSCAPE), *figures("reset_layers")]
if FLATNESS["tasks"]:
    RESULTS_OF["landscape"] += [*tables("flatness"), *figures("flatness")]
if SURFACES:
    RESULTS_OF["landscape"] += [*tables("loss_surfaces"), *figures("loss_surfaces")]
