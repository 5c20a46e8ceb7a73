# Section 3: the pre-trained model that every state begins with.


rule get_pretrained_model:
    """Fetch the pre-trained model that every state but `finetuned-from-normal` begins with."""
    input:
        files=checkpoint_files,
    output:
        model=directory("<results>/models/pretrained"),
    log:
        "<logs>/get_pretrained_model.log",
    benchmark:
        "<benchmarks>/get_pretrained_model.tsv"
    conda:
        "../../envs/model.yaml"
    resources:
        **ask(resources.pretrained_model),
    params:
        source=lookup(dpath="model", within=config),
    message:
        "Get the pre-trained model"
    script:
        "../../scripts/get_pretrained_model.py"
