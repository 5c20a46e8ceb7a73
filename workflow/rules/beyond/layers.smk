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


rule collect_layers:
    """Gather the tables of layers of all models."""
    input:
        **{
            name: [
                f"<results>/layers/pretrained/{name}.csv",
                *expand(f"<results>/layers/tasks/{{task}}/{name}.csv", task=PROBED_TASKS),
            ]
            for name in TABLES_OF_LAYERS
        },
        removed_properties=expand(
            "<results>/layers/tasks/{task}/removed_properties.csv", task=PROBED_TASKS
        ),
    output:
        **{name: table(name) for name in TABLES_OF_LAYERS},
        removed_properties=table("removed_properties"),
    log:
        "<logs>/collect_layers.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=[*TABLES_OF_LAYERS, "removed_properties"],
    message:
        "Gather the tables of layers of all models"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_layers:
    """Draw what probes read from layers, trees in vector space, and the geometry of states."""
    input:
        layer_probes=["<results>/tables/layer_probes.csv", "<results>/tables/layer_order.csv"],
        structural_probes="<results>/tables/structural_probes.csv",
        layer_geometry="<results>/tables/layer_geometry.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/layer_probes.svg",
            caption="../../report/layer_probes.rst",
            category=LAYERS,
            labels={"result": "Probes of layers (Liu et al., Tenney et al. 2019)"},
        ),
        multiext("<results>/figures/layer_probes", ".pdf", ".png"),
        report(
            "<results>/figures/structural_probes.svg",
            caption="../../report/structural_probes.rst",
            category=LAYERS,
            labels={"result": "Structural probes (Hewitt and Manning 2019)"},
        ),
        multiext("<results>/figures/structural_probes", ".pdf", ".png"),
        report(
            "<results>/figures/layer_geometry.svg",
            caption="../../report/layer_geometry.rst",
            category=LAYERS,
            labels={"result": "Geometry of layers (Ethayarajh 2019)"},
        ),
        multiext("<results>/figures/layer_geometry", ".pdf", ".png"),
    log:
        "<logs>/draw_layers.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("layer_probes", "structural_probes", "layer_geometry", label=TREEBANK_LABEL),
        code=code_of("beyond/draw_layers.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw layer_probes, structural_probes, layer_geometry"
    script:
        "../../../scripts/beyond/draw_layers.py"


rule layer_probes:
    """What linear probes read from every layer, beside what word types alone tell."""
    input:
        multiext("<results>/figures/layer_probes", ".svg", ".pdf", ".png"),
    message:
        "Finished: layer_probes"


rule structural_probes:
    """How much distances and depths in every layer are those of dependency trees."""
    input:
        multiext("<results>/figures/structural_probes", ".svg", ".pdf", ".png"),
    message:
        "Finished: structural_probes"


rule layer_geometry:
    """How alike the states of words are in every layer."""
    input:
        multiext("<results>/figures/layer_geometry", ".svg", ".pdf", ".png"),
    message:
        "Finished: layer_geometry"


rule draw_removed_properties:
    """Draw what scores lose if parts of speech are taken out of a layer."""
    input:
        removed_properties="<results>/tables/removed_properties.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/removed_properties.svg",
            caption="../../report/removed_properties.rst",
            category=LAYERS,
            labels={"result": "What is known and what is used (Elazar et al. 2021)"},
        ),
        multiext("<results>/figures/removed_properties", ".pdf", ".png"),
    log:
        "<logs>/draw_removed_properties.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("removed_properties", label=TREEBANK_LABEL),
        code=code_of("beyond/draw_layers.py"),
        metrics=metrics_of(PROBED_TASKS),
    message:
        "Draw removed_properties"
    script:
        "../../../scripts/beyond/draw_layers.py"


rule removed_properties:
    """What scores lose if parts of speech are taken out of a layer."""
    input:
        multiext("<results>/figures/removed_properties", ".svg", ".pdf", ".png"),
    message:
        "Finished: removed_properties"


RESULTS_OF["layers"] += [
    *tables(*TABLES_OF_LAYERS, "removed_properties"),
    *figures("layer_probes", "structural_probes", "layer_geometry"),
]
if PROBED_TASKS:
    RESULTS_OF["layers"] += figures("removed_properties")
