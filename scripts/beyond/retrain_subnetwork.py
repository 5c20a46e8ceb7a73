"""Fine-tune a subnetwork from the pre-trained weights (Prasanna et al. 2020)."""

import tempfile
from pathlib import Path
from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train with all other parts removed, resuming where an interrupted job stopped."""
    from darksecrets.beyond.subnetworks.declared import SUBNETWORKS
    from darksecrets.beyond.subnetworks.measure.parts import Parts
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.run.states import FINETUNED
    from darksecrets.paper.finetuning.training import Settings, finetune

    table, chosen = SUBNETWORKS.read(job.input.subnetworks), job.wildcards
    mine = (table["subnetwork"] == chosen.subnetwork) & (table["draw"] == int(chosen.draw))
    with tempfile.TemporaryDirectory() as unused:  # scores and curve: the predictions say enough
        details = finetune(
            job.input.model,
            job.input.dataset,
            job.output.model,
            task=Task.from_entry(chosen.task, job.params.task),
            state=FINETUNED,
            seed=int(chosen.seed),
            settings=Settings(**job.params.fine_tuning),
            threads=job.threads,
            scores=Path(unused) / "scores.csv",
            predictions=job.output.predictions,
            curve=Path(unused) / "curve.csv",
            removal=Parts.from_table(table[mine]).removal(),
        )
    return {"training": details}
