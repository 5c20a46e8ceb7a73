"""Grow trees from the impact of words on each other's masked states (Wu et al. 2020)."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of some models: of one task, or of those not fine-tuned."""
    from darksecrets.beyond.predictions.declared import TREES, Settings
    from darksecrets.beyond.predictions.measure.impact import impact_rows, usable
    from darksecrets.core.data import treebank
    from darksecrets.core.models.reading import readings

    params, settings = job.params, Settings.of(job.params.settings)
    read = treebank.read(job.input.treebank)
    sentences = usable(read, settings.sentences, settings.longest, settings.seed)
    models = readings(params.models, job.input.all("models"), **params.reading)
    found = [(name, {TREES: impact_rows(one, sentences)}) for name, one in models.items()]
    write_of_models(job, [TREES], params.task, found)
