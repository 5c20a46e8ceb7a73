# Text of one's own: what an encoder's heads do on any sentences, without data, labels or fine-tuning.


from darksecrets.pages.inspect import preflight as text_checks

EXAMPLES_OF_TEXT = [] if config["text"] is None else texts.read(config["text"])
LOOK_NAME = config["inspect"]["name"] or texts.digest(EXAMPLES_OF_TEXT)
LOOK = f"<results>/inspect/{LOOK_NAME}"
CHECKS["inspect_text"] = text_checks.check_tokens


rule inspect_text:
    """Draw, classify and measure all heads of the pre-trained encoder on the text."""
    input:
        text=text_files,
        files=checkpoint_files,
        classifier=CLASSIFIER,
        pipeline=branch(config["inspect"]["parse"] != "off", then=parser_files, otherwise=[]),
    output:
        **{name: f"{LOOK}/features/{name}.csv" for name in MEASURED_TABLES},
        page=report(
            f"{LOOK}/heads.html",
            caption="../../report/inspect.rst",
            category="Text of one's own",
            subcategory=LOOK_NAME,
            labels={"result": "all heads"},
        ),
        examples=f"{LOOK}/examples.csv",
        patterns=f"{LOOK}/pattern_maps.parquet",
    log:
        f"<logs>/inspect_text/{LOOK_NAME}.log",
    benchmark:
        f"<benchmarks>/inspect_text/{LOOK_NAME}.tsv"
    conda:
        "../../../envs/inspect.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        label=ENCODER_LABEL,
        shown=captions.escape(ENCODER_LABEL),
        code=code_of("pages/inspect_text.py"),
        text=text_given,
        source=lookup(dpath="model", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        parse=lookup(dpath="inspect/parse", within=config),
        pipeline=lookup(dpath="annotation/pipeline", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        f"Look at the text: results in {LOOK}".replace("<results>", str(RESULTS))
    script:
        "../../../scripts/pages/inspect_text.py"


rule inspect:
    """Look at text of one's own: maps, patterns and measures of all heads."""
    input:
        rules.inspect_text.output,
    message:
        "Finished: the look at the text"
