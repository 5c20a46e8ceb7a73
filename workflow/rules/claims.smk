# Which claims of papers hold in this run.


PAPERS = registry.read(registry.files())
# Data that the run shares with papers, together with the paper's model.
SHARED = {"GLUE": PAPER, "FrameNet": PAPER and LINKS["source"] == "nltk"}
TABLES_OF_CLAIMS = [
    str(RESULTS / "tables" / contracts.TABLES[name].file)
    for name in registry.tables(PAPERS)
    if name not in TABLES_LEFT_OUT
]


rule claims:
    """Decide which claims of papers hold in this run, from its tables."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        tables=TABLES_OF_CLAIMS,
        records=sorted({record_of(table) for table in TABLES_OF_CLAIMS}),
    output:
        table="<results>/tables/claims.csv",
        markdown="<results>/figures/claims.md",
        html=report(
            "<results>/figures/claims.html",
            caption="../report/claims.rst",
            category="Claims",
            labels={"result": "Claims"},
        ),
        provenance="<results>/tables/claims.provenance.json",
    log:
        "<logs>/claims.log",
    conda:
        "../../envs/figures.yaml"
    params:
        run={
            "tasks": METRICS_OF_TASKS,
            "seeds": {name: entry["seeds"] for name, entry in config["tasks"].items()},
            "shared": [name for name, shared in SHARED.items() if shared],
            "settings": configuration.settings_for_claims(config),
        },
        label=RUN_LABEL,
        modules=registry.modules(PAPERS),
    message:
        "Decide which claims hold"
    script:
        "../../scripts/claims.py"


RESULTS_OF_RUN += [
    "<results>/tables/claims.csv",
    *expand("<results>/figures/claims.{format}", format=("md", "html")),
]


PAPERS_BY_MEASURE = measures_of_claims.concerned(
    PAPERS, [of_weights(table) for table in tables_of_opinions.TABLES]
)
TABLES_BY_MEASURE = [
    str(RESULTS / "tables" / contracts.TABLES[name].file)
    for name in (*registry.tables(PAPERS_BY_MEASURE), *MADE_BY_MEASURE)
    if name not in TABLES_LEFT_OUT
]


rule decide_by_measure:
    """Decide the claims about what heads attend to again, by norms and by effective attention."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        tables=TABLES_BY_MEASURE,
        records=sorted({record_of(table) for table in TABLES_BY_MEASURE}),
    output:
        table="<results>/tables/claims_by_measure.csv",
        provenance="<results>/tables/claims_by_measure.provenance.json",
    log:
        "<logs>/decide_by_measure.log",
    group:
        "claims"
    conda:
        "../../envs/figures.yaml"
    params:
        run=rules.claims.params.run,
        measures=OTHER_MEASURES,
        modules=registry.modules(PAPERS_BY_MEASURE),
    message:
        "Decide which claims hold by each measure of attention"
    script:
        "../../scripts/decide_by_measure.py"


figure(
    "claims_by_measure",
    "Which claims hold by weights, norms and effective attention.",
    section=OPINIONS,
    label="Claims by measure",
    group="claims",
    of_run=bool(OTHER_MEASURES),
    table="<results>/tables/claims_by_measure.csv",
)


if OTHER_MEASURES:
    RESULTS_OF_RUN += ["<results>/tables/claims_by_measure.csv"]
else:
    TABLES_LEFT_OUT |= {"claims_by_measure"}
