"""Extract the attention maps of the FrameNet sentences (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Run the pre-trained model over the sentences and write its attention store; return how."""
    from darksecrets.attention.extraction import extract
    from darksecrets.framenet.links import read_table

    sentences = [annotation.sentence for annotation in read_table(Path(snakemake.input.links))]
    return extract(
        Path(snakemake.input.model),
        {"idx": list(range(len(sentences))), "sentence1": sentences},
        Path(snakemake.output.store),
        max_length=snakemake.params.max_length,
        batch_size=snakemake.params.batch_size,
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["extraction"] = main()
