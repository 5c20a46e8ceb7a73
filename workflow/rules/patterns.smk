# Section 4.1: which patterns do the heads show?


rule sample_maps:
    """Draw the maps to label: every task, layer and head of the fine-tuned models equally often."""
    input:
        code=code("patterns.sampling"),
        stores=per_task(f"<results>/attention/{{task}}/finetuned/seed-{config['seeds'][0]}"),
    output:
        maps=directory("<results>/patterns/maps"),
    log:
        "<logs>/sample_maps.log",
    benchmark:
        "<benchmarks>/sample_maps.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask("sample_maps"),
    params:
        tasks=lookup(dpath="tasks", within=config),
        model_seed=config["seeds"][0],
        size=lookup(dpath="patterns/label_maps/size", within=config),
        seed=lookup(dpath="patterns/label_maps/seed", within=config),
        model=configuration.describe_model(config),
        prefix=lookup(dpath="run", within=config),
    message:
        "Draw {params.size} maps to label"
    script:
        "../../scripts/sample_maps.py"


rule cross_validate_patterns:
    """Find out how far to trust the classifier: every labelled map is classified by one that never saw its example."""
    input:
        code=code("patterns.crossvalidation", "patterns.quality"),
        labelled=labelled_files(),
    output:
        predictions="<results>/tables/pattern_predictions.csv",
        scores="<results>/tables/pattern_cv.csv",
        provenance="<results>/tables/pattern_cv.provenance.json",
    log:
        "<logs>/cross_validate_patterns.log",
    benchmark:
        "<benchmarks>/cross_validate_patterns.tsv"
    group:
        "classifier"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("cross_validate_patterns"),
    params:
        patterns=lookup(dpath="patterns", within=config),
    message:
        "Cross-validate the classifier of patterns"
    script:
        "../../scripts/cross_validate_patterns.py"


rule train_pattern_classifier:
    """Train the classifier on all labelled maps; its probabilities are calibrated by the cross-validation."""
    input:
        code=code("patterns.crossvalidation"),
        labelled=labelled_files(),
        predictions="<results>/tables/pattern_predictions.csv",
    output:
        classifier=directory("<results>/patterns/classifier"),
    log:
        "<logs>/train_pattern_classifier.log",
    benchmark:
        "<benchmarks>/train_pattern_classifier.tsv"
    group:
        "classifier"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("train_pattern_classifier"),
    params:
        patterns=lookup(dpath="patterns", within=config),
    message:
        "Train the classifier of patterns"
    script:
        "../../scripts/train_pattern_classifier.py"


rule classify_maps:
    """Give every map of one model on one task its pattern."""
    input:
        code=code("patterns.classification", "run.tables"),
        classifier="<results>/patterns/classifier",
        store="<results>/attention/{task}/{model}",
    output:
        maps="<results>/patterns/{task}/{model}.parquet",
        provenance="<results>/patterns/{task}/{model}.provenance.json",
    log:
        "<logs>/classify_maps/{task}/{model}.log",
    benchmark:
        "<benchmarks>/classify_maps/{task}/{model}.tsv"
    group:
        "attention"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("classify_maps"),
    message:
        "Classify the attention maps on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/classify_maps.py"


rule estimate_pattern_shares:
    """Count the patterns of every model and task, and correct the shares for the classifier's confusions: the numbers of Figure 2."""
    input:
        code=code("patterns.shares", "run.tables"),
        maps=pattern_maps(),
        predictions="<results>/tables/pattern_predictions.csv",
    output:
        shares="<results>/tables/patterns.csv",
        heads="<results>/tables/pattern_heads.csv",
        provenance="<results>/tables/patterns.provenance.json",
    log:
        "<logs>/estimate_pattern_shares.log",
    benchmark:
        "<benchmarks>/estimate_pattern_shares.tsv"
    group:
        "patterns"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask("estimate_pattern_shares"),
    params:
        patterns=lookup(dpath="patterns", within=config),
        model=configuration.describe_model(config),
    message:
        "Estimate the shares of patterns"
    script:
        "../../scripts/estimate_pattern_shares.py"


