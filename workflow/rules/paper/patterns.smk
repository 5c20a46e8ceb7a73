# Section 4.1: which patterns do the heads show?


from darksecrets.paper.patterns.network import trained

PATTERNS = "Section 4.1, patterns of self-attention"


rule sample_maps:
    """Sample the maps to label: every task, layer and head of the fine-tuned models equally often."""
    input:
        stores=per_task("<results>/attention/{task}"),
    output:
        maps=directory("<results>/patterns/maps"),
    log:
        "<logs>/sample_maps.log",
    benchmark:
        "<benchmarks>/sample_maps.tsv"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/sample_maps.py"),
        seeds={task: entry["seeds"][0] for task, entry in config["tasks"].items()},
        size=lookup(dpath="patterns/label_maps/size", within=config),
        seed=lookup(dpath="patterns/label_maps/seed", within=config),
        model=origins.describe_model(config),
    message:
        "Draw {params.size} maps to label"
    script:
        "../../../scripts/paper/sample_maps.py"


# What the classifier is trained with; the bootstrap of its scores is a rule of its own.
TRAINING = trained.training_settings(config["patterns"])


# The trained classifier that ships with the project was made by the two rules here, from the labelled maps that ship
# with it.
SHIPS = config["patterns"]["training"] == "auto" and trained.serves(config["patterns"])
CLASSIFIER = shipped("patterns/classifier") if SHIPS else "<results>/patterns/classifier"
PREDICTIONS = (
    shipped("patterns/pattern_predictions.csv")
    if SHIPS
    else "<results>/tables/pattern_predictions.csv"
)
if not SHIPS:

    rule cross_validate_patterns:
        """Cross-validate the classifier: each labelled map is classified by a network not trained on its example."""
        input:
            labelled=labelled_files(),
        output:
            predictions=table("pattern_predictions"),
        log:
            "<logs>/cross_validate_patterns.log",
        benchmark:
            "<benchmarks>/cross_validate_patterns.tsv"
        group:
            "classifier"
        conda:
            "../../../envs/model.yaml"
        threads: config["threads"]
        resources:
            **ask("tables"),
        params:
            code=code_of("paper/cross_validate_patterns.py"),
            training=TRAINING,
        message:
            "Cross-validate the classifier of patterns"
        script:
            "../../../scripts/paper/cross_validate_patterns.py"

    rule train_pattern_classifier:
        """Train the classifier on all labelled maps; calibrate its probabilities with the cross-validation."""
        input:
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
            "../../../envs/model.yaml"
        threads: config["threads"]
        resources:
            **ask("tables"),
        params:
            code=code_of("paper/train_pattern_classifier.py"),
            training=TRAINING,
        message:
            "Train the classifier of patterns"
        script:
            "../../../scripts/paper/train_pattern_classifier.py"


rule score_pattern_classifier:
    """Score the cross-validated predictions, with intervals over examples."""
    input:
        predictions=PREDICTIONS,
    output:
        **({"pattern_predictions": table("pattern_predictions")} if SHIPS else {}),
        scores=table("pattern_cv"),
    log:
        "<logs>/score_pattern_classifier.log",
    group:
        "classifier"
    conda:
        "../../../envs/model.yaml"
    params:
        code=code_of("paper/score_pattern_classifier.py"),
        resamples=lookup(dpath="patterns/resamples", within=config),
        seed=lookup(dpath="patterns/seed", within=config),
    message:
        "Score the classifier of patterns"
    script:
        "../../../scripts/paper/score_pattern_classifier.py"


rule compare_patterns:
    """Count the patterns of all maps, with intervals as wide as errors on unseen encoders: the numbers of Figure 2.

    Also the patterns of the same heads on other tasks and with other seeds. All maps are millions of rows, hence
    Parquet.
    """
    input:
        maps=per_task("<results>/patterns/{task}"),
        predictions=PREDICTIONS,
    output:
        patterns=table("patterns"),
        pattern_heads=table("pattern_heads"),
        pattern_agreement=table("pattern_agreement"),
        pattern_maps="<results>/tables/pattern_maps.parquet",
    log:
        "<logs>/compare_patterns.log",
    benchmark:
        "<benchmarks>/compare_patterns.tsv"
    group:
        "patterns"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/compare_patterns.py"),
        models=MEASURED_MODELS,
        resamples=lookup(dpath="patterns/resamples", within=config),
        seed=lookup(dpath="patterns/seed", within=config),
    message:
        "Compare the patterns of heads"
    script:
        "../../../scripts/paper/compare_patterns.py"


