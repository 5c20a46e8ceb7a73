# Second opinion on section 4.2: do heads follow the relations of a treebank?


SYNTAX = "Section 4.2, heads and syntactic relations"
TREEBANK = config["treebank"]
SILVER = any(task.data for task in TASKS.values())
TREEBANK_LABEL = f"{RUN_LABEL} · trees: {of_treebanks.describe(TREEBANK, parsed=SILVER)}"
TABLES_OF_SYNTAX = ("syntactic_heads", "attention_trees", "distractors")
CHECKS["collect_syntactic_changes"] = of_treebanks.check_tasks
WITH_MENTIONS = config["coreference"]["source"] == "treebank"
DOCUMENTS = {"documents": "<results>/treebank/documents.jsonl"} if WITH_MENTIONS else {}


rule read_treebank:
    """Read sentences with their dependency trees, and documents with mentions, if these are used."""
    input:
        unpack(treebank_files),
    output:
        **DOCUMENTS,
        treebank="<results>/treebank/treebank.jsonl",
        provenance="<results>/treebank/provenance.json",
    log:
        "<logs>/read_treebank.log",
    benchmark:
        "<benchmarks>/read_treebank.tsv"
    group:
        "syntax"
    conda:
        "../../envs/annotation.yaml"
    resources:
        **ask(resources.treebank),
    params:
        treebank=without(TREEBANK, "probed", "tasks"),
        documents=config["coreference"] if WITH_MENTIONS else None,
    message:
        "Read a treebank"
    script:
        "../../scripts/read_treebank.py"


rule measure_syntax:
    """Measure how often heads find the syntactic heads of words, pre-trained and with random weights."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        model="<results>/models/pretrained",
    output:
        **{name: f"<results>/tables/{name}.csv" for name in TABLES_OF_SYNTAX},
        provenance="<results>/tables/syntactic_heads.provenance.json",
    log:
        "<logs>/measure_syntax.log",
    benchmark:
        "<benchmarks>/measure_syntax.tsv"
    group:
        "syntax"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.syntax, gpu=True),
    params:
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="treebank/seed", within=config),
    message:
        "Compare heads with a treebank"
    script:
        "../../scripts/measure_syntax.py"


figure(
    "syntactic_heads",
    "Which heads follow which syntactic relations.",
    section=SYNTAX,
    label="Syntactic heads (Clark et al. 2019)",
    group="syntax",
    run_label=TREEBANK_LABEL,
    table="<results>/tables/syntactic_heads.csv",
)


figure(
    "attention_trees",
    "How much trees from the attention of every head are like gold trees.",
    section=SYNTAX,
    label="Trees from attention (Htut et al. 2019)",
    group="syntax",
    run_label=TREEBANK_LABEL,
    table="<results>/tables/attention_trees.csv",
)


figure(
    "attention_to_subjects",
    "How much verbs attend to their subjects, beside other nouns, by layer.",
    section=SYNTAX,
    label="Attention to subjects (Lin et al. 2019)",
    group="syntax",
    run_label=TREEBANK_LABEL,
    table="<results>/tables/distractors.csv",
)


RESULTS_OF_RUN += [f"<results>/tables/{name}.csv" for name in TABLES_OF_SYNTAX]


rule measure_syntactic_changes:
    """Measure what fine-tuning on a task changes for the heads that follow syntactic relations."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        table="<results>/syntax/{task}/syntactic_changes.csv",
        provenance="<results>/syntax/{task}/provenance.json",
    log:
        "<logs>/measure_syntactic_changes/{task}.log",
    benchmark:
        "<benchmarks>/measure_syntactic_changes/{task}.tsv"
    group:
        "syntactic_changes"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.syntactic_changes, gpu=True),
    params:
        models=lambda wildcards: measured_models(wildcards.task)[1:-1],
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="treebank/seed", within=config),
    message:
        "Compare heads with a treebank, before and after fine-tuning on {wildcards.task}"
    script:
        "../../scripts/measure_syntactic_changes.py"


collect(
    "collect_syntactic_changes",
    "Gather what fine-tuning changes for syntactic heads, of all tasks.",
    group="features",
    table="syntactic_changes",
    tables=expand("<results>/syntax/{task}/syntactic_changes.csv", task=TREEBANK["tasks"]),
)


figure(
    "syntactic_changes",
    "What fine-tuning changes for the heads that follow syntactic relations.",
    section=SYNTAX,
    label="Fine-tuning and syntactic heads (Htut et al. 2019)",
    group="features",
    run_label=TREEBANK_LABEL,
    of_run=bool(TREEBANK["tasks"]),
    tasks=TREEBANK["tasks"],
    table="<results>/tables/syntactic_changes.csv",
)


if TREEBANK["tasks"]:
    RESULTS_OF_RUN.append("<results>/tables/syntactic_changes.csv")
else:
    TABLES_LEFT_OUT.add("syntactic_changes")


rule probe_attention:
    """Parse by the attention of all heads: train probes on one half of a treebank and score them on the other."""
    input:
        treebank="<results>/treebank/treebank.jsonl",
        model="<results>/models/pretrained",
    output:
        table="<results>/tables/attention_probes.csv",
        provenance="<results>/tables/attention_probes.provenance.json",
    log:
        "<logs>/probe_attention.log",
    benchmark:
        "<benchmarks>/probe_attention.tsv"
    group:
        "probes"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.probes, gpu=True),
    params:
        sentences=lookup(dpath="treebank/probed", within=config),
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="treebank/seed", within=config),
    message:
        "Parse by attention"
    script:
        "../../scripts/probe_attention.py"


figure(
    "attention_probes",
    "How well probes parse by the attention of all heads.",
    section=SYNTAX,
    label="Probes (Clark et al. 2019)",
    group="probes",
    run_label=TREEBANK_LABEL,
    table="<results>/tables/attention_probes.csv",
)


COREFERENCE = "Section 4.2, references and their antecedents"
TABLES_OF_COREFERENCE = ("coreference_heads", "coreference_methods")


rule measure_coreference:
    """Measure how often heads find the antecedents of pronouns and nouns, pre-trained and with random weights."""
    input:
        **(DOCUMENTS or {"words": corpus_files()}),
        model="<results>/models/pretrained",
    output:
        **{name: f"<results>/tables/{name}.csv" for name in TABLES_OF_COREFERENCE},
        provenance="<results>/tables/coreference_heads.provenance.json",
    log:
        "<logs>/measure_coreference.log",
    benchmark:
        "<benchmarks>/measure_coreference.tsv"
    group:
        "coreference"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.coreference, gpu=True),
    params:
        texts=lookup(dpath="coreference/texts", within=config),
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="coreference/seed", within=config),
    message:
        "Resolve pronouns and nouns by attention"
    script:
        "../../scripts/measure_coreference.py"


figure(
    "coreference_heads",
    "How well heads find the antecedents of pronouns and nouns.",
    section=COREFERENCE,
    label="Coreference (Clark et al. 2019)",
    group="coreference",
    run_label=f"{RUN_LABEL} · texts: {of_treebanks.describe_texts(config)}",
    table="<results>/tables/coreference_methods.csv",
    heads="<results>/tables/coreference_heads.csv",
)


RESULTS_OF_RUN += ["<results>/tables/attention_probes.csv"] + [
    f"<results>/tables/{name}.csv" for name in TABLES_OF_COREFERENCE
]
