"""Measure how often heads find the antecedents of pronouns and nouns (Clark et al. 2019)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then one with random weights, and write both tables."""
    import pandas as pd

    from darksecrets.beyond.syntax.declared import COREFERENCE_TABLES as TABLES
    from darksecrets.beyond.syntax.declared import Coreference
    from darksecrets.beyond.syntax.measure import sources
    from darksecrets.beyond.syntax.measure.antecedents import resolve_all
    from darksecrets.beyond.syntax.measure.coreference import documents, texts_of
    from darksecrets.beyond.syntax.measure.coreference_statistics import tables
    from darksecrets.core.models.reading import readings
    from darksecrets.core.run.tables import identify

    params = job.params
    settings = Coreference.of(params.settings)
    sentences = sources.read_texts(job.input.texts)
    texts = texts_of(documents(sentences, settings.texts, settings.seed))
    parts = []
    for model, reading in readings(params.models, [job.input.model] * 2, **params.reading).items():
        found = tables(resolve_all(reading, texts), settings.seed)
        parts.append([identify(table, None, model) for table in found])
    for table, rows in zip(TABLES, zip(*parts, strict=True), strict=True):
        table.write(pd.concat(rows, ignore_index=True), getattr(job.output, table.name))
