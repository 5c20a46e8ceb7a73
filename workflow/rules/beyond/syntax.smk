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


draw(
    "draw_syntax",
    figure(
        "syntactic_heads",
        "Which heads follow which syntactic relations.",
        section=SYNTAX,
        label="Syntactic heads (Clark et al. 2019)",
        table="<results>/tables/syntactic_heads.csv",
    ),
    figure(
        "attention_trees",
        "How much trees from the attention of every head are like gold trees.",
        section=SYNTAX,
        label="Trees from attention (Htut et al. 2019)",
        table="<results>/tables/attention_trees.csv",
    ),
    figure(
        "attention_to_subjects",
        "How much verbs attend to their subjects, beside other nouns, by layer.",
        section=SYNTAX,
        label="Attention to subjects (Lin et al. 2019)",
        table="<results>/tables/distractors.csv",
    ),
    figure(
        "attention_probes",
        "How well probes parse by the attention of all heads.",
        section=SYNTAX,
        label="Probes (Clark et al. 2019)",
        table="<results>/tables/attention_probes.csv",
    ),
    label=TREEBANK_LABEL,
    of="syntax",
    group="syntax",
)


add_results(*TABLES_OF_SYNTAX, of="syntax")


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


draw(
    "draw_coreference",
    figure(
        "coreference_heads",
        "How well heads find the antecedents of pronouns and nouns.",
        section=COREFERENCE,
        label="Coreference (Clark et al. 2019)",
        table="<results>/tables/coreference_methods.csv",
        heads="<results>/tables/coreference_heads.csv",
    ),
    label=f"{RUN_LABEL} · texts: {treebank_sources.describe_texts(SYNTAX_SETTINGS)}",
    of="syntax",
    group="coreference",
)


add_results(*TABLES_OF_COREFERENCE, of="syntax")
