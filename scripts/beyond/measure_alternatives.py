"""Measure what heads attend to by norms and by effective attention (sections 4.4, 4.5 and 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write heads of all models of one task along pairs, and what comparisons of models need."""
    from darksecrets.beyond.attention_measures.declared import (
        EQUAL_WORD_CONTROLS,
        PAIRS,
        profiles_in,
    )
    from darksecrets.beyond.attention_measures.measure.heads import attended
    from darksecrets.beyond.attention_measures.measure.running import run
    from darksecrets.core.attention.extraction import read_sample
    from darksecrets.core.data.sampling import sample
    from darksecrets.core.models.reading import readings
    from darksecrets.core.run.files import atomic

    params = job.params
    folders = [job.input.pretrained, *job.input.all("finetuned"), job.input.pretrained]
    sampled = sample(job.input.dataset, **params.samples)
    models = readings(params.models, folders, **params.reading)
    maps = run(models, read_sample(job.input.dataset, sampled), params.measures)
    tables, kept = attended(maps, job.input.annotation, job.wildcards.task, params.seed)
    PAIRS.write(tables["token_pairs"], job.output.pairs)
    EQUAL_WORD_CONTROLS.write(tables["equal_word_controls"], job.output.controls)
    with atomic(job.output.examples) as temporary:
        for (measure, model), profiles in kept.items():
            profiles.save(profiles_in(temporary, measure, model))
