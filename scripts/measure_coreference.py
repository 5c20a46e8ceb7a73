"""Measure how often heads find the antecedents of pronouns and nouns (Clark et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then one with random weights, and write both tables."""
    import pandas as pd

    from darksecrets.models.reading import readings
    from darksecrets.run.tables import identify
    from darksecrets.syntax import treebank
    from darksecrets.syntax.antecedents import resolve_all
    from darksecrets.syntax.coreference import builtin, texts_of
    from darksecrets.syntax.coreference_statistics import tables
    from darksecrets.syntax.coreference_tables import TABLES
    from darksecrets.syntax.settings import Coreference

    params, documents = job.params, job.input.all("documents")
    settings = Coreference.of(params.settings)
    if documents:
        texts = texts_of(treebank.read(documents[0]))
    else:
        texts = builtin(settings.texts, settings.seed)
    parts = []
    for model, reading in readings(params.models, [job.input.model] * 2, **params.reading).items():
        found = tables(resolve_all(reading, texts), settings.seed)
        parts.append([identify(table, None, model) for table in found])
    for table, rows in zip(TABLES, zip(*parts, strict=True), strict=True):
        table.write(pd.concat(rows, ignore_index=True), getattr(job.output, table.name))
