# Section 4.2, further: do heads follow the relations of a treebank?


SYNTAX = "Section 4.2, heads and syntactic relations"
TABLES_OF_SYNTAX = ("syntactic_heads", "attention_trees", "distractors", "attention_probes")


rule read_treebank:
    """Read sentences with their dependency trees."""
    input:
        unpack(treebank_files),
    output:
        treebank="<results>/treebank/treebank.jsonl",
    log:
        "<logs>/read_treebank.log",
    benchmark:
        "<benchmarks>/read_treebank.tsv"
    group:
        "syntax"
    conda:
        "../../../envs/annotation.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/read_treebank.py"),
        settings=leave_out(TREEBANK, "probed", "coreference"),
    message:
        "Read a treebank"
    script:
        "../../../scripts/beyond/read_treebank.py"


rule measure_syntax:
    """Measure how often heads find the syntactic heads of words, pre-trained and with random weights.

    Also parse by the attention of all heads: train probes on one half of the treebank and score them on the other.
    """
    input:
        treebank="<results>/treebank/treebank.jsonl",
        model="<results>/models/pretrained",
    output:
        **{name: table(name) for name in TABLES_OF_SYNTAX},
    log:
        "<logs>/measure_syntax.log",
    benchmark:
        "<benchmarks>/measure_syntax.tsv"
    group:
        "syntax"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_syntax.py"),
        settings={key: TREEBANK[key] for key in ("probed", "seed")},
        models=["pretrained", RANDOM_MODEL],
        reading=READING,
    message:
        "Compare heads with a treebank"
    script:
        "../../../scripts/beyond/measure_syntax.py"


rule draw_syntax:
    """Draw syntactic heads, trees from attention, attention to subjects, and probes of attention."""
    input:
        syntactic_heads="<results>/tables/syntactic_heads.csv",
        attention_trees="<results>/tables/attention_trees.csv",
        attention_to_subjects="<results>/tables/distractors.csv",
        attention_probes="<results>/tables/attention_probes.csv",
    output:
        report(
            "<results>/figures/syntactic_heads.svg",
            caption="../../report/syntactic_heads.rst",
            category=SYNTAX,
            labels={"result": "Syntactic heads (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/syntactic_heads", ".pdf", ".png"),
        report(
            "<results>/figures/attention_trees.svg",
            caption="../../report/attention_trees.rst",
            category=SYNTAX,
            labels={"result": "Trees from attention (Htut et al. 2019)"},
        ),
        multiext("<results>/figures/attention_trees", ".pdf", ".png"),
        report(
            "<results>/figures/attention_to_subjects.svg",
            caption="../../report/attention_to_subjects.rst",
            category=SYNTAX,
            labels={"result": "Attention to subjects (Lin et al. 2019)"},
        ),
        multiext("<results>/figures/attention_to_subjects", ".pdf", ".png"),
        report(
            "<results>/figures/attention_probes.svg",
            caption="../../report/attention_probes.rst",
            category=SYNTAX,
            labels={"result": "Probes (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/attention_probes", ".pdf", ".png"),
    log:
        "<logs>/draw_syntax.log",
    group:
        "syntax"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned(
            "syntactic_heads",
            "attention_trees",
            "attention_to_subjects",
            "attention_probes",
            label=(
                TREEBANK_LABEL
                if TREEBANK["source"] == "annotation"
                else f"{ENCODER_LABEL} · {TREES}"
            ),
        ),
        code=code_of("beyond/draw_syntax.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw syntactic_heads, attention_trees, attention_to_subjects, attention_probes"
    script:
        "../../../scripts/beyond/draw_syntax.py"


rule syntactic_heads:
    """Which heads follow which syntactic relations."""
    input:
        multiext("<results>/figures/syntactic_heads", ".svg", ".pdf", ".png"),
    message:
        "Finished: syntactic_heads"


rule attention_trees:
    """How much trees from the attention of every head are like gold trees."""
    input:
        multiext("<results>/figures/attention_trees", ".svg", ".pdf", ".png"),
    message:
        "Finished: attention_trees"


rule attention_to_subjects:
    """How much verbs attend to their subjects, beside other nouns, by layer."""
    input:
        multiext("<results>/figures/attention_to_subjects", ".svg", ".pdf", ".png"),
    message:
        "Finished: attention_to_subjects"


rule attention_probes:
    """How well probes parse by the attention of all heads."""
    input:
        multiext("<results>/figures/attention_probes", ".svg", ".pdf", ".png"),
    message:
        "Finished: attention_probes"


RESULTS_OF["syntax"] += [
    *tables(*TABLES_OF_SYNTAX),
    *figures("syntactic_heads", "attention_trees", "attention_to_subjects", "attention_probes"),
]


COREFERENCE = "Section 4.2, references and their antecedents"
TABLES_OF_COREFERENCE = ("coreference_heads", "coreference_methods")


rule measure_coreference:
    """Measure how often heads find the antecedents of pronouns and nouns, pre-trained and with random weights."""
    input:
        texts=compat.mark_in_place(TREEBANK["coreference"]["path"]),
        model="<results>/models/pretrained",
    output:
        **{name: table(name) for name in TABLES_OF_COREFERENCE},
    log:
        "<logs>/measure_coreference.log",
    benchmark:
        "<benchmarks>/measure_coreference.tsv"
    group:
        "coreference"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_coreference.py"),
        settings=TREEBANK["coreference"],
        models=["pretrained", RANDOM_MODEL],
        reading=READING,
    message:
        "Resolve pronouns and nouns by attention"
    script:
        "../../../scripts/beyond/measure_coreference.py"


rule draw_coreference:
    """Draw how well heads find antecedents."""
    input:
        coreference_heads=[
            "<results>/tables/coreference_methods.csv",
            "<results>/tables/coreference_heads.csv",
        ],
    output:
        report(
            "<results>/figures/coreference_heads.svg",
            caption="../../report/coreference_heads.rst",
            category=COREFERENCE,
            labels={"result": "Coreference (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/coreference_heads", ".pdf", ".png"),
    log:
        "<logs>/draw_coreference.log",
    group:
        "coreference"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned(
            "coreference_heads",
            label=f"{ENCODER_LABEL} · texts: {treebank_sources.describe_texts(SYNTAX_SETTINGS)}",
        ),
        code=code_of("beyond/draw_syntax.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw coreference_heads"
    script:
        "../../../scripts/beyond/draw_syntax.py"


rule coreference_heads:
    """How well heads find the antecedents of pronouns and nouns."""
    input:
        multiext("<results>/figures/coreference_heads", ".svg", ".pdf", ".png"),
    message:
        "Finished: coreference_heads"


RESULTS_OF["syntax"] += [*tables(*TABLES_OF_COREFERENCE), *figures("coreference_heads")]
