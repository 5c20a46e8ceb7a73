"""Measure how much each head attends along frame-semantic links (section 4.2)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the links, the maps of the sentences, and the weight of every head beside its controls.

    Also the sentence of Figure 3. The heads of an encoder with random weights follow those of the
    pre-trained one.

    Returns:
        How the maps were computed; the number of sentences, and how many of them were left out.
    """
    import logging

    import pandas as pd

    from darksecrets.core.attention.extraction import extract_maps
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.models.loading import Draw
    from darksecrets.core.run.tables import identify
    from darksecrets.paper.framenet.example import choose
    from darksecrets.paper.framenet.heads import Linked, measure, tables
    from darksecrets.paper.framenet.links import links_table, read_table
    from darksecrets.paper.framenet.sources import collect
    from darksecrets.paper.framenet.tables import CONTROLS_OF_HEADS, HEADS, LINKS

    params = job.params
    downloaded = next(iter(job.input.all("downloaded")), None)
    LINKS.write(links_table(collect(params.links, downloaded)), job.output.links)
    annotations = read_table(job.output.links)
    draw = Draw(int(params.random.partition("/seed-")[2]), params.std)
    folders = {job.output.store: None, job.output.random: draw}
    details = [
        extract_maps(
            job.input.model,
            {"sentence1": [annotation.sentence for annotation in annotations]},
            folder,
            max_length=params.max_length,
            batch_size=params.batch_size,
            draw=drawn,
        )
        for folder, drawn in folders.items()
    ]
    store, random = map(AttentionStore.open, folders)
    out = len(annotations) - len(Linked(store, annotations).measured())
    if out:
        logging.getLogger("darksecrets").warning(
            "Left out %d of %d sentences, which are longer than the local attention of the model "
            "reaches (windows %s)",
            *(out, len(annotations), list(store.windows)),
        )
    weights, by_chance = (measure(Linked(maps, annotations)) for maps in (store, random))
    found = {
        model: tables(model_weights, params.draws, params.seed)
        for model, model_weights in (("pretrained", weights), (params.random, by_chance))
    }
    heads, controls = (
        pd.concat([identify(both[number], None, model) for model, both in found.items()])
        for number in range(2)
    )
    HEADS.write(heads, job.output.table)
    CONTROLS_OF_HEADS.write(controls, job.output.controls)
    choose(store, annotations, weights.linked, found["pretrained"][0]).save(job.output.example)
    sentences = {"found": len(annotations), "left out": out}
    return {"extraction": details, "sentences": sentences}
