"""Take the trained classifier that ships with the project (section 4.1)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Copy the network and its cross-validation; return how they were made."""
    import shutil

    from darksecrets.patterns.tables import PATTERN_PREDICTIONS
    from darksecrets.run.files import atomic
    from darksecrets.run.provenance import read_record

    PATTERN_PREDICTIONS.write(
        PATTERN_PREDICTIONS.read(job.input.predictions), job.output.predictions
    )
    with atomic(job.output.classifier) as temporary:
        shutil.copytree(job.input.classifier, temporary)
    return {"made": read_record(job.input.classifier)}
