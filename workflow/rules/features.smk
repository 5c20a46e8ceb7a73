# Sections 4.4, 4.5 and 5: do heads look at linguistic features, and at related tokens?

MEASURES = ("stripes", "cls_attention", "token_pairs", "head_statistics", "equal_words")
FEATURES = ("noun", "verb", "pronoun", "subject", "object", "negation", "punctuation", "cls", "sep")


rule annotate_examples:
    """Tag and parse the sampled sentences of a task, once for all models."""
    input:
        code=code("features.annotation"),
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
        **ask("annotate_examples"),
    params:
        pipeline=lookup(dpath="annotation/pipeline", within=config),
    message:
        "Annotate the sentences of {wildcards.task}"
    script:
        "../../scripts/annotate_examples.py"


rule measure_attention:
    """Measure what every head of a model looks at, in one pass over its maps."""
    input:
        code=code("features.measures", "run.tables"),
        annotation="<results>/annotation/{task}.jsonl",
        store="<results>/attention/{task}/{model}",
    output:
        **{name: f"<results>/features/{{task}}/{{model}}/{name}.csv" for name in MEASURES},
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
        **ask("measure_attention"),
    params:
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure what heads look at on {wildcards.task}: {wildcards.model}"
    script:
        "../../scripts/measure_attention.py"


rule collect_features:
    """Gather one of the measures from all tasks and models."""
    input:
        code=code("run.tables"),
        measured=measured,
    output:
        table="<results>/tables/{table}.csv",
        provenance="<results>/tables/{table}.provenance.json",
    log:
        "<logs>/collect_features/{table}.log",
    wildcard_constraints:
        table="|".join(MEASURES),
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    message:
        "Collect {wildcards.table}"
    script:
        "../../scripts/collect_tables.py"


rule figure6:
    """Figure 6: how much attention goes to [SEP] and to [CLS], head by head."""
    input:
        code=code("features.figure6"),
        table="<results>/tables/stripes.csv",
    output:
        svg=report(
            "<results>/figures/figure6.svg",
            caption="../report/figure6.rst",
            category="Section 4.4: vertical stripes",
            labels={"result": "Figure 6"},
        ),
        pdf="<results>/figures/figure6.pdf",
        png="<results>/figures/figure6.png",
    log:
        "<logs>/figure6.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 6"
    script:
        "../../scripts/figure6.py"


rule stripes:
    """Supplement to Figure 6: each feature before and after fine-tuning, and beside its control."""
    input:
        code=code("features.stripes"),
        table="<results>/tables/stripes.csv",
    output:
        **{
            feature: report(
                f"<results>/figures/stripes_{feature}.svg",
                caption="../report/stripes.rst",
                category="Section 4.4: vertical stripes",
                labels={"result": f"Stripes: {feature}"},
            )
            for feature in FEATURES
        },
        pdf=expand("<results>/figures/stripes_{feature}.pdf", feature=FEATURES),
        png=expand("<results>/figures/stripes_{feature}.png", feature=FEATURES),
    log:
        "<logs>/stripes.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        features=FEATURES,
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the stripes of every feature"
    script:
        "../../scripts/stripes.py"


rule figure7:
    """Figure 7: what [CLS] attends to in the last layer."""
    input:
        code=code("features.figure7"),
        table="<results>/tables/cls_attention.csv",
    output:
        svg=report(
            "<results>/figures/figure7.svg",
            caption="../report/figure7.rst",
            category="Section 4.5: token to token",
            labels={"result": "Figure 7"},
        ),
        pdf="<results>/figures/figure7.pdf",
        png="<results>/figures/figure7.png",
    log:
        "<logs>/figure7.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 7"
    script:
        "../../scripts/figure7.py"


rule correlate_token_pairs:
    """Correlate attention to related tokens with the diagonal score, over the heads of a model."""
    input:
        code=code("features.diagonal"),
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
    message:
        "Correlate the attention to related tokens with the diagonal"
    script:
        "../../scripts/correlate_token_pairs.py"


rule token_pairs:
    """How much heads attend from verbs to subjects, from pronouns to nouns, and back."""
    input:
        code=code("features.token_pairs"),
        table="<results>/tables/token_pairs.csv",
        correlations="<results>/tables/token_pair_correlations.csv",
    output:
        svg=report(
            "<results>/figures/token_pairs.svg",
            caption="../report/token_pairs.rst",
            category="Section 4.5: token to token",
            labels={"result": "Token pairs"},
        ),
        pdf="<results>/figures/token_pairs.pdf",
        png="<results>/figures/token_pairs.png",
    log:
        "<logs>/token_pairs.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the token pairs"
    script:
        "../../scripts/token_pairs.py"


rule head_statistics:
    """What the heads of every layer look at: tokens beside, special tokens, punctuation."""
    input:
        code=code("features.head_statistics"),
        table="<results>/tables/head_statistics.csv",
    output:
        svg=report(
            "<results>/figures/head_statistics.svg",
            caption="../report/head_statistics.rst",
            category="Section 4.4: vertical stripes",
            labels={"result": "Head statistics (Clark et al. 2019)"},
        ),
        pdf="<results>/figures/head_statistics.pdf",
        png="<results>/figures/head_statistics.png",
    log:
        "<logs>/head_statistics.log",
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the statistics of heads"
    script:
        "../../scripts/head_statistics.py"


RESULTS_OF_RUN += figure_files("figure6", "figure7", "token_pairs", "head_statistics")
RESULTS_OF_RUN += figure_files(*(f"stripes_{feature}" for feature in FEATURES))
if HAS_PAIRS:
    RESULTS_OF_RUN.append("<results>/tables/equal_words.csv")
