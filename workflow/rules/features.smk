# Sections 4.4, 4.5 and 5: do heads attend to linguistic features and to related tokens?


STRIPES = "Section 4.4, vertical stripes"
TOKENS = "Section 4.5, token to token"
REDUNDANCY = "Section 5, redundancy of heads"
SEVERAL_HEADS = not of_features.has_one_head(config, RESULTS / "models" / "pretrained")
CHECKS["measure_redundancy"] = of_features.check_heads
STRIPES_OF_FEATURES = [f"stripes_{file_name(feature)}" for feature in FEATURES]
# Checked only if sentences are to be parsed: other results need no pipeline.
CHECKS["annotate_examples"] = annotation.check


rule annotate_examples:
    """Tag and parse the sampled sentences of a task, once for all models."""
    input:
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        pipeline=pipeline_files,
    output:
        annotation="<results>/annotation/{task}.jsonl",
        provenance="<results>/annotation/{task}.provenance.json",
    log:
        "<logs>/annotate_examples/{task}.log",
    benchmark:
        "<benchmarks>/annotate_examples/{task}.tsv"
    group:
        "data"
    conda:
        "../../envs/annotation.yaml"
    resources:
        **ask(resources.annotation),
    params:
        task=entry_of_task("text"),
        pipeline=lookup(dpath="annotation/pipeline", within=config),
    message:
        "Annotate the sentences of {wildcards.task}"
    script:
        "../../scripts/annotate_examples.py"


rule measure_attention:
    """Measure what every head of a model attends to, in one pass over its maps."""
    input:
        annotation="<results>/annotation/{task}.jsonl",
        store="<results>/attention/{task}/{model}",
    output:
        **{name: f"<results>/features/{{task}}/{{model}}/{name}.csv" for name in MEASURES},
        examples="<results>/features/{task}/{model}/examples.npz",
        strongest="<results>/features/{task}/{model}/strongest.npz",
        statistics="<results>/features/{task}/{model}/statistics.npz",
        provenance="<results>/features/{task}/{model}/provenance.json",
    log:
        "<logs>/measure_attention/{task}/{model}.log",
    benchmark:
        "<benchmarks>/measure_attention/{task}/{model}.tsv"
    group:
        "attention"
    conda:
        "../../envs/annotation.yaml"
    resources:
        **ask(resources.measuring),
    params:
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure what heads attend to on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/measure_attention.py"


collect(
    "collect_features",
    "Gather one measure of all tasks and models.",
    group="features",
    table="{table}",
    tables=measured,
    choices="|".join(MEASURES),
)
RESULTS_OF_RUN += [f"<results>/tables/{name}.csv" for name in MEASURES if tasks_of(name)]
TABLES_LEFT_OUT |= {name for name in MEASURES if not tasks_of(name)}


rule compare_attention:
    """Compare what models attend to, example by example: levels, changes, trends, origins."""
    input:
        examples=per_task_and_model("<results>/features/{task}/{model}/examples.npz"),
    output:
        levels="<results>/tables/attention_levels.csv",
        changes="<results>/tables/attention_changes.csv",
        trends="<results>/tables/attention_trends.csv",
        origins="<results>/tables/attention_origins.csv",
        provenance="<results>/tables/attention_levels.provenance.json",
    log:
        "<logs>/compare_attention.log",
    benchmark:
        "<benchmarks>/compare_attention.tsv"
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.attention_tables),
    params:
        models=[[task, model] for task in config["tasks"] for model in measured_models(task)],
        draws=9999,
        resamples=1000,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Compare what models attend to"
    script:
        "../../scripts/compare_attention.py"


RESULTS_OF_RUN += rules.compare_attention.output[:4]


figure(
    "figure6",
    "Figure 6: how much attention goes to [SEP] and to [CLS], per head.",
    section=STRIPES,
    label="Figure 6",
    group="features",
    table="<results>/tables/stripes.csv",
)


figure(
    "stripes_index",
    "Index to the stripes: which features get attention in which task, and how fine-tuning changes it.",
    section=STRIPES,
    label="Stripes: all features",
    group="features",
    table="<results>/tables/attention_levels.csv",
    changes="<results>/tables/attention_changes.csv",
)


rule stripes:
    """Supplement to Figure 6: each feature before and after fine-tuning, and compared with its control."""
    input:
        table="<results>/tables/stripes.csv",
    output:
        [
            report(
                f"<results>/figures/stripes_{file_name(feature)}.svg",
                caption="../report/stripes.rst",
                category=STRIPES,
                labels={"result": f"Stripes: {file_name(feature)}"},
            )
            for feature in FEATURES
        ],
        figure_files(*STRIPES_OF_FEATURES, formats=("pdf", "png")),
    log:
        "<logs>/stripes.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        **drawn_by("stripes"),
    message:
        "Draw the stripes of every feature"
    script:
        "../../scripts/figure.py"


