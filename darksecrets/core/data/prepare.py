"""Write data from any source in the form of the data contract (section 3)."""

from __future__ import annotations

from pathlib import Path

from darksecrets.core.data import checks, sources
from darksecrets.core.data.tasks import HubData, Task
from darksecrets.core.run.files import atomic, write_json

SUMMARY = "summary.json"


def prepare(task: Task, output: Path) -> None:
    """Check the data set of a task and write it with a summary of the checks.

    Args:
        task: The task.
        output: Folder to write to.

    Raises:
        InputError: The source is not available, or its data do not belong to the task.
    """
    read = sources.read_hub if isinstance(task.data, HubData) else sources.read_files
    dataset = read(task)
    summary = checks.check(dataset, task)
    with atomic(output) as temporary:
        dataset.save_to_disk(str(temporary))
        write_json(summary, temporary / SUMMARY)
