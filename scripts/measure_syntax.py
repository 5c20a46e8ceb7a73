"""Measure which heads follow syntactic relations (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model, then one with random weights, and write the tables of both.

    Returns:
        How many sentences were read, and how many the model cannot read whole.
    """
    from darksecrets.models.loading import Draw
    from darksecrets.syntax import treebank
    from darksecrets.syntax.measuring import measure, tables

    sentences, params = treebank.read(job.input.treebank), job.params
    seed = int(params.random.partition("/seed-")[2])
    draws = {"pretrained": None, params.random: Draw(seed, params.std)}
    measured = {
        model: measure(
            job.input.model,
            sentences,
            max_length=params.max_length,
            batch_size=params.batch_size,
            draw=draw,
        )
        for model, draw in draws.items()
    }
    for table, rows in tables(measured, params.random, params.seed).items():
        table.write(rows, getattr(job.output, table.name))
    read = len(measured["pretrained"].read)
    return {"sentences": {"read": read, "left out": len(sentences) - read}}
