"""Measure attention to the first token."""

import pandas as pd

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of all tasks."""
    from darksecrets.beyond.first_tokens.declared import FIRST_TOKENS, Settings
    from darksecrets.beyond.first_tokens.measure import first_tokens

    from darksecrets.core.attention.store import AttentionStore

    settings, stores = Settings.of(job.params.settings), job.input.all("stores")
    parts = [
        first_tokens(AttentionStore.open(store / "pretrained"), task, settings.examples)
        for task, store in zip(settings.tasks or (), stores, strict=True)
    ]
    FIRST_TOKENS.write(pd.concat(parts), job.output.table)
