"""Compare models by each measure of attention, and decide claims by each (sections 4.2 to 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the levels of attention and the claims, for all measures."""
    import pandas as pd

    from darksecrets.beyond.attention_measures import declared
    from darksecrets.beyond.attention_measures.measure.statistics import compared, split_measures
    from darksecrets.core.run.columns import MEASURE, WEIGHTS
    from darksecrets.pages.claims import measures, registry, sources
    from darksecrets.pages.claims.tables import CLAIMS_BY_MEASURE
    from darksecrets.pages.contracts import TABLES
    from darksecrets.paper.features.tables import ATTENTION_LEVELS, EQUAL_WORD_CONTROLS
    from darksecrets.paper.framenet.tables import CONTROLS_OF_HEADS, HEADS

    params = job.params
    found = compared(
        params.measures,
        pd.concat(map(declared.PAIRS.read, job.input.all("pairs")), ignore_index=True),
        dict(zip(params.tasks, job.input.all("examples"), strict=True)),
        [tuple(names) for names in params.models],
        draws=params.draws,
        resamples=params.resamples,
        seed=params.seed,
    )
    weights = ATTENTION_LEVELS.read(job.input.levels)
    weights.insert(0, MEASURE.name, WEIGHTS)
    levels = pd.concat([weights, found[ATTENTION_LEVELS.name]], ignore_index=True)
    declared.LEVELS.write(levels, job.output.levels)

    if paths := job.input.all("controls"):
        found[EQUAL_WORD_CONTROLS.name] = pd.concat(map(declared.EQUAL_WORD_CONTROLS.read, paths))
    found[HEADS.name] = declared.LINKED_HEADS.read(job.input.linked_heads)
    found[CONTROLS_OF_HEADS.name] = declared.LINKED_CONTROLS.read(job.input.linked_controls)
    papers = registry.select_for_run(registry.read(job.input.all("registry")), params.analyses)
    decided = measures.table(
        measures.concerned(papers, declared.REPLACED),
        sources.read(job.input.all("tables"), TABLES),
        sources.Run(**params.run),
        split_measures(found, params.measures),
        declared.REPLACED,
    )
    CLAIMS_BY_MEASURE.write(decided, job.output.claims)
