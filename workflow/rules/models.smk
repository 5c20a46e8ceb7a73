# Section 3: the pre-trained model that every state begins with.

from darksecrets.models import checkpoints


def checkpoint_files(wildcards) -> list[str]:
    """Local files of the pre-trained model."""
    if config["model"]["source"] == "hub":
        return []
    folder = checkpoints.folder_of(config["model"])
    return [compat.in_place(os.path.relpath(path)) for path in sorted(folder.glob("*.safetensors"))]


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
