"""Measure which heads follow syntactic relations (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model, then one with random weights, and write their tables."""
    import pandas as pd

    from darksecrets.models.loading import Draw
    from darksecrets.run.tables import Table, identify
    from darksecrets.syntax import heads, treebank, trees
    from darksecrets.syntax.measuring import measure
    from darksecrets.syntax.tables import ATTENTION_TREES, SYNTACTIC_HEADS

    sentences, params = treebank.read(job.input.treebank), job.params
    seed = int(params.random.partition("/seed-")[2])
    draws = {"pretrained": None, params.random: Draw(seed, params.std)}
    parts: dict[Table, list[pd.DataFrame]] = {SYNTACTIC_HEADS: [], ATTENTION_TREES: []}
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
        found = {
            SYNTACTIC_HEADS: heads.table(measured.read, measured.guesses, params.seed),
            ATTENTION_TREES: trees.table(measured.read, measured.trees, params.seed),
        }
        for table, rows in found.items():
            parts[table].append(identify(rows, None, model))
    for table, rows in parts.items():
        table.write(pd.concat(rows, ignore_index=True), getattr(job.output, table.name))
    return {"sentences": read, "left_out": len(sentences) - read}
