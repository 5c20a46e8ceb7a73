"""Measure how much heads attend to kinds of tokens, by weights and by norms (section 4.4)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all models of one task."""
    import pandas as pd

    from darksecrets.attention.extraction import read_sample
    from darksecrets.models.loading import Draw
    from darksecrets.norms.measuring import measure
    from darksecrets.norms.statistics import tables
    from darksecrets.norms.tables import NORM_LEVELS, NORM_STATISTICS
    from darksecrets.run.tables import identify

    examples = read_sample(job.input.dataset, job.input.sample)
    random, params = job.params.random, job.params
    folders = [job.input.pretrained, *job.input.all("finetuned"), job.input.pretrained]
    draw = Draw(int(random.partition("/seed-")[2]), params.std)
    measured = {
        model: measure(
            folder,
            examples,
            max_length=params.max_length,
            batch_size=params.batch_size,
            seed=params.seed,
            draw=draw if model == random else None,
        )
        for model, folder in zip(params.models, folders, strict=True)
    }
    parts = [
        [identify(rows, job.wildcards.task, model) for rows in both]
        for model, both in tables(measured, random, params.seed).items()
    ]
    heads, levels = (pd.concat(rows, ignore_index=True) for rows in zip(*parts, strict=True))
    NORM_STATISTICS.write(heads, job.output.norm_statistics)
    NORM_LEVELS.write(levels, job.output.norm_levels)
