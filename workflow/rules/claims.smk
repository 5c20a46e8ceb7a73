# Which claims of papers hold in this run.


PAPERS = registry.of_run(registry.read(registry.files()), config["analyses"])
# Besides tables that decide, the one of models that decide nothing, because they have not learned their task.
TABLES_OF_CLAIMS = [
    str(RESULTS / "tables" / contracts.TABLES[name].file)
    for name in [*registry.tables(PAPERS), "learned"]
    if is_made(name)
]


rule claims:
    """Decide which claims of papers hold in this run, from its tables."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        published=shipped("paper/table1.csv"),
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
        run=RUN_OF_CLAIMS,
        analyses=config["analyses"],
        label=RUN_LABEL,
        modules=registry.modules(PAPERS),
    message:
        "Decide which claims hold"
    script:
        "../../scripts/claims.py"


in_run("claims", *expand("<results>/figures/claims.{format}", format=("md", "html")))
