"""Measure what heads attend to by norms and by effective attention (sections 4.4, 4.5 and 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all models of one task, and what comparisons of models need."""
    from darksecrets.attention.extraction import read_sample
    from darksecrets.models.loading import Draw
    from darksecrets.opinions.attended import attended
    from darksecrets.opinions.running import run
    from darksecrets.opinions.tables import OF_HEADS, profiles_in
    from darksecrets.run.columns import of_weights
    from darksecrets.run.files import atomic

    params, random = job.params, job.params.random
    draw = Draw(int(random.partition("/seed-")[2]), params.std)
    folders = [job.input.pretrained, *job.input.all("finetuned"), job.input.pretrained]
    maps = run(
        {
            model: (folder, draw if model == random else None)
            for model, folder in zip(params.models, folders, strict=True)
        },
        read_sample(job.input.dataset, job.input.sample),
        params.measures,
        max_length=params.max_length,
        batch_size=params.batch_size,
    )
    tables, kept = attended(maps, job.input.annotation, job.wildcards.task, params.seed)
    for table in OF_HEADS:
        table.write(tables[of_weights(table)], getattr(job.output, of_weights(table)))
    with atomic(job.output.examples) as temporary:
        for (measure, model), profiles in kept.items():
            profiles.save(profiles_in(temporary, measure, model))
