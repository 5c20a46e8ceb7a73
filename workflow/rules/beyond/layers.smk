# Section 4.3, further: what do layers know, before and after fine-tuning?


LAYERS = "Section 4.3, what layers know"
PROBED_TASKS = config["layers"]["tasks"]
TABLES_OF_LAYERS = ("layer_probes", "layer_order", "structural_probes", "layer_geometry")
PROBE_SETTINGS = leave_out(config["layers"], "tasks")


rule probe_layers:
    """Probe the layers of the pre-trained encoder, and of one with random weights."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        pretrained="<results>/models/pretrained",
    output:
        **{name: f"<results>/layers/pretrained/{name}.csv" for name in TABLES_OF_LAYERS},
    log:
        "<logs>/probe_layers.log",
    benchmark:
        "<benchmarks>/probe_layers.tsv"
    group:
        "layers"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/probe_layers.py"),
        models=["pretrained", RANDOM_MODEL],
        settings=PROBE_SETTINGS,
        reading=READING,
    message:
        "Probe the layers of the pre-trained encoder"
    script:
        "../../../scripts/beyond/probe_layers.py"


rule probe_layers_of_task:
    """Probe the layers of models that were fine-tuned on a task; and, for its label, those that were not."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        dataset="<results>/data/{task}",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        **{
            name: f"<results>/layers/tasks/{{task}}/{name}.csv"
            for name in (*TABLES_OF_LAYERS, "removed_properties")
        },
    log:
        "<logs>/probe_layers/{task}.log",
    benchmark:
        "<benchmarks>/probe_layers/{task}.tsv"
    group:
        "layers"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/probe_layers_of_task.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        models=lambda wildcards: [
            *measured_models(wildcards.task)[1:-1],
            "pretrained",
            RANDOM_MODEL,
        ],
        settings=PROBE_SETTINGS,
        reading=READING,
    message:
        "Probe the layers of models of {wildcards.task}"
    script:
        "../../../scripts/beyond/probe_layers_of_task.py"


collect(
    "collect_layers",
    "Gather the tables of layers of all models.",
    tables={
        **{
            name: [
                f"<results>/layers/pretrained/{name}.csv",
                *expand(f"<results>/layers/tasks/{{task}}/{name}.csv", task=PROBED_TASKS),
            ]
            for name in TABLES_OF_LAYERS
        },
        "removed_properties": expand(
            "<results>/layers/tasks/{task}/removed_properties.csv", task=PROBED_TASKS
        ),
    },
    group="features",
)


draw(
    "draw_layers",
    figure(
        "layer_probes",
        "What linear probes read from every layer, beside what word types alone tell.",
        section=LAYERS,
        label="Probes of layers (Liu et al., Tenney et al. 2019)",
        table="<results>/tables/layer_probes.csv",
        order="<results>/tables/layer_order.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "structural_probes",
        "How much distances and depths in every layer are those of dependency trees.",
        section=LAYERS,
        label="Structural probes (Hewitt and Manning 2019)",
        table="<results>/tables/structural_probes.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "layer_geometry",
        "How alike the states of words are in every layer.",
        section=LAYERS,
        label="Geometry of layers (Ethayarajh 2019)",
        table="<results>/tables/layer_geometry.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "removed_properties",
        "What scores lose if parts of speech are taken out of a layer.",
        section=LAYERS,
        label="What is known and what is used (Elazar et al. 2021)",
        when=bool(PROBED_TASKS),
        tasks=PROBED_TASKS,
        table="<results>/tables/removed_properties.csv",
        learned="<results>/tables/learned.csv",
    ),
    label=TREEBANK_LABEL,
    of="layers",
    group="features",
)


add_results(*TABLES_OF_LAYERS, "removed_properties", of="layers")
