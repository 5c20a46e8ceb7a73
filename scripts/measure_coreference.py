"""Measure how often heads find the antecedents of pronouns and nouns (Clark et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then one with random weights, and write both tables."""
    import pandas as pd

    from darksecrets.models.loading import Draw
    from darksecrets.run.tables import identify
    from darksecrets.syntax import treebank
    from darksecrets.syntax.antecedents import resolve_all
    from darksecrets.syntax.coreference import builtin, texts_of
    from darksecrets.syntax.coreference_statistics import tables
    from darksecrets.syntax.coreference_tables import COREFERENCE_HEADS, COREFERENCE_METHODS

    params, documents = job.params, job.input.all("documents")
    if documents:
        texts = texts_of(treebank.read(documents[0]))
    else:
        texts = builtin(params.texts, params.seed)
    draw = Draw(int(params.random.partition("/seed-")[2]), params.std)
    parts = []
    for model in ("pretrained", params.random):
        resolved = resolve_all(
            texts,
            job.input.model,
            max_length=params.max_length,
            batch_size=params.batch_size,
            draw=draw if model == params.random else None,
        )
        found = tables(resolved, params.seed)
        parts.append([identify(table, None, model) for table in found])
    heads, methods = (pd.concat(rows, ignore_index=True) for rows in zip(*parts, strict=True))
    COREFERENCE_HEADS.write(heads, job.output.coreference_heads)
    COREFERENCE_METHODS.write(methods, job.output.coreference_methods)
