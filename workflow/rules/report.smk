# One self-contained page with every table and figure of the run.


rule report:
    """Build Snakemake's report of everything that `all` makes."""
    input:
        RESULTS_OF_RUN,
    output:
        page="<results>/report.html",
    log:
        "<logs>/report.log",
    conda:
        "../../envs/workflow.yaml"
    params:
        snakefile=os.path.relpath(workflow.main_snakefile),
        config=str(RESULTS / "config.yaml"),
    message:
        "Build the report"
    script:
        "../../scripts/report.py"
