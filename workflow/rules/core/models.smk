# Section 3: the pre-trained model.


rule get_pretrained_model:
    """Fetch the pre-trained model, from which every state but `finetuned-from-normal` starts."""
    input:
        files=checkpoint_files,
    output:
        model=directory("<results>/models/pretrained"),
    log:
        "<logs>/get_pretrained_model.log",
    benchmark:
        "<benchmarks>/get_pretrained_model.tsv"
    conda:
        "../../../envs/model.yaml"
    resources:
        **ask("load"),
    params:
        code=code_of("core/get_pretrained_model.py"),
        source=lookup(dpath="model", within=config),
    message:
        "Get the pre-trained model"
    script:
        "../../../scripts/core/get_pretrained_model.py"