rule collect_pattern_maps:
    """Gather the patterns of all maps: millions of rows, hence Parquet, a row group per model."""
    input:
        code=code("run.tables"),
        maps=pattern_maps(),
    output:
        table="<results>/tables/pattern_maps.parquet",
        provenance="<results>/tables/pattern_maps.provenance.json",
    log:
        "<logs>/collect_pattern_maps.log",
    group:
        "patterns"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect the patterns of all maps"
    script:
        "../../scripts/collect_tables.py"


rule typical_maps:
    """Choose the labelled map of every pattern that annotators and classifier are surest of."""
    input:
        code=code("patterns.typical", "patterns.quality"),
        labelled=labelled_files(),
        predictions="<results>/tables/pattern_predictions.csv",
    output:
        table="<results>/tables/typical_maps.csv",
        maps="<results>/tables/typical_maps.npz",
        provenance="<results>/tables/typical_maps.provenance.json",
    log:
        "<logs>/typical_maps.log",
    group:
        "examples"
    conda:
        "../../envs/model.yaml"
    params:
        annotations=lookup(dpath="patterns/annotations", within=config),
    message:
        "Choose a typical map of every pattern"
    script:
        "../../scripts/typical_maps.py"


rule figure1:
    """Figure 1: a typical map of every pattern, with its tokens."""
    input:
        code=code("patterns.figure1", "patterns.typical"),
        table="<results>/tables/typical_maps.csv",
        maps="<results>/tables/typical_maps.npz",
    output:
        svg=report(
            "<results>/figures/figure1.svg",
            caption="../report/figure1.rst",
            category="Section 4.1: patterns of self-attention",
            labels={"result": "Figure 1"},
        ),
        pdf="<results>/figures/figure1.pdf",
        png="<results>/figures/figure1.png",
    log:
        "<logs>/figure1.log",
    group:
        "examples"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
    message:
        "Draw Figure 1"
    script:
        "../../scripts/figure1.py"


rule figure2:
    """Figure 2: shares of the patterns per task, before and after fine-tuning."""
    input:
        code=code("patterns.figure2"),
        table="<results>/tables/patterns.csv",
        scores="<results>/tables/pattern_cv.csv",
        published=shipped("paper/pattern_shares_prasanna2020.csv"),
    output:
        svg=report(
            "<results>/figures/figure2.svg",
            caption="../report/figure2.rst",
            category="Section 4.1: patterns of self-attention",
            labels={"result": "Figure 2"},
        ),
        pdf="<results>/figures/figure2.pdf",
        png="<results>/figures/figure2.png",
    log:
        "<logs>/figure2.log",
    group:
        "patterns"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
        paper=configuration.is_paper_run(config),
    message:
        "Draw Figure 2"
    script:
        "../../scripts/figure2.py"


rule pattern_heads:
    """The commonest pattern of every head, before and after fine-tuning."""
    input:
        code=code("patterns.pattern_heads"),
        table="<results>/tables/pattern_heads.csv",
    output:
        svg=report(
            "<results>/figures/pattern_heads.svg",
            caption="../report/pattern_heads.rst",
            category="Section 4.1: patterns of self-attention",
            labels={"result": "Pattern of every head"},
        ),
        pdf="<results>/figures/pattern_heads.pdf",
        png="<results>/figures/pattern_heads.png",
    log:
        "<logs>/pattern_heads.log",
    group:
        "patterns"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the commonest pattern of every head"
    script:
        "../../scripts/pattern_heads.py"


rule pattern_quality:
    """What the classifier confuses, and how sure it may be."""
    input:
        code=code("patterns.pattern_quality"),
        table="<results>/tables/pattern_predictions.csv",
        scores="<results>/tables/pattern_cv.csv",
    output:
        svg=report(
            "<results>/figures/pattern_quality.svg",
            caption="../report/pattern_quality.rst",
            category="Section 4.1: patterns of self-attention",
            labels={"result": "Quality of the classifier"},
        ),
        pdf="<results>/figures/pattern_quality.pdf",
        png="<results>/figures/pattern_quality.png",
    log:
        "<logs>/pattern_quality.log",
    group:
        "classifier"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
    message:
        "Draw the quality of the classifier"
    script:
        "../../scripts/pattern_quality.py"


RESULTS_OF_RUN += [
    *figure_files("figure1", "figure2", "pattern_heads", "pattern_quality"),
    "<results>/tables/pattern_maps.parquet",
]
