# Section 4.1: which patterns do the heads show?


PATTERNS = "Section 4.1, patterns of self-attention"


rule sample_maps:
    """Sample the maps to label: every task, layer and head of the fine-tuned models equally often."""
    input:
        stores=[
            f"<results>/attention/{task}/finetuned/seed-{entry['seeds'][0]}"
            for task, entry in config["tasks"].items()
        ],
    output:
        maps=directory("<results>/patterns/maps"),
    log:
        "<logs>/sample_maps.log",
    benchmark:
        "<benchmarks>/sample_maps.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.LABELLING),
    params:
        seeds={task: entry["seeds"][0] for task, entry in config["tasks"].items()},
        size=lookup(dpath="patterns/label_maps/size", within=config),
        seed=lookup(dpath="patterns/label_maps/seed", within=config),
        model=configuration.describe_model(config),
    message:
        "Draw {params.size} maps to label"
    script:
        "../../scripts/sample_maps.py"


# What the classifier is trained with; the bootstrap of its scores is a rule of its own.
TRAINING = trained.training_settings(config["patterns"])


if config["patterns"]["training"] == "auto" and trained.serves(config["patterns"]):

    rule get_pattern_classifier:
        """Take the trained classifier that ships with the project, and its cross-validation.

        It was made by the two rules below, from the labelled maps that ship with the project.
        """
        input:
            classifier=shipped("patterns/classifier"),
            predictions=shipped("patterns/pattern_predictions.csv"),
        output:
            classifier=directory("<results>/patterns/classifier"),
            predictions="<results>/tables/pattern_predictions.csv",
            provenance="<results>/tables/pattern_predictions.provenance.json",
        log:
            "<logs>/get_pattern_classifier.log",
        group:
            "classifier"
        conda:
            "../../envs/model.yaml"
        message:
            "Get the classifier of patterns that ships with the project"
        script:
            "../../scripts/get_pattern_classifier.py"

else:

    rule cross_validate_patterns:
        """Cross-validate the classifier: each labelled map is classified by a model not trained on its example."""
        input:
            labelled=labelled_files(),
        output:
            predictions="<results>/tables/pattern_predictions.csv",
            provenance="<results>/tables/pattern_predictions.provenance.json",
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
            **ask(resources.cross_validation),
        params:
            training=TRAINING,
        message:
            "Cross-validate the classifier of patterns"
        script:
            "../../scripts/cross_validate_patterns.py"

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
            "../../envs/model.yaml"
        threads: config["threads"]
        resources:
            **ask(resources.classifier_training),
        params:
            training=TRAINING,
        message:
            "Train the classifier of patterns"
        script:
            "../../scripts/train_pattern_classifier.py"


rule score_pattern_classifier:
    """Score the cross-validated predictions, with intervals over examples."""
    input:
        predictions="<results>/tables/pattern_predictions.csv",
    output:
        scores="<results>/tables/pattern_cv.csv",
        provenance="<results>/tables/pattern_cv.provenance.json",
    log:
        "<logs>/score_pattern_classifier.log",
    group:
        "classifier"
    conda:
        "../../envs/figures.yaml"
    params:
        resamples=lookup(dpath="patterns/resamples", within=config),
        seed=lookup(dpath="patterns/seed", within=config),
    message:
        "Score the classifier of patterns"
    script:
        "../../scripts/score_pattern_classifier.py"


rule classify_maps:
    """Classify the pattern of every map of one model on one task."""
    input:
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
        **ask(resources.classification, gpu=True),
    message:
        "Classify the attention maps on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/classify_maps.py"


rule estimate_pattern_shares:
    """Count the patterns of every model and task, and correct the shares for the classifier's confusions: the numbers of Figure 2."""
    input:
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
        **ask(resources.shares),
    params:
        resamples=lookup(dpath="patterns/resamples", within=config),
        seed=lookup(dpath="patterns/seed", within=config),
        model=configuration.describe_model(config),
    message:
        "Estimate the shares of patterns"
    script:
        "../../scripts/estimate_pattern_shares.py"


rule count_stripe_tokens:
    """Count which tokens the stripes are, in the maps that are classified as having columns."""
    input:
        maps=pattern_maps(),
        strongest=per_task_and_model("<results>/features/{task}/{model}/strongest.npz"),
    output:
        table="<results>/tables/stripe_tokens.csv",
        provenance="<results>/tables/stripe_tokens.provenance.json",
    log:
        "<logs>/count_stripe_tokens.log",
    benchmark:
        "<benchmarks>/count_stripe_tokens.tsv"
    group:
        "patterns"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.shares),
    message:
        "Count which tokens the stripes of maps are"
    script:
        "../../scripts/count_stripe_tokens.py"


rule compare_patterns:
    """Compare the patterns of the same heads on other tasks, and with other fine-tuning seeds."""
    input:
        heads="<results>/tables/pattern_heads.csv",
    output:
        table="<results>/tables/pattern_agreement.csv",
        provenance="<results>/tables/pattern_agreement.provenance.json",
    log:
        "<logs>/compare_patterns.log",
    group:
        "patterns"
    conda:
        "../../envs/figures.yaml"
    params:
        resamples=lookup(dpath="patterns/resamples", within=config),
        seed=lookup(dpath="patterns/seed", within=config),
    message:
        "Compare the patterns of heads between tasks and seeds"
    script:
        "../../scripts/compare_patterns.py"


rule collect_pattern_maps:
    """Gather the patterns of all maps: millions of rows, hence Parquet, a row group per model."""
    input:
        tables=pattern_maps(),
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
    """Choose the labelled map of every pattern on which annotators agree and the classifier is most certain."""
    input:
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


figure(
    "figure1",
    "Figure 1: a typical map of every pattern, with its tokens.",
    section=PATTERNS,
    label="Figure 1",
    group="examples",
    table="<results>/tables/typical_maps.csv",
    maps="<results>/tables/typical_maps.npz",
)


figure(
    "figure2",
    "Figure 2: shares of the patterns per task, before and after fine-tuning.",
    section=PATTERNS,
    label="Figure 2",
    group="patterns",
    table="<results>/tables/patterns.csv",
    scores="<results>/tables/pattern_cv.csv",
    published=shipped("paper/pattern_shares_prasanna2020.csv") if PAPER else [],
)


figure(
    "pattern_heads",
    "The commonest pattern of every head, before and after fine-tuning.",
    section=PATTERNS,
    label="Pattern of every head",
    group="patterns",
    table="<results>/tables/pattern_heads.csv",
)


figure(
    "stripe_tokens",
    "Which token the stripe is, in maps that are classified as having columns.",
    section=PATTERNS,
    label="Token of the stripe",
    group="patterns",
    table="<results>/tables/stripe_tokens.csv",
)


figure(
    "pattern_quality",
    "What the classifier confuses, and how well its probabilities are calibrated.",
    section=PATTERNS,
    label="Quality of the classifier",
    group="classifier",
    table="<results>/tables/pattern_predictions.csv",
    scores="<results>/tables/pattern_cv.csv",
)


RESULTS_OF_RUN += [
    "<results>/tables/pattern_maps.parquet",
    "<results>/tables/pattern_agreement.csv",
]
