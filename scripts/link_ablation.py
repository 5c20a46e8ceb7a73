"""Look up the effects of the heads that the other experiments single out (section 5)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the effects of these heads beside those of all others."""
    from darksecrets.ablation.links import linked
    from darksecrets.ablation.tables import HEAD_ABLATION, LINKED_ABLATION
    from darksecrets.features.tables import EQUAL_WORDS
    from darksecrets.framenet.tables import HEADS

    inputs = snakemake.input
    pairs = [
        EQUAL_WORDS.read(Path(path)) for path in inputs.equal_words
    ]  # none without a task of pairs
    equal_words = pairs[0] if pairs else None
    heads, framenet = HEAD_ABLATION.read(Path(inputs.heads)), HEADS.read(Path(inputs.framenet))
    LINKED_ABLATION.write(linked(heads, framenet, equal_words), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
