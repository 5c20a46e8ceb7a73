"""Measure how much each head attends along frame-semantic links (section 4.2)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the weight of every head with its controls and tests; and the sentence of Figure 3.

    The heads of an encoder with random weights follow those of the pre-trained one.

    Returns:
        The number of sentences, and how many of them were left out.
    """
    import logging

    import pandas as pd

    from darksecrets.attention.store import AttentionStore
    from darksecrets.framenet.example import choose, example_table
    from darksecrets.framenet.heads import Linked, measure, table
    from darksecrets.framenet.links import read_table
    from darksecrets.framenet.tables import EXAMPLE, HEADS
    from darksecrets.run.tables import identify

    annotations = read_table(job.input.links)
    store, random = map(AttentionStore.open, (job.input.store, job.input.random))
    out = len(annotations) - len(Linked(store, annotations).measured())
    if out:
        logging.getLogger("darksecrets").warning(
            "Left out %d of %d sentences, which are longer than the local attention of the model "
            "reaches (windows %s)",
            *(out, len(annotations), list(store.windows)),
        )
    weights, by_chance = (measure(Linked(maps, annotations)) for maps in (store, random))
    named = (("pretrained", weights), (job.params.random, by_chance))
    heads, others = (
        identify(table(of_model, job.params.draws, job.params.seed), None, model)
        for model, of_model in named
    )
    HEADS.write(pd.concat([heads, others], ignore_index=True), job.output.table)
    example = choose(store, annotations, weights.linked, heads)
    example.save(job.output.example)
    EXAMPLE.write(example_table(store, annotations, example), job.output.sentence)
    return {"sentences": {"found": len(annotations), "left out": out}}
