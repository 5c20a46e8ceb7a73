# Which claims of papers hold in this run.


from darksecrets.pages.claims import beside_paper

PAPERS = registry.select_for_run(registry.read(registry.files()), config["analyses"])
PRINTED = beside_paper.read(beside_paper.NUMBERS, beside_paper.TABLE1)
# Besides tables that decide, the one of models that decide nothing, because they have not learned their task.
TABLES_OF_CLAIMS = [
    str(RESULTS / "tables" / contracts.TABLES[name].file)
    for name in sorted(
        {
            *registry.tables(PAPERS),
            *(name for one in PRINTED for name in one.question.sources),
            "learned",
        }
    )
    if is_made(name)
]


rule claims:
    """Decide which claims of papers hold in this run, and put its numbers beside those that the paper prints."""
    input:
        registry=[shipped(f"claims/{path.name}") for path in registry.files()],
        numbers=shipped("paper/numbers.yaml"),
        table1=shipped("paper/table1.csv"),
        tables=TABLES_OF_CLAIMS,
    output:
        table="<results>/tables/claims.csv",
        beside_paper="<results>/tables/beside_paper.csv",
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
        run=RUN_OF_CLAIMS,
        analyses=config["analyses"],
        label=RUN_LABEL,
        modules=registry.modules(PAPERS),
    message:
        "Decide which claims hold"
    script:
        "../../../scripts/pages/claims.py"


add_results("claims", "beside_paper", "<results>/figures/claims.html")
