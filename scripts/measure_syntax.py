"""Measure which heads follow syntactic relations (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model, then one with random weights, and write their tables."""
    import pandas as pd

    from darksecrets.models.loading import Draw
    from darksecrets.run.tables import identify
    from darksecrets.syntax import heads, treebank
    from darksecrets.syntax.measuring import measure
    from darksecrets.syntax.tables import SYNTACTIC_HEADS

    sentences, params = treebank.read(job.input.treebank), job.params
    seed = int(params.random.partition("/seed-")[2])
    draws = {"pretrained": None, params.random: Draw(seed, params.std)}
    parts: list[pd.DataFrame] = []
    read = 0
    for model, draw in draws.items():
        measured = measure(
            job.input.model,
            sentences,
            max_length=params.max_length,
            batch_size=params.batch_size,
            draw=draw,
        )
        read = len(measured.read)
        rows = heads.table(measured.read, measured.guesses, params.seed)
        parts.append(identify(rows, None, model))
    SYNTACTIC_HEADS.write(pd.concat(parts, ignore_index=True), job.output.syntactic_heads)
    return {"sentences": read, "left_out": len(sentences) - read}
