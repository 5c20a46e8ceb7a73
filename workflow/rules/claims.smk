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
            "settings": config["fine_tuning"],
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
