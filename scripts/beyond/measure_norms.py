"""Measure how much heads attend to kinds of tokens, by weights and by norms (section 4.4)."""

from _tables import write_joined

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all models of one task."""
    from darksecrets.beyond.norms.declared import TABLES
    from darksecrets.beyond.norms.measure.running import measure
    from darksecrets.beyond.norms.measure.statistics import tables
    from darksecrets.core.attention.extraction import read_sample
    from darksecrets.core.data.sampling import sample
    from darksecrets.core.models.reading import readings
    from darksecrets.core.run.tables import identify

    params, sampled = job.params, sample(job.input.dataset, **job.params.samples)
    examples = read_sample(job.input.dataset, sampled)
    folders = [job.input.pretrained, *job.input.all("finetuned"), job.input.pretrained]
    models = readings(params.models, folders, **params.reading)
    measured = {name: measure(model, examples, params.seed) for name, model in models.items()}
    parts = [
        [identify(rows, job.wildcards.task, model) for rows in both]
        for model, both in tables(measured, params.models[-1], params.seed).items()
    ]
    write_joined(job, TABLES, parts)
