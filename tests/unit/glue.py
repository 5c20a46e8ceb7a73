"""The tasks that ship, with data from any source."""

from pathlib import Path
from typing import Any

from darksecrets.core.data.tasks import Task
from workflow.lib.tasks import resolve, shipped, shipped_tasks

GLUE = "nyu-mll/glue"
GLUE_COMMIT = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"


def in_folder(name: str, folder: Path) -> Task:
    """A task of the classic GLUE folder."""
    return _from(name, {"source": "tsv", "folder": str(folder)})


def on_hub(name: str) -> Task:
    """A task of GLUE on the Hub."""
    return _from(name, {"source": "hub", "repository": GLUE, "revision": GLUE_COMMIT})


def _from(name: str, data: dict[str, Any]) -> Task:
    return Task.from_entry(name, resolve([*shipped()], data)[name])


TASKS = shipped_tasks()
"""As jobs know them that read prepared data."""
