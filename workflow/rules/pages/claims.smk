# Which claims of papers hold in this run, and what it found, in a few sentences.


from darksecrets.beyond.attention_measures.declared import REPLACED
from darksecrets.pages.claims import beside_paper, findings, measures

REGISTRY = registry.read(registry.files())
PAPERS = registry.select_for_run(REGISTRY, config["analyses"])
PRINTED = beside_paper.read(beside_paper.NUMBERS, beside_paper.TABLE1)
# Besides tables that decide, the one of models that decide nothing, because they have not learned their task.
TABLES_OF_CLAIMS = {
    *registry.tables(PAPERS),
    *(name for one in PRINTED for name in one.question.sources),
    "learned",
}


# Whether the sentences are those that ship with the project: what was found then says nothing about BERT.
SYNTHETIC = (
    config["data"]["source"] == "tsv"
    and Path(config["data"]["folder"] or "").resolve() == Path(shipped("corpus")).resolve()
)


rule claims:
    """Decide which claims of papers hold in this run, put its numbers beside the paper's, and say what was found."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        numbers=shipped("paper/numbers.yaml"),
        table1=shipped("paper/table1.csv"),
        tables=made_tables(sorted(TABLES_OF_CLAIMS)),
        found=made_tables(findings.TABLES),
    output:
        table=table("claims"),
        findings=table("findings"),
        beside_paper=table("beside_paper"),
        html=report(
            "<results>/figures/claims.html",
            caption="../../report/claims.rst",
            category="Claims",
            labels={"result": "Claims"},
        ),
    log:
        "<logs>/claims.log",
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("pages/claims.py", *registry.modules(PAPERS)),
        run=RUN_OF_CLAIMS,
        analyses=config["analyses"],
        label=RUN_LABEL,
        shown=captions.escape(RUN_LABEL),
        findings={
            "metrics": {task: names[0] for task, names in METRICS_OF_TASKS.items()},
            "ablated": {task: METRICS_OF_TASKS[task][0] for task in config["ablation"]["tasks"]},
            "synthetic": SYNTHETIC,
        },
    message:
        "Decide which claims hold, and say what was found"
    script:
        "../../../scripts/pages/claims.py"


ANALYSES_BY_MEASURE = sorted({*config["analyses"], "attention_measures"})
PAPERS_BY_MEASURE = measures.concerned(
    registry.select_for_run(REGISTRY, ANALYSES_BY_MEASURE), REPLACED
)
TABLES_BY_MEASURE = (*registry.tables(PAPERS_BY_MEASURE), "learned")


rule compare_alternatives:
    """Compare models by alternative attention measures as by weights, and decide the claims about attention again."""
    input:
        pairs=per_task("<results>/attention_measures/{task}/token_pairs.csv"),
        controls=expand(
            "<results>/attention_measures/{task}/equal_word_controls.csv",
            task=tasks_of("equal_word_controls"),
        ),
        examples=per_task("<results>/attention_measures/{task}/examples"),
        levels="<results>/tables/attention_levels.csv",
        linked_heads="<results>/linked_measures/framenet_heads.csv",
        linked_controls="<results>/linked_measures/framenet_controls.csv",
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        tables=made_tables(TABLES_BY_MEASURE),
    output:
        levels=table("attention_levels_by_measure"),
        claims=table("claims_by_measure"),
    log:
        "<logs>/compare_alternatives.log",
    benchmark:
        "<benchmarks>/compare_alternatives.tsv"
    group:
        "claims"
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("pages/compare_alternatives.py", *registry.modules(PAPERS_BY_MEASURE)),
        tasks=list(config["tasks"]),
        models=rules.compare_attention.params.models,
        measures=OTHER_MEASURES,
        draws=rules.compare_attention.params.draws,
        resamples=rules.compare_attention.params.resamples,
        seed=lookup(dpath="samples/seed", within=config),
        run=RUN_OF_CLAIMS,
        analyses=ANALYSES_BY_MEASURE,
    message:
        "Compare what models attend to by norms and effective attention"
    script:
        "../../../scripts/pages/compare_alternatives.py"


RESULTS_OF[analyses.PAPER] += [
    *tables("claims", "beside_paper", "findings"),
    "<results>/figures/claims.html",
]
