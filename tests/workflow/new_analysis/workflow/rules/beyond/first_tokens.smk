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


draw(
    "draw_first_tokens",
    figure(
        "first_token_heads",
        "How much heads attend to the first token.",
        section="Section 4.4, first tokens",
        label="First tokens",
        table="<results>/tables/first_tokens.csv",
    ),
    of="first_tokens",
)


add_results("first_tokens", of="first_tokens")
