"""Checks of a run's data before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from darksecrets.core.data import sources
from darksecrets.core.data.tasks import Files, HubData, Task
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import can_import


def check(config: Mapping[str, Any]) -> dict[str, dict[str, list[list[str]]]]:
    """Check the data files on this machine.

    Args:
        config: A resolved configuration.

    Returns:
        By task with local files, and by split, the text columns of some examples.

    Raises:
        InputError: A file is missing, or a line is malformed.
    """
    tasks = _tasks(config)
    _check_folder(tasks, config["data"]["folder"])
    return {task.name: sources.check_files(task) for task in tasks if isinstance(task.data, Files)}


def _check_folder(tasks: list[Task], folder: str | None) -> None:
    """Check that the classic GLUE folder has the tasks that are configured."""
    inside = [
        task
        for task in tasks
        if isinstance(task.data, Files) and folder and task.data.train.parent.parent == Path(folder)
    ]
    absent = [
        task.name
        for task in inside
        if not any(p.is_file() for p in sources.paths_of(task).values())
    ]
    if not absent:
        return
    if not Path(str(folder)).is_dir():
        raise InputError(f"data.folder: no such folder {folder}. Correct the path.")
    found = [task.name for task in tasks if task.name not in absent]
    advice = f"tasks: [{', '.join(found)}]" if found else "tasks of which it has files"
    raise InputError(
        f"data.folder: {folder} has no files of {', '.join(absent)}, expected "
        "<folder>/<task>/train.tsv and dev.tsv (for MNLI, dev_matched.tsv) of every task. "
        f"Set {advice}, or add the files."
    )


def check_hub(config: Mapping[str, Any]) -> None:
    """Check that data on the Hub can be fetched or are in the cache, and are those of the tasks.

    Raises:
        InputError: They are neither on the Hub nor in the cache, or have other columns or classes.
    """
    on_hub = [task for task in _tasks(config) if isinstance(task.data, HubData)]
    if on_hub and can_import("huggingface_hub"):
        sources.check_hub(on_hub)
        if can_import("datasets"):
            sources.check_hub_columns(on_hub)


def check_chosen(config: Mapping[str, Any], key: str, lacks: str) -> None:
    """Check that some tasks are chosen for a part of a run, for targets that need it.

    Args:
        config: A resolved configuration.
        key: The key that chooses them, such as ``compression.tasks``.
        lacks: What a run without any does not do, such as ``compresses no models``.

    Raises:
        InputError: No task is chosen.
    """
    if not reduce(getitem, key.split("."), config):
        raise InputError(
            f"This run {lacks}: {key} is [] and names no task. Change the "
            "configuration, or leave out this target."
        )


def _tasks(config: Mapping[str, Any]) -> list[Task]:
    return [Task.from_entry(name, entry) for name, entry in config["tasks"].items()]
