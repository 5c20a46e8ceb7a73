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


rule draw_attention:
    """Draw what fine-tuning changes (Figure 5), special tokens (Figure 6), and what heads attend to."""
    input:
        figure5="<results>/tables/cosine.csv",
        figure5_layers="<results>/tables/cosine.csv",
        figure6="<results>/tables/stripes.csv",
        head_statistics="<results>/tables/head_statistics.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/figure5.svg",
            caption="../../report/figure5.rst",
            category=CHANGES,
            labels={"result": "Figure 5"},
        ),
        multiext("<results>/figures/figure5", ".pdf", ".png"),
        report(
            "<results>/figures/figure5_layers.svg",
            caption="../../report/figure5_layers.rst",
            category=CHANGES,
            labels={"result": "Figure 5, supplement: layers"},
        ),
        multiext("<results>/figures/figure5_layers", ".pdf", ".png"),
        report(
            "<results>/figures/figure6.svg",
            caption="../../report/figure6.rst",
            category=STRIPES,
            labels={"result": "Figure 6"},
        ),
        multiext("<results>/figures/figure6", ".pdf", ".png"),
        report(
            "<results>/figures/head_statistics.svg",
            caption="../../report/head_statistics.rst",
            category=STRIPES,
            labels={"result": "Head statistics (Clark et al. 2019)"},
        ),
        multiext("<results>/figures/head_statistics", ".pdf", ".png"),
    log:
        "<logs>/draw_attention.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("figure5", "figure5_layers", "figure6", "head_statistics"),
        code=code_of("paper/draw_attention.py"),
        metrics=METRICS_OF_TASKS,
        options={"scale": config["figures"]["cosine_scale"]},
    message:
        "Draw figure5, figure5_layers, figure6, head_statistics"
    script:
        "../../../scripts/paper/draw_attention.py"


rule figure5:
    """Figure 5: cosine similarity of pre-trained and fine-tuned maps, per head."""
    input:
        multiext("<results>/figures/figure5", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure5"


rule figure5_layers:
    """Figure 5 by layer: mean and spread, beside other heads and another fine-tuning."""
    input:
        multiext("<results>/figures/figure5_layers", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure5_layers"


rule figure6:
    """Figure 6: how much attention goes to [SEP] and to [CLS], per head."""
    input:
        multiext("<results>/figures/figure6", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure6"


rule head_statistics:
    """What the heads of every layer attend to: neighbouring tokens, special tokens, punctuation."""
    input:
        multiext("<results>/figures/head_statistics", ".svg", ".pdf", ".png"),
    message:
        "Finished: head_statistics"


rule draw_words:
    """Draw what needs words: all features, what [CLS] attends to (Figure 7), and pairs of words."""
    input:
        stripes_index=[
            "<results>/tables/attention_levels.csv",
            "<results>/tables/attention_changes.csv",
        ],
        figure7="<results>/tables/cls_attention.csv",
        figure7_controls="<results>/tables/cls_attention.csv",
        token_pairs=[
            "<results>/tables/token_pairs.csv",
            "<results>/tables/token_pair_correlations.csv",
        ],
        unless=refusal(config["left_out"]["words"]),
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/stripes_index.svg",
            caption="../../report/stripes_index.rst",
            category=STRIPES,
            labels={"result": "Stripes: all features"},
        ),
        multiext("<results>/figures/stripes_index", ".pdf", ".png"),
        report(
            "<results>/figures/figure7.svg",
            caption="../../report/figure7.rst",
            category=TOKENS,
            labels={"result": "Figure 7"},
        ),
        multiext("<results>/figures/figure7", ".pdf", ".png"),
        report(
            "<results>/figures/figure7_controls.svg",
            caption="../../report/figure7_controls.rst",
            category=TOKENS,
            labels={"result": "Figure 7, supplement: controls"},
        ),
        multiext("<results>/figures/figure7_controls", ".pdf", ".png"),
        report(
            "<results>/figures/token_pairs.svg",
            caption="../../report/token_pairs.rst",
            category=TOKENS,
            labels={"result": "Token pairs"},
        ),
        multiext("<results>/figures/token_pairs", ".pdf", ".png"),
    log:
        "<logs>/draw_words.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("stripes_index", "figure7", "figure7_controls", "token_pairs"),
        code=code_of("paper/draw_attention.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw stripes_index, figure7, figure7_controls, token_pairs"
    script:
        "../../../scripts/paper/draw_attention.py"


rule stripes_index:
    """Index to the stripes: which features get attention in which task, and how fine-tuning changes it."""
    input:
        multiext("<results>/figures/stripes_index", ".svg", ".pdf", ".png"),
    message:
        "Finished: stripes_index"


rule figure7:
    """Figure 7: what [CLS] attends to in the last layer."""
    input:
        multiext("<results>/figures/figure7", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure7"


rule figure7_controls:
    """Figure 7 minus the attention that random tokens get."""
    input:
        multiext("<results>/figures/figure7_controls", ".svg", ".pdf", ".png"),
    message:
        "Finished: figure7_controls"


rule token_pairs:
    """How much heads attend from verbs to subjects, from pronouns to nouns, and vice versa."""
    input:
        multiext("<results>/figures/token_pairs", ".svg", ".pdf", ".png"),
    message:
        "Finished: token_pairs"


RESULTS_OF[analyses.PAPER] += [
    *tables(*MODEL_TABLES, *filter(tasks_of, MEASURED_TABLES)),
    *figures("figure5", "figure5_layers", "figure6", "head_statistics"),
]
if WORDS_ANNOTATED:
    RESULTS_OF[analyses.PAPER] += [
        *tables(*PAIR_TABLES),
        *figures("stripes_index", "figure7", "figure7_controls", "token_pairs"),
    ]
