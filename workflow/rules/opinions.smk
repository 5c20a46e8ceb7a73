# Sections 4.2, 4.4, 4.5 and 5, second opinions: the same analyses on norms and on effective attention.


OPINIONS = "Sections 4.2 to 5, second opinions"
OTHER_MEASURES = of_opinions.measures(config, config["norms_left_out"])
OPINIONS_OF_HEADS = [name for name in MEASURES if tasks_of(name)]
OPINIONS_OF_MODELS = [of_weights(table) for table in tables_of_opinions.OF_MODELS]
for rule_of_opinions in ("measure_opinions", "measure_linked_opinions", "decide_by_measure"):
    CHECKS[rule_of_opinions] = partial(of_opinions.check_run, left_out=config["norms_left_out"])


rule measure_opinions:
    """Measure what every head of a task's models attends to, by norms and by effective attention.

    Models run once on the sampled examples; their maps are never stored.
    """
    input:
        dataset="<results>/data/{task}",
        sample="<results>/samples/{task}.csv",
        annotation="<results>/annotation/{task}.jsonl",
        pretrained="<results>/models/pretrained",
        finetuned=finetuned_folders,
    output:
        **{name: f"<results>/opinions/{{task}}/{name}.csv" for name in MEASURES},
        examples=directory("<results>/opinions/{task}/examples"),
        provenance="<results>/opinions/{task}/provenance.json",
    log:
        "<logs>/measure_opinions/{task}.log",
    benchmark:
        "<benchmarks>/measure_opinions/{task}.tsv"
    group:
        "opinions"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.opinions, gpu=True),
    params:
        models=lambda wildcards: measured_models(wildcards.task),
        measures=OTHER_MEASURES,
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Measure norms and effective attention on {wildcards.task}"
    script:
        "../../scripts/measure_opinions.py"


rule measure_linked_opinions:
    """Measure every head along frame-semantic links by norms and by effective attention."""
    input:
        links="<results>/tables/framenet_links.csv",
        heads="<results>/tables/framenet_heads.csv",
        model="<results>/models/pretrained",
    output:
        table="<results>/tables/framenet_heads_by_measure.csv",
        provenance="<results>/tables/framenet_heads_by_measure.provenance.json",
    log:
        "<logs>/measure_linked_opinions.log",
    benchmark:
        "<benchmarks>/measure_linked_opinions.tsv"
    group:
        "linked_opinions"
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask(resources.linked_opinions, gpu=True),
    params:
        measures=OTHER_MEASURES,
        random=RANDOM_MODEL,
        std=lookup(dpath="fine_tuning/from_normal_std", within=config),
        batch_size=lookup(dpath="attention/batch_size", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
        draws=lookup(dpath="framenet/draws", within=config),
        seed=lookup(dpath="framenet/seed", within=config),
    message:
        "Measure norms and effective attention along frame-semantic links"
    script:
        "../../scripts/measure_linked_opinions.py"


rule compare_opinions:
    """Gather second opinions of all tasks, and compare models by them as by attention weights."""
    input:
        **{
            name: expand("<results>/opinions/{task}/{table}.csv", task=tasks_of(name), table=name)
            for name in OPINIONS_OF_HEADS
        },
        examples=per_task("<results>/opinions/{task}/examples"),
        weights=[
            f"<results>/tables/{name}.csv" for name in (*OPINIONS_OF_HEADS, *OPINIONS_OF_MODELS)
        ],
    output:
        **{
            name: f"<results>/tables/{name}_by_measure.csv"
            for name in (*OPINIONS_OF_HEADS, *OPINIONS_OF_MODELS)
        },
        provenance="<results>/tables/attention_by_measure.provenance.json",
    log:
        "<logs>/compare_opinions.log",
    benchmark:
        "<benchmarks>/compare_opinions.tsv"
    group:
        "features"
    conda:
        "../../envs/figures.yaml"
    resources:
        **ask(resources.opinions_of_run),
    params:
        tasks=list(config["tasks"]),
        models=rules.compare_attention.params.models,
        measures=OTHER_MEASURES,
        draws=rules.compare_attention.params.draws,
        resamples=rules.compare_attention.params.resamples,
        seed=lookup(dpath="samples/seed", within=config),
    message:
        "Compare what models attend to by norms and effective attention"
    script:
        "../../scripts/compare_opinions.py"


figure(
    "stripes_by_measure",
    "How much heads attend to [CLS] and [SEP], by weights, norms and effective attention.",
    section=OPINIONS,
    label="Stripes by measure",
    group="features",
    of_run=bool(OTHER_MEASURES),
    table="<results>/tables/attention_levels_by_measure.csv",
)


MADE_BY_MEASURE = [
    "framenet_heads_by_measure",
    *(f"{name}_by_measure" for name in (*OPINIONS_OF_HEADS, *OPINIONS_OF_MODELS)),
]
if OTHER_MEASURES:
    RESULTS_OF_RUN += [f"<results>/tables/{name}.csv" for name in MADE_BY_MEASURE]
    TABLES_LEFT_OUT |= {table.name for table in tables_of_opinions.TABLES} - set(MADE_BY_MEASURE)
else:
    TABLES_LEFT_OUT |= {table.name for table in tables_of_opinions.TABLES}
