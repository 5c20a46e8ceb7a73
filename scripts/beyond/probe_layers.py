"""Probe the layers of encoders that are not fine-tuned for what they know of words."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the pre-trained encoder, and of one with random weights."""
    from darksecrets.beyond.layers.declared import TABLES, Settings
    from darksecrets.beyond.layers.measure.running import treebank_tables
    from darksecrets.core.data import treebank
    from darksecrets.core.models.reading import readings

    params, sentences = job.params, treebank.read(job.input.treebank)
    settings = Settings.of(params.settings)
    models = readings(params.models, [job.input.pretrained] * 2, **params.reading)
    found = {name: treebank_tables(one, sentences, settings) for name, one in models.items()}
    write_of_models(job, TABLES[:-1], "", found.items())
