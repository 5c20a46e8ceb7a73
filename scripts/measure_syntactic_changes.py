"""Measure what fine-tuning changes for the heads that follow syntactic relations."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Run the pre-trained model, then the fine-tuned ones of all tasks; write their table."""
    import pandas as pd

    from darksecrets.models.reading import readings
    from darksecrets.run.tables import identify
    from darksecrets.syntax import changes, treebank
    from darksecrets.syntax.measuring import guess
    from darksecrets.syntax.tables import SYNTACTIC_CHANGES

    sentences, params = treebank.read(job.input.treebank), job.params
    folders = [job.input.pretrained, *job.input.all("finetuned")]
    names = ["pretrained", *map("/".join, params.models)]
    pretrained, *finetuned = readings(names, folders, **params.reading).values()
    before, parts = changes.Before(*guess(pretrained, sentences), params.seed), []
    for (task, model), reading in zip(params.models, finetuned, strict=True):
        _, after = guess(reading, sentences)
        parts.append(identify(before.table(after), task, model))
    SYNTACTIC_CHANGES.write(pd.concat(parts, ignore_index=True), job.output.table)
