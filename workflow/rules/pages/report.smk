# The record of the run: what made it, and one self-contained page with every table and figure.


rule describe_run:
    """Describe what made the run: versions, time, memory: commits, seeds, revisions, hardware, time and memory of every rule."""
    input:
        results_of_run(),
    output:
        page=report(
            "<results>/run.html",
            category="About this run",
            labels={"result": "What made it"},
        ),
        record=report(
            "<results>/run.json",
            category="About this run",
            labels={"result": "The same (JSON)"},
        ),
    log:
        "<logs>/describe_run.log",
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("pages/describe_run.py"),
        facts=FACTS,
    message:
        "Describe what made the run: versions, time, memory"
    script:
        "../../../scripts/pages/describe_run.py"


RESULTS_OF[analyses.PAPER] += ["<results>/run.html", "<results>/run.json"]


rule report:
    """Build Snakemake's report of everything that `all` makes."""
    input:
        results=results_of_run(),
        claims="<results>/tables/claims.csv",
    output:
        page="<results>/report.html",
    log:
        "<logs>/report.log",
    conda:
        "../../../envs/workflow.yaml"
    params:
        code=code_of("pages/report.py"),
        snakefile=os.path.relpath(workflow.main_snakefile),
        config=str(RESULTS / "config.yaml"),
        synthetic=SYNTHETIC,
        tasks=len(config["tasks"]),
        style=os.path.relpath(RULES.parent / "report" / "style.css"),
    message:
        "Build the report"
    script:
        "../../../scripts/pages/report.py"
