# Sections 4.2, 4.4, 4.5 and 5, further: the same analyses by norms and by effective attention.


from darksecrets.core.run import columns

ALTERNATIVES = "Sections 4.2 to 5, alternative attention measures"
OTHER_MEASURES = [
    name
    for name in columns.MEASURES
    if name in config["attention_measures"]["measures"]
    and not config["left_out"]["values"]
    and not config["left_out"]["words"]
]
for each in ("measure_alternatives", "measure_linked_alternatives", "compare_alternatives"):
    CHECKS[each] = partial(norms_checks.check_run, left_out=config["left_out"]["values"])


rule measure_alternatives:
    """Measure what every head of a task's models attends to, by norms and by effective attention.

    Models run once on the sampled examples; their maps are never stored.
    """
    input:
        dataset="<results>/data/{task}",
        annotation=annotation_with_words,
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        pairs="<results>/attention_measures/{task}/token_pairs.csv",
        controls="<results>/attention_measures/{task}/equal_word_controls.csv",
        examples=directory("<results>/attention_measures/{task}/examples"),
    log:
        "<logs>/measure_alternatives/{task}.log",
    benchmark:
        "<benchmarks>/measure_alternatives/{task}.tsv"
    group:
        "attention_measures"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_alternatives.py"),
        samples=lookup(dpath="samples", within=config),
        models=lambda wildcards: measured_models(wildcards.task),
        measures=OTHER_MEASURES,
        reading=READING,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure norms and effective attention on {wildcards.task}"
    script:
        "../../../scripts/beyond/measure_alternatives.py"


rule measure_linked_alternatives:
    """Measure every head along frame-semantic links by norms and by effective attention."""
    input:
        links="<results>/tables/framenet_links.csv",
        model="<results>/models/pretrained",
    output:
        heads="<results>/linked_measures/framenet_heads.csv",
        controls="<results>/linked_measures/framenet_controls.csv",
    log:
        "<logs>/measure_linked_alternatives.log",
    benchmark:
        "<benchmarks>/measure_linked_alternatives.tsv"
    group:
        "linked_alternatives"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/measure_linked_alternatives.py"),
        models=["pretrained", RANDOM_MODEL],
        measures=OTHER_MEASURES,
        reading=READING,
        draws=lookup(dpath="framenet/draws", within=config),
        seed=lookup(dpath="framenet/seed", within=config),
    message:
        "Measure norms and effective attention along frame-semantic links"
    script:
        "../../../scripts/beyond/measure_linked_alternatives.py"


rule draw_attention_measures:
    """Draw attention to special tokens by several measures."""
    input:
        stripes_by_measure="<results>/tables/attention_levels_by_measure.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/stripes_by_measure.svg",
            caption="../../report/stripes_by_measure.rst",
            category=ALTERNATIVES,
            labels={"result": "Stripes by measure"},
        ),
        multiext("<results>/figures/stripes_by_measure", ".pdf", ".png"),
    log:
        "<logs>/draw_attention_measures.log",
    group:
        "claims"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("stripes_by_measure"),
        code=code_of("beyond/draw_attention_measures.py"),
        metrics=METRICS_OF_TASKS,
    message:
        "Draw stripes_by_measure"
    script:
        "../../../scripts/beyond/draw_attention_measures.py"


rule stripes_by_measure:
    """How much heads attend to [CLS] and [SEP], by weights, norms and effective attention."""
    input:
        multiext("<results>/figures/stripes_by_measure", ".svg", ".pdf", ".png"),
    message:
        "Finished: stripes_by_measure"


if OTHER_MEASURES:
    RESULTS_OF["attention_measures"] += [
        *tables("attention_levels_by_measure", "claims_by_measure"),
        *figures("stripes_by_measure"),
    ]
