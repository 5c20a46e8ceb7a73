# Tables and figures of the paper. They read tables only and are redrawn in seconds.


rule table1:
    """Table 1: scores of the three states of the model."""
    input:
        code=code("table1"),
        scores="<results>/tables/table1.csv",
        baselines="<results>/tables/baselines.csv",
        data=per_task("<results>/data/{task}"),
        published=shipped("paper/table1.csv"),
    output:
        html=report(
            "<results>/figures/table1.html",
            caption="../report/table1.rst",
            category="Section 4.3: what fine-tuning changes",
            labels={"result": "Table 1"},
        ),
        markdown="<results>/figures/table1.md",
        latex="<results>/figures/table1.tex",
    log:
        "<logs>/table1.log",
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
        paper=configuration.is_paper_run(config),
    message:
        "Write Table 1"
    script:
        "../../scripts/table1.py"


rule figure5:
    """Figure 5: cosine similarity of pre-trained and fine-tuned maps, head by head."""
    input:
        code=code("figures.figure5"),
        table="<results>/tables/cosine.csv",
    output:
        svg=report(
            "<results>/figures/figure5.svg",
            caption="../report/figure5.rst",
            category="Section 4.3: what fine-tuning changes",
            labels={"result": "Figure 5"},
        ),
        pdf="<results>/figures/figure5.pdf",
        png="<results>/figures/figure5.png",
    log:
        "<logs>/figure5.log",
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw Figure 5"
    script:
        "../../scripts/figure5.py"


rule learning_curves:
    """Losses and scores along the fine-tunings behind Table 1."""
    input:
        code=code("figures.learning_curves"),
        table="<results>/tables/learning_curves.csv",
    output:
        svg=report(
            "<results>/figures/learning_curves.svg",
            caption="../report/learning_curves.rst",
            category="Section 4.3: what fine-tuning changes",
            labels={"result": "Learning curves"},
        ),
        pdf="<results>/figures/learning_curves.pdf",
        png="<results>/figures/learning_curves.png",
    log:
        "<logs>/learning_curves.log",
    conda:
        "../../envs/figures.yaml"
    params:
        label=RUN_LABEL,
        tasks=lookup(dpath="tasks", within=config),
    message:
        "Draw the learning curves"
    script:
        "../../scripts/learning_curves.py"
