"""Look up the effects of the heads that the other experiments single out (section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _job import Job, script

if TYPE_CHECKING:
    import pandas as pd

    from darksecrets.run.tables import Table


@script
def main(job: Job) -> None:
    """Write the effects of these heads, one by one and on average, beside random heads."""
    from darksecrets.ablation.links import Experiments, linked
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.ablation.tables import HEAD_ABLATION, LINKED_ABLATION, LINKED_GROUPS
    from darksecrets.features.tables import EQUAL_WORDS, TOKEN_PAIRS
    from darksecrets.framenet.tables import HEADS

    def optional(declared: Table, name: str) -> pd.DataFrame | None:
        paths = job.input.all(name)  # none if no task has what is measured
        return declared.read(paths[0]) if paths else None

    experiments = Experiments(
        HEADS.read(job.input.framenet),
        optional(EQUAL_WORDS, "equal_words"),
        optional(TOKEN_PAIRS, "token_pairs"),
    )
    paths = zip(job.params.models, job.input.all("sweeps"), strict=True)
    sweeps = ((tuple(model), SweepResult.load(path)) for model, path in paths)
    heads = HEAD_ABLATION.read(job.input.heads)
    each, groups = linked(heads, sweeps, experiments, Resampling(**job.params.resampling))
    LINKED_ABLATION.write(each, job.output.table)
    LINKED_GROUPS.write(groups, job.output.groups)
