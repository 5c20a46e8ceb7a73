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
        snakefile=workflow.main_snakefile,
        config=str(RESULTS / "config.yaml"),
    message:
        "Build the report"
    shell:
        "python -m snakemake --snakefile {params.snakefile:q} --configfile {params.config:q}"
        " --profile none --nolock --report {output.page:q} > {log:q} 2>&1"
