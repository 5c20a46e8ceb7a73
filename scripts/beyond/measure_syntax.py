"""Measure which heads follow syntactic relations, and parse by all of them (Clark et al. 2019)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model, then one with random weights, and write the tables of both.

    Returns:
        How many sentences were read, and how many the model cannot read whole.
    """
    from darksecrets.beyond.syntax.declared import ATTENTION_PROBES, Settings
    from darksecrets.beyond.syntax.measure.probing import chosen, probe_table
    from darksecrets.beyond.syntax.measure.running import measure, tables
    from darksecrets.core.data import treebank
    from darksecrets.core.models.reading import readings
    from darksecrets.core.run.tables import identify

    sentences, params = treebank.read(job.input.treebank), job.params
    settings, (pretrained, random) = Settings.of(params.settings), params.models
    models = readings(params.models, [job.input.model] * 2, **params.reading)
    measured = {name: measure(model, sentences) for name, model in models.items()}
    read = len(measured[pretrained].read)
    found = tables(measured, random, settings.seed)
    del measured  # before the word maps of probes fill the memory
    some = chosen(sentences, settings.probed, settings.seed)
    probes = probe_table(some, models[pretrained], models[random], settings.seed)
    found[ATTENTION_PROBES] = identify(probes, None, pretrained)
    for table, rows in found.items():
        table.write(rows, getattr(job.output, table.name))
    return {"sentences": {"read": read, "left out": len(sentences) - read}}
