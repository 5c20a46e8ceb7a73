# Text of one's own: what an encoder's heads do on any sentences, without data, labels or fine-tuning.


EXAMPLES_OF_TEXT = [] if config["text"] is None else texts.read(config["text"])
DRAWN = 10  # examples whose maps are drawn, the first ones; all are measured
LOOK_NAME = config["inspect"]["name"] or texts.digest(EXAMPLES_OF_TEXT)
FIGURES_OF_TEXT = [
    "statistics",
    *(
        f"{kind}-{number}"
        for number in range(1, 1 + len(EXAMPLES_OF_TEXT[:DRAWN]))
        for kind in ("heads", "maps")
    ),
]
LOOK = f"<results>/inspect/{LOOK_NAME}"
CHECKS["observe_text"] = text_checks.check_tokens


rule observe_text:
    """Store all maps of the pre-trained encoder on the text, and classify their patterns."""
    input:
        text=text_files,
        model="<results>/models/pretrained",
        classifier=CLASSIFIER,
    output:
        store=directory(f"{LOOK}/attention"),
        examples=f"{LOOK}/examples.csv",
        patterns=f"{LOOK}/pattern_maps.parquet",
        shown=f"{LOOK}/shown.csv",
    log:
        f"<logs>/observe_text/{LOOK_NAME}.log",
    benchmark:
        f"<benchmarks>/observe_text/{LOOK_NAME}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        text=text_given,
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        heads=lookup(dpath="inspect/heads", within=config),
        drawn=DRAWN,
    message:
        "Look at the text: maps and patterns"
    script:
        "../../../scripts/pages/observe_text.py"


rule measure_text:
    """Parse the text, if that is possible, and measure what every head attends to."""
    input:
        examples=f"{LOOK}/examples.csv",
        store=f"{LOOK}/attention",
        pipeline=branch(config["inspect"]["parse"] != "off", then=parser_files, otherwise=[]),
    output:
        **{name: f"{LOOK}/features/{name}.csv" for name in MEASURED_TABLES},
    log:
        f"<logs>/measure_text/{LOOK_NAME}.log",
    benchmark:
        f"<benchmarks>/measure_text/{LOOK_NAME}.tsv"
    conda:
        "../../../envs/annotation.yaml"
    resources:
        **ask("forward"),
    params:
        parse=lookup(dpath="inspect/parse", within=config),
        pipeline=lookup(dpath="annotation/pipeline", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure what heads attend to in the text"
    script:
        "../../../scripts/pages/measure_text.py"


rule inspect:
    """Draw the maps of all heads on the text, some of them large, and statistics of the heads."""
    input:
        examples=f"{LOOK}/examples.csv",
        shown=f"{LOOK}/shown.csv",
        patterns=f"{LOOK}/pattern_maps.parquet",
        table=f"{LOOK}/features/head_statistics.csv",
        store=f"{LOOK}/attention",
    output:
        [
            report(
                f"{LOOK}/figures/{name}.svg",
                caption="../../report/inspect.rst",
                category="Text of one's own",
                subcategory=LOOK_NAME,
                labels={"result": name},
            )
            for name in FIGURES_OF_TEXT
        ],
        expand(f"{LOOK}/figures/{{name}}.{{format}}", name=FIGURES_OF_TEXT, format=("pdf", "png")),
    log:
        f"<logs>/inspect/{LOOK_NAME}.log",
    conda:
        "../../../envs/figures.yaml"
    params:
        **{
            **drawn_by("inspect", f"run {config['run']} · {configuration.describe_model(config)}"),
            "tasks": [],
        },
    message:
        f"Draw the heads on the text, in results/{config['run']}/inspect/{LOOK_NAME}/figures"
    script:
        "../../../scripts/core/figure.py"
