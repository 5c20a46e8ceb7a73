# Which claims of papers hold in this run.


PAPERS = registry.read(registry.files())
# Data that the run shares with papers, together with the paper's model.
SHARED = {"GLUE": PAPER, "FrameNet": PAPER and LINKS["source"] == "nltk"}


def tables_of_claims() -> list[str]:
    """Tables that decide claims, as far as the run makes them."""
    names = (set(registry.tables(PAPERS)) & set(contracts.TABLES)) - TABLES_LEFT_OUT
    return [str(RESULTS / "tables" / contracts.TABLES[name].file) for name in sorted(names)]


def record_of(table: str) -> str:
    """Provenance of a table: that of the rule that makes it."""
    for each in compat.rules_of(workflow, RULES):
        if table in map(str, each.output):
            return str(each.output.provenance)
    return str(Path(table).with_suffix(".provenance.json"))


TABLES_OF_CLAIMS = tables_of_claims()


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
            "seeds": config["seeds"],
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
