"""What restoring layers needs of the model and the configuration, before the first job."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.data import hub
from darksecrets.landscape.points import check_points
from darksecrets.models import checkpoints
from darksecrets.models.size import config_file
from darksecrets.run.errors import InputError
from darksecrets.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check the points of the interpolations.

    Raises:
        InputError: See `darksecrets.landscape.points.check_points`.
    """
    check_points(config["landscape"]["points"])


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out restoring layers; empty if it can, or does not want to.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet; `check_run` checks it.
    """
    model = config["model"]
    file = config_file(model, fetched)
    # Tests check the shipped model.
    if model["source"] == "builtin" or not file or not config["landscape"]["tasks"]:
        return ""
    return inseparable(file.parent)


def check_run(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that layers can be restored, for runs that do so.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.
        left_out: Why the run has to leave it out, if it does.

    Raises:
        InputError: They cannot; or the Hub does not have the model.
    """
    model = config["model"]
    reason = left_out
    if model["source"] == "hub" and not reason and can_import("huggingface_hub"):
        reason = inseparable(hub.download(model["id"], model["revision"], ["config.json"], "model"))
    if reason:
        raise InputError(
            f"{reason} Everything else runs: set landscape.tasks to [], or leave out the tables "
            "and figures of restored layers."
        )


def inseparable(folder: Path) -> str:
    """Why the layers of a model cannot be restored; empty if they can, or if torch is missing.

    This is found on a small random model of the checkpoint's architecture.
    """
    if importlib.util.find_spec("torch") is None:
        return ""
    from darksecrets.models import mixing

    reason = mixing.inseparable(checkpoints.trial_model(folder))
    return f"{folder}: {reason}" if reason else ""
