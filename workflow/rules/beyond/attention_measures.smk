# Sections 4.2, 4.4, 4.5 and 5, further: the same analyses by norms and by effective attention.


from darksecrets.beyond.attention_measures import declared as tables_of_alternatives
from darksecrets.pages.claims import measures as measures_of_claims
from darksecrets.core.run import columns
from darksecrets.core.run.columns import table_of_weights

ALTERNATIVES = "Sections 4.2 to 5, alternative attention measures"
OTHER_MEASURES = [
    name
    for name in columns.MEASURES
    if name in config["attention_measures"]["measures"]
    and not config["left_out"]["values"]
    and not config["left_out"]["words"]
]
MEASURED_AGAIN = [name for name in MEASURED_TABLES if tasks_of(name)]
MODELS_COMPARED_AGAIN = [table_of_weights(table) for table in tables_of_alternatives.OF_MODELS]
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
        **{name: f"<results>/attention_measures/{{task}}/{name}.csv" for name in MEASURED_TABLES},
        examples=directory("<results>/attention_measures/{task}/examples"),
    log:
        "<logs>/measure_alternatives/{task}.log",
    benchmark:
        "<benchmarks>/measure_alternatives/{task}.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
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
        heads="<results>/tables/framenet_heads.csv",
        controls="<results>/tables/framenet_controls.csv",
        model="<results>/models/pretrained",
    output:
        table="<results>/tables/framenet_heads_by_measure.csv",
        controls="<results>/tables/framenet_controls_by_measure.csv",
    log:
        "<logs>/measure_linked_alternatives.log",
    benchmark:
        "<benchmarks>/measure_linked_alternatives.tsv"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        models=["pretrained", RANDOM_MODEL],
        measures=OTHER_MEASURES,
        reading=READING,
        draws=lookup(dpath="framenet/draws", within=config),
        seed=lookup(dpath="framenet/seed", within=config),
    message:
        "Measure norms and effective attention along frame-semantic links"
    script:
        "../../../scripts/beyond/measure_linked_alternatives.py"


MADE_BY_MEASURE = {
    name: f"<results>/tables/{name}_by_measure.csv"
    for name in (*MEASURED_AGAIN, *MODELS_COMPARED_AGAIN)
}
ANALYSES_BY_MEASURE = sorted({*config["analyses"], ANALYSIS})
PAPERS_BY_MEASURE = measures_of_claims.concerned(
    registry.select_for_run(registry.read(registry.files()), ANALYSES_BY_MEASURE),
    [table_of_weights(table) for table in tables_of_alternatives.TABLES],
)
# Besides those that the rule makes itself.
TABLES_BY_MEASURE = [
    str(RESULTS / "tables" / contracts.TABLES[name].file)
    for name in (
        *filter(is_made, registry.tables(PAPERS_BY_MEASURE)),
        *(table.name for table in tables_of_alternatives.LINKED),
        "learned",
    )
]


rule compare_alternatives:
    """Compare models by alternative attention measures as by weights, and decide the claims about attention again."""
    input:
        **{
            name: expand(
                "<results>/attention_measures/{task}/{table}.csv", task=tasks_of(name), table=name
            )
            for name in MEASURED_AGAIN
        },
        examples=per_task("<results>/attention_measures/{task}/examples"),
        weights=[f"<results>/tables/{name}.csv" for name in MADE_BY_MEASURE],
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        tables=TABLES_BY_MEASURE,
    output:
        **MADE_BY_MEASURE,
        claims="<results>/tables/claims_by_measure.csv",
    log:
        "<logs>/compare_alternatives.log",
    benchmark:
        "<benchmarks>/compare_alternatives.tsv"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        tasks=list(config["tasks"]),
        models=rules.compare_attention.params.models,
        measures=OTHER_MEASURES,
        draws=rules.compare_attention.params.draws,
        resamples=rules.compare_attention.params.resamples,
        seed=lookup(dpath="samples/seed", within=config),
        run=RUN_OF_CLAIMS,
        analyses=ANALYSES_BY_MEASURE,
        modules=registry.modules(PAPERS_BY_MEASURE),
    message:
        "Compare what models attend to by norms and effective attention"
    script:
        "../../../scripts/beyond/compare_alternatives.py"


draw(
    "draw_attention_measures",
    figure(
        "stripes_by_measure",
        "How much heads attend to [CLS] and [SEP], by weights, norms and effective attention.",
        section=ALTERNATIVES,
        label="Stripes by measure",
        when=bool(OTHER_MEASURES),
        table="<results>/tables/attention_levels_by_measure.csv",
        learned="<results>/tables/learned.csv",
    ),
)


TABLES_OF_MEASURES = [
    *(table.name for table in tables_of_alternatives.LINKED),
    *(f"{name}_by_measure" for name in MADE_BY_MEASURE),
]
add_results(*TABLES_OF_MEASURES, "claims_by_measure", when=bool(OTHER_MEASURES))
TABLES_LEFT_OUT |= {table.name for table in tables_of_alternatives.TABLES} - set(TABLES_OF_MEASURES)
