"""Checks of a run's data before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.data import sources
from darksecrets.data.tasks import TASKS
from darksecrets.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check the data files on this machine.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: A file is missing, or a line is malformed.
    """
    if config["data"]["source"] == "tsv":
        for task in config["tasks"]:
            sources.check_tsv(TASKS[task], Path(config["data"]["folder"]))


def check_hub(config: Mapping[str, Any]) -> None:
    """Check that data on the Hub can be fetched or are in the cache.

    Raises:
        InputError: They are neither on the Hub nor in the cache.
    """
    data = config["data"]
    if data["source"] == "hub" and can_import("huggingface_hub"):
        tasks = [TASKS[name] for name in config["tasks"]]
        sources.check_hub(tasks, data["repository"], data["revision"])
