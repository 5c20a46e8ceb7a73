"""Fetch the pre-trained model and leave the heads of other tasks behind (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Write the encoder and its tokenizer; return what they are."""
    from darksecrets.models.loading import get_pretrained
    from workflow.lib import preflight

    model = Path(snakemake.output.model)
    details = get_pretrained(snakemake.params.source, model)
    # Not a parameter: other heads to disable make no other model, and need no new training.
    ablation = snakemake.config["ablation"]
    preflight.check_ablation(ablation, {"source": "folder", "folder": str(model)})
    return details


if __name__ == "__main__":
    with job(snakemake) as details:
        details["model"] = main()