RESULTS_OF_RUN += figure_files(*STRIPES_OF_FEATURES)


figure(
    "figure7",
    "Figure 7: what [CLS] attends to in the last layer.",
    section=TOKENS,
    label="Figure 7",
    group="features",
    table="<results>/tables/cls_attention.csv",
)


rule correlate_token_pairs:
    """Correlate attention to related tokens with the diagonal score, over the heads of a model."""
    input:
        pairs="<results>/tables/token_pairs.csv",
    output:
        table="<results>/tables/token_pair_correlations.csv",
        provenance="<results>/tables/token_pair_correlations.provenance.json",
    log:
        "<logs>/correlate_token_pairs.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        draws=9999,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Correlate the attention to related tokens with the diagonal"
    script:
        "../../scripts/correlate_token_pairs.py"


figure(
    "token_pairs",
    "How much heads attend from verbs to subjects, from pronouns to nouns, and vice versa.",
    section=TOKENS,
    label="Token pairs",
    group="features",
    table="<results>/tables/token_pairs.csv",
    correlations="<results>/tables/token_pair_correlations.csv",
)


figure(
    "head_statistics",
    "What the heads of every layer attend to: neighbouring tokens, special tokens, punctuation.",
    section=STRIPES,
    label="Head statistics (Clark et al. 2019)",
    group="features",
    table="<results>/tables/head_statistics.csv",
)


rule classify_heads:
    """Classify heads by what gets most of their attention: neighbours, special tokens, or all tokens."""
    input:
        statistics=per_task_and_model("<results>/features/{task}/{model}/statistics.npz"),
    output:
        types="<results>/tables/head_types.csv",
        counts="<results>/tables/head_type_counts.csv",
        agreement="<results>/tables/head_type_agreement.csv",
        provenance="<results>/tables/head_types.provenance.json",
    log:
        "<logs>/classify_heads.log",
    benchmark:
        "<benchmarks>/classify_heads.tsv"
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.head_types),
    params:
        models=[[task, model] for task in config["tasks"] for model in measured_models(task)],
        resamples=1000,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Classify heads by what gets most of their attention"
    script:
        "../../scripts/classify_heads.py"


RESULTS_OF_RUN += rules.classify_heads.output[:3]


rule measure_redundancy:
    """Measure how far the attention of every two heads is apart, in all models of a task."""
    input:
        stores=measured_stores,
    output:
        distances="<results>/redundancy/{task}/head_distances.parquet",
        examples="<results>/redundancy/{task}/example_distances.csv",
        provenance="<results>/redundancy/{task}/provenance.json",
    log:
        "<logs>/measure_redundancy/{task}.log",
    benchmark:
        "<benchmarks>/measure_redundancy/{task}.tsv"
    group:
        "features"
    conda:
        "../../envs/annotation.yaml"
    resources:
        **ask(resources.redundancy),
    params:
        models=lambda wildcards: measured_models(wildcards.task),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure the distances between heads on {wildcards.task}"
    script:
        "../../scripts/measure_redundancy.py"


rule summarize_redundancy:
    """Summarize how redundant the heads of all models are, and place them in a plane."""
    input:
        distances=per_task("<results>/redundancy/{task}/head_distances.parquet"),
        examples=per_task("<results>/redundancy/{task}/example_distances.csv"),
    output:
        distances="<results>/tables/head_distances.parquet",
        redundancy="<results>/tables/redundancy.csv",
        changes="<results>/tables/redundancy_changes.csv",
        positions="<results>/tables/head_positions.csv",
        provenance="<results>/tables/redundancy.provenance.json",
    log:
        "<logs>/summarize_redundancy.log",
    benchmark:
        "<benchmarks>/summarize_redundancy.tsv"
    group:
        "features"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.redundancy_of_run),
    message:
        "Summarize the distances between heads"
    script:
        "../../scripts/summarize_redundancy.py"


if SEVERAL_HEADS:
    RESULTS_OF_RUN += [
        f"<results>/tables/{name}"
        for name in ("head_distances.parquet", "redundancy.csv", "redundancy_changes.csv")
    ]
else:
    TABLES_LEFT_OUT |= {
        table.name
        for table in (
            *(tables_of_features.HEAD_DISTANCES, tables_of_features.HEAD_POSITIONS),
            *(tables_of_features.REDUNDANCY, tables_of_features.REDUNDANCY_CHANGES),
        )
    }


figure(
    "redundancy",
    "How redundant heads are: their positions in a plane, near if they attend to the same tokens; mean distances.",
    section=REDUNDANCY,
    label="Redundancy of heads (Clark et al. 2019)",
    group="features",
    of_run=SEVERAL_HEADS,
    table="<results>/tables/redundancy.csv",
    positions="<results>/tables/head_positions.csv",
    types="<results>/tables/head_types.csv",
)
