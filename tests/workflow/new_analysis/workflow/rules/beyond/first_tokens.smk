# Section 4.4, further: do heads attend to the first token?


FIRST_TOKENS = config["first_tokens"]


rule measure_first_tokens:
    """Measure how much the heads of the pre-trained model attend to the first token."""
    input:
        stores=expand("<results>/attention/{task}", task=FIRST_TOKENS["tasks"]),
    output:
        table=table("first_tokens"),
    log:
        "<logs>/measure_first_tokens.log",
    conda:
        "../../../envs/figures.yaml"
    resources:
        **ask("tables"),
    params:
        code=code_of("beyond/measure_first_tokens.py"),
        settings=FIRST_TOKENS,
    message:
        "Measure attention to the first token"
    script:
        "../../../scripts/beyond/measure_first_tokens.py"


rule draw_first_tokens:
    """Draw how much heads attend to the first token."""
    input:
        first_token_heads="<results>/tables/first_tokens.csv",
    output:
        report(
            "<results>/figures/first_token_heads.svg",
            caption="../../report/first_token_heads.rst",
            category="Section 4.4, first tokens",
            labels={"result": "First tokens"},
        ),
        multiext("<results>/figures/first_token_heads", ".pdf", ".png"),
    log:
        "<logs>/draw_first_tokens.log",
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/draw_first_tokens.py"),
        metrics=METRICS_OF_TASKS,
        **captioned("first_token_heads"),
    message:
        "Draw first_token_heads"
    script:
        "../../../scripts/beyond/draw_first_tokens.py"


rule first_token_heads:
    """How much heads attend to the first token."""
    input:
        multiext("<results>/figures/first_token_heads", ".svg", ".pdf", ".png"),
    message:
        "Finished: first_token_heads"


RESULTS_OF["first_tokens"] += [*tables("first_tokens"), *figures("first_token_heads")]