rule choose_typical_maps:
    """Choose a map of every pattern: of all that are drawn, the one that the network is most certain of (Figure 1)."""
    input:
        patterns=per_task("<results>/patterns/{task}"),
        stores=per_task("<results>/attention/{task}"),
        learned="<results>/tables/learned.csv",
    output:
        table=table("typical_maps"),
        maps="<results>/tables/typical_maps.npz",
    log:
        "<logs>/choose_typical_maps.log",
    group:
        "patterns"
    conda:
        "../../../envs/model.yaml"
    params:
        code=code_of("paper/choose_typical_maps.py"),
        models=MEASURED_MODELS,
    message:
        "Choose a typical map of each pattern"
    script:
        "../../../scripts/paper/choose_typical_maps.py"


rule draw_patterns:
    """Draw a map of each pattern (Figure 1), their shares (Figure 2), by both definitions, and the pattern of every head."""
    input:
        figure1="<results>/tables/typical_maps.csv",
        maps="<results>/tables/typical_maps.npz",
        figure2="<results>/tables/patterns.csv",
        figure2_definitions="<results>/tables/patterns.csv",
        pattern_heads="<results>/tables/pattern_heads.csv",
        published=shipped("paper/pattern_shares_prasanna2020.csv") if PAPER else [],
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/figure1.svg",
            caption="../../report/figure1.rst",
            category=PATTERNS,
            labels={"result": "Figure 1"},
        ),
        multiext("<results>/figures/figure1", ".pdf", ".png"),
        report(
            "<results>/figures/figure2.svg",
            caption="../../report/figure2.rst",
            category=PATTERNS,
            labels={"result": "Figure 2"},
        ),
        multiext("<results>/figures/figure2", ".pdf", ".png"),
        report(
            "<results>/figures/figure2_definitions.svg",
            caption="../../report/figure2_definitions.rst",
            category=PATTERNS,
            labels={"result": "Figure 2, supplement: both definitions"},
        ),
        multiext("<results>/figures/figure2_definitions", ".pdf", ".png"),
        report(
            "<results>/figures/pattern_heads.svg",
            caption="../../report/pattern_heads.rst",
            category=PATTERNS,
            labels={"result": "Pattern of every head"},
        ),
        multiext("<results>/figures/pattern_heads", ".pdf", ".png"),
    log:
        "<logs>/draw_patterns.log",
    group:
        "patterns"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("figure1", "figure2", "figure2_definitions", "pattern_heads"),
        code=code_of("paper/draw_patterns.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw figure1, figure2, figure2_definitions, pattern_heads"
    script:
        "../../../scripts/paper/draw_patterns.py"


rule figure1:
    """Figure 1: a map of every pattern, with its tokens."""
    input:
        multiext("<results>/figures/figure1", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure1"


rule figure2:
    """Figure 2: shares of the patterns per task, before and after fine-tuning."""
    input:
        multiext("<results>/figures/figure2", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure2"


rule figure2_definitions:
    """Figure 2 by both definitions, with intervals as wide as errors on unseen encoders."""
    input:
        multiext("<results>/figures/figure2_definitions", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure2_definitions"


rule pattern_heads:
    """The commonest pattern of every head, before and after fine-tuning."""
    input:
        multiext("<results>/figures/pattern_heads", ".svg", ".pdf", ".png"),
    message:
        "Finished: pattern_heads"


rule draw_classifier:
    """Draw the quality of the classification."""
    input:
        pattern_quality=[
            "<results>/tables/pattern_predictions.csv",
            "<results>/tables/pattern_cv.csv",
        ],
    output:
        report(
            "<results>/figures/pattern_quality.svg",
            caption="../../report/pattern_quality.rst",
            category=PATTERNS,
            labels={"result": "Quality of the classifier"},
        ),
        multiext("<results>/figures/pattern_quality", ".pdf", ".png"),
    log:
        "<logs>/draw_classifier.log",
    group:
        "classifier"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("pattern_quality"),
        code=code_of("paper/draw_classifier.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw pattern_quality"
    script:
        "../../../scripts/paper/draw_classifier.py"


rule pattern_quality:
    """How well patterns are classified on encoders left out, and what is confused."""
    input:
        multiext("<results>/figures/pattern_quality", ".svg", ".pdf", ".png"),
    message:
        "Finished: pattern_quality"


RESULTS_OF[analyses.PAPER] += [
    *tables(
        "patterns",
        "pattern_heads",
        "pattern_agreement",
        "pattern_maps",
        "pattern_predictions",
        "pattern_cv",
        "typical_maps",
    ),
    *figures("figure1", "figure2", "figure2_definitions", "pattern_heads", "pattern_quality"),
]
