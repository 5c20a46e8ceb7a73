"""What resetting layers and loss surfaces need of model and configuration, before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.models.preflight import known_folder, local_folder, refusal
from darksecrets.core.run.errors import InputError


def check(config: Mapping[str, Any]) -> None:
    """Check the points of loss surfaces.

    Raises:
        InputError: See `check_grid`.
    """
    check_grid(config["landscape"]["surface"]["grid"])


def check_grid(points: int) -> None:
    """Check that a grid has a middle, where the fine-tuned model is.

    Raises:
        InputError: It has an even number of points.
    """
    if points % 2 == 0:
        raise InputError(
            f"landscape.surface.grid is {points}, but must be odd, so that the fine-tuned model "
            f"is a point of the grid. Set {points - 1} or {points + 1}."
        )


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out resetting layers; empty if it can, or does not want to.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet; `check_run` checks it.
    """
    folder = local_folder(config["model"], fetched)
    return inseparable(folder) if folder and config["landscape"]["tasks"] else ""


def check_run(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that layers can be reset, for runs that do so.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.
        left_out: Why the run has to leave it out, if it does.

    Raises:
        InputError: Layers cannot be reset, or the Hub does not have the model.
    """
    reason = left_out
    if not reason and (folder := known_folder(config["model"])):
        reason = inseparable(folder)
    if reason:
        raise InputError(
            f"{reason} Everything else runs: set landscape.tasks to [], or leave out the tables "
            "and figures of layers reset to pre-trained weights."
        )


def inseparable(folder: Path) -> str:
    """Why the layers of a model cannot be reset; empty if they can, or if torch is missing."""
    return refusal(folder, "darksecrets.core.models.mixing.require_separable")
