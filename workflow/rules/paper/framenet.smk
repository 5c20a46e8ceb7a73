# Section 4.2: do heads attend along frame-semantic links?


RELATIONS = "Section 4.2, heads and frame-semantic relations"
LINKS = config["framenet"]
LINKS_LABEL = f"{RUN_LABEL} · links: {framenet.describe(LINKS)}"


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
    message:
        "Download FrameNet 1.7"
    script:
        "../../../scripts/paper/get_framenet.py"


rule collect_framenet_links:
    """Select sentences as the paper does, with their predicates and elements."""
    input:
        unpack(links_files),
    output:
        table="<results>/tables/framenet_links.csv",
    log:
        "<logs>/collect_framenet_links.log",
    benchmark:
        "<benchmarks>/collect_framenet_links.tsv"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        source=lookup(dpath="framenet/source", within=config),
        path=lookup(dpath="framenet/path", within=config),
    message:
        "Collect frame-semantic links"
    script:
        "../../../scripts/paper/collect_framenet_links.py"


rule measure_framenet_heads:
    """Store the maps on the sentences with links; measure every head along these, beside five controls.

    The heads of an encoder with random weights follow those of the pre-trained one.
    """
    input:
        links="<results>/tables/framenet_links.csv",
        model="<results>/models/pretrained",
    output:
        store=directory("<results>/attention/FrameNet/pretrained"),
        random=directory(f"<results>/attention/FrameNet/{RANDOM_MODEL}"),
        table="<results>/tables/framenet_heads.csv",
        controls="<results>/tables/framenet_controls.csv",
        example="<results>/tables/framenet_example.npz",
    log:
        "<logs>/measure_framenet_heads.log",
    benchmark:
        "<benchmarks>/measure_framenet_heads.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
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


figure(
    "figure3",
    "Figure 3: heads that attend along frame-semantic links, and what they do on one sentence.",
    section=RELATIONS,
    label="Figure 3",
    run_label=LINKS_LABEL,
    table="<results>/tables/framenet_heads.csv",
    controls="<results>/tables/framenet_controls.csv",
    example="<results>/tables/framenet_example.npz",
)


figure(
    "figure4",
    "Figure 4: a sentence with its frame-semantic annotation.",
    section=RELATIONS,
    label="Figure 4",
    run_label=LINKS_LABEL,
    table="<results>/tables/framenet_links.csv",
)
