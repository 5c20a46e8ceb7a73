# Sections 4.4 and 4.5: do heads attend to linguistic features and to related tokens?


from darksecrets.paper.features import annotation
from darksecrets.paper.features.measures import TABLES as MEASURED_TABLES

STRIPES = "Section 4.4, vertical stripes"
TOKENS = "Section 4.5, token to token"
# Checked only if words are to be annotated: other results need no pipeline.
CHECKS["annotate_examples"] = annotation.check
WORDS_ANNOTATED = not config["left_out"]["words"]
MODEL_TABLES = (
    "attention_levels",
    "attention_changes",
    "attention_trends",
    "attention_origins",
    "cosine",
    "last_layers",
)
PAIR_TABLES = ("token_pair_correlations",)


rule annotate_examples:
    """Tag and parse the sampled sentences of a task, once for all models."""
    input:
        dataset="<results>/data/{task}",
        words=files_of_words,
    output:
        annotation="<results>/annotation/{task}.jsonl",
    log:
        "<logs>/annotate_examples/{task}.log",
    benchmark:
        "<benchmarks>/annotate_examples/{task}.tsv"
    group:
        "data"
    conda:
        "../../../envs/annotation.yaml"
    resources:
        **ask("forward"),
    params:
        code=code_of("paper/annotate_examples.py"),
        task=entry_of_task("text"),
        samples=lookup(dpath="samples", within=config),
        annotation=lookup(dpath="annotation", within=config),
    message:
        "Annotate the sentences of {wildcards.task}"
    script:
        "../../../scripts/paper/annotate_examples.py"


rule measure_attention:
    """Measure the maps of a task's models: what heads attend to, their patterns and changes."""
    input:
        stores="<results>/attention/{task}",
        annotation="<results>/annotation/{task}.jsonl",
        classifier=CLASSIFIER,
    output:
        **{name: f"<results>/features/{{task}}/{name}.csv" for name in MEASURED_TABLES},
        cosine="<results>/similarity/{task}/cosine.csv",
        layer_similarity="<results>/similarity/{task}/layer_similarity.csv",
        examples=directory("<results>/features/{task}/examples"),
        patterns=directory("<results>/patterns/{task}"),
    log:
        "<logs>/measure_attention/{task}.log",
    benchmark:
        "<benchmarks>/measure_attention/{task}.tsv"
    group:
        "measuring"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("forward"),
    params:
        code=code_of("paper/measure_attention.py"),
        models=lambda wildcards: measured_models(wildcards.task),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure attention on {wildcards.task}"
    script:
        "../../../scripts/paper/measure_attention.py"


rule compare_attention:
    """Gather what was measured of all tasks and models, and compare models, layers and heads.

    Example by example: levels, changes, trends, origins. Which layers fine-tuning changes most.
    """
    input:
        **{
            name: expand(f"<results>/features/{{task}}/{name}.csv", task=tasks)
            for name in MEASURED_TABLES
            if (tasks := tasks_of(name))
        },
        cosine=per_task("<results>/similarity/{task}/cosine.csv"),
        layer_similarity=per_task("<results>/similarity/{task}/layer_similarity.csv"),
        examples=per_task("<results>/features/{task}/examples"),
    output:
        **{name: table(name) for name in MEASURED_TABLES if tasks_of(name)},
        **{name: table(name) for name in MODEL_TABLES},
        **{name: table(name) for name in PAIR_TABLES if WORDS_ANNOTATED},
    log:
        "<logs>/compare_attention.log",
    benchmark:
        "<benchmarks>/compare_attention.tsv"
    group:
        "features"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("paper/compare_attention.py"),
        models=MEASURED_MODELS,
        draws=9999,
        resamples=1000,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Compare what models attend to"
    script:
        "../../../scripts/paper/compare_attention.py"


add_results(*(name for name in MEASURED_TABLES if tasks_of(name)), *MODEL_TABLES)
add_results(*(name for name in MEASURED_TABLES if not tasks_of(name)), when=False)
add_results(*PAIR_TABLES, when=WORDS_ANNOTATED)


draw(
    "draw_attention",
    figure(
        "figure5",
        "Figure 5: cosine similarity of pre-trained and fine-tuned maps, per head.",
        section=CHANGES,
        label="Figure 5",
        options={"scale": config["figures"]["cosine_scale"]},
        table="<results>/tables/cosine.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "figure5_layers",
        "Figure 5 by layer: mean and spread, beside other heads and another fine-tuning.",
        section=CHANGES,
        label="Figure 5, supplement: layers",
        table="<results>/tables/cosine.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "figure6",
        "Figure 6: how much attention goes to [SEP] and to [CLS], per head.",
        section=STRIPES,
        label="Figure 6",
        table="<results>/tables/stripes.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "stripes_index",
        "Index to the stripes: which features get attention in which task, and how fine-tuning changes it.",
        section=STRIPES,
        label="Stripes: all features",
        left_out=config["left_out"]["words"],
        table="<results>/tables/attention_levels.csv",
        changes="<results>/tables/attention_changes.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "figure7",
        "Figure 7: what [CLS] attends to in the last layer.",
        section=TOKENS,
        label="Figure 7",
        left_out=config["left_out"]["words"],
        table="<results>/tables/cls_attention.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "figure7_controls",
        "Figure 7 minus the attention that random tokens get.",
        section=TOKENS,
        label="Figure 7, supplement: controls",
        left_out=config["left_out"]["words"],
        table="<results>/tables/cls_attention.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "token_pairs",
        "How much heads attend from verbs to subjects, from pronouns to nouns, and vice versa.",
        section=TOKENS,
        label="Token pairs",
        left_out=config["left_out"]["words"],
        table="<results>/tables/token_pairs.csv",
        correlations="<results>/tables/token_pair_correlations.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "head_statistics",
        "What the heads of every layer attend to: neighbouring tokens, special tokens, punctuation.",
        section=STRIPES,
        label="Head statistics (Clark et al. 2019)",
        table="<results>/tables/head_statistics.csv",
        learned="<results>/tables/learned.csv",
    ),
    group="features",
)
