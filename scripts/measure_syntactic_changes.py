"""Measure what fine-tuning changes for the heads that follow syntactic relations."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then the fine-tuned ones of a task; write the table of these."""
    import pandas as pd

    from darksecrets.run.tables import identify
    from darksecrets.syntax import changes, treebank
    from darksecrets.syntax.measuring import guess
    from darksecrets.syntax.tables import SYNTACTIC_CHANGES

    sentences, params = treebank.read(job.input.treebank), job.params
    given = {"max_length": params.max_length, "batch_size": params.batch_size}
    before = changes.Before(*guess(job.input.pretrained, sentences, **given), params.seed)
    parts = []
    for model, folder in zip(params.models, job.input.all("finetuned"), strict=True):
        _, after = guess(folder, sentences, **given)
        parts.append(identify(before.table(after), job.wildcards.task, model))
    SYNTACTIC_CHANGES.write(pd.concat(parts, ignore_index=True), job.output.table)
