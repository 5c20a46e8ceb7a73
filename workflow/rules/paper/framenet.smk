# Section 4.2: do heads attend along frame-semantic links?


from darksecrets.paper.framenet import sources as framenet

RELATIONS = "Section 4.2, heads and frame-semantic relations"
LINKS = config["framenet"]
LINKS_LABEL = f"{ENCODER_LABEL} · links: {framenet.describe(LINKS)}"


rule get_framenet:
    """Download FrameNet 1.7 with NLTK, if the run names no folder that contains it."""
    output:
        folder=directory("<results>/framenet/nltk_data"),
    log:
        "<logs>/get_framenet.log",
    benchmark:
        "<benchmarks>/get_framenet.tsv"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/get_framenet.py"),
    message:
        "Download FrameNet 1.7"
    script:
        "../../../scripts/paper/get_framenet.py"


rule measure_framenet_heads:
    """Select sentences as the paper does; measure every head along their frame-semantic links, beside six controls.

    The heads of an encoder with random weights follow those of the pre-trained one.
    """
    input:
        unpack(links_files),
        model="<results>/models/pretrained",
    output:
        links=table("framenet_links"),
        store=directory("<results>/attention/FrameNet/pretrained"),
        random=directory(f"<results>/attention/FrameNet/{RANDOM_MODEL}"),
        table=table("framenet_heads"),
        controls=table("framenet_controls"),
        example="<results>/tables/framenet_example.npz",
    log:
        "<logs>/measure_framenet_heads.log",
    benchmark:
        "<benchmarks>/measure_framenet_heads.tsv"
    group:
        "framenet"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("paper/measure_framenet_heads.py"),
        links={key: LINKS[key] for key in ("source", "path")},
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        draws=lookup(dpath="framenet/draws", within=config),
        seed=lookup(dpath="framenet/seed", within=config),
    message:
        "Measure the attention along frame-semantic links"
    script:
        "../../../scripts/paper/measure_framenet_heads.py"


rule count_random_framenet_heads:
    """Count the heads of twenty encoders with random weights that exceed all controls of frame-semantic links."""
    input:
        links="<results>/tables/framenet_links.csv",
        model="<results>/models/pretrained",
    output:
        table=table("framenet_random"),
    log:
        "<logs>/count_random_framenet_heads.log",
    benchmark:
        "<benchmarks>/count_random_framenet_heads.tsv"
    group:
        "framenet"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("paper/count_random_framenet_heads.py"),
        first=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        extraction={
            "batch_size": config["attention"]["batch_size"],
            "max_length": config["fine_tuning"]["max_length"],
        },
        tests={key: LINKS[key] for key in ("draws", "seed")},
    message:
        "Count heads of random encoders along frame-semantic links"
    script:
        "../../../scripts/paper/count_random_framenet_heads.py"


rule draw_framenet:
    """Draw the heads along frame-semantic links, their controls and a sentence (Figures 3 and 4)."""
    input:
        figure3=["<results>/tables/framenet_heads.csv", "<results>/tables/framenet_example.npz"],
        figure3_controls=[
            "<results>/tables/framenet_heads.csv",
            "<results>/tables/framenet_controls.csv",
        ],
        figure4="<results>/tables/framenet_links.csv",
    output:
        report(
            "<results>/figures/figure3.svg",
            caption="../../report/figure3.rst",
            category=RELATIONS,
            labels={"result": "Figure 3"},
        ),
        multiext("<results>/figures/figure3", ".pdf", ".png"),
        report(
            "<results>/figures/figure3_controls.svg",
            caption="../../report/figure3_controls.rst",
            category=RELATIONS,
            labels={"result": "Figure 3, supplement: controls"},
        ),
        multiext("<results>/figures/figure3_controls", ".pdf", ".png"),
        report(
            "<results>/figures/figure4.svg",
            caption="../../report/figure4.rst",
            category=RELATIONS,
            labels={"result": "Figure 4"},
        ),
        multiext("<results>/figures/figure4", ".pdf", ".png"),
    log:
        "<logs>/draw_framenet.log",
    group:
        "framenet"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("figure3", "figure3_controls", "figure4", label=LINKS_LABEL),
        code=code_of("paper/draw_framenet.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw figure3, figure3_controls, figure4"
    script:
        "../../../scripts/paper/draw_framenet.py"


rule figure3:
    """Figure 3: heads that attend along frame-semantic links, and what they do on one sentence."""
    input:
        multiext("<results>/figures/figure3", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure3"


rule figure3_controls:
    """How far heads exceed each of six controls along frame-semantic links."""
    input:
        multiext("<results>/figures/figure3_controls", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure3_controls"


rule figure4:
    """Figure 4: a sentence with its frame-semantic annotation."""
    input:
        multiext("<results>/figures/figure4", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure4"


RESULTS_OF[analyses.PAPER] += [
    *tables("framenet_links", "framenet_heads", "framenet_controls", "framenet_random"),
    *figures("figure3", "figure3_controls", "figure4"),
]
