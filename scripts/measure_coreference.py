"""Measure how often heads find the antecedents of pronouns and nouns (Clark et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then one with random weights, and write both tables."""
    import pandas as pd

    from darksecrets.models.reading import readings
    from darksecrets.run.tables import identify
    from darksecrets.syntax import sources
    from darksecrets.syntax.antecedents import resolve_all
    from darksecrets.syntax.coreference import documents, texts_of
    from darksecrets.syntax.coreference_statistics import tables
    from darksecrets.syntax.coreference_tables import TABLES
    from darksecrets.syntax.settings import Coreference

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
