"""What resetting layers and flatness need of model and configuration, before the first job."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darksecrets.models.preflight import known_folder, local_folder, refusal
from darksecrets.run.errors import InputError


def check(config: Mapping[str, Any]) -> None:
    """Check the points of interpolations and loss surfaces, and the trainings that are followed.

    Raises:
        InputError: See `check_points`, `check_grid` and `check_seeds`.
    """
    check_points(config["landscape"]["points"])
    check_grid(config["landscape"]["surface"]["grid"])
    check_seeds(config)


def check_points(points: Sequence[float]) -> None:
    """Check that points of interpolations ascend from 0 to 1.

    Raises:
        InputError: The points do not ascend from 0 to 1.
    """
    ascending = all(one < other for one, other in itertools.pairwise(points))
    if not ascending or list(points[:1]) != [0] or list(points[-1:]) != [1]:
        raise InputError(
            f"landscape.points: found {list(points)}, expected ascending numbers from 0, what "
            "fine-tuning began with, to 1, what it made, such as [0, 0.5, 1]."
        )


def check_grid(points: int) -> None:
    """Check that a grid has a middle, where the fine-tuned model is.

    Raises:
        InputError: It has an even number of points.
    """
    if points % 2 == 0:
        raise InputError(
            f"landscape.surface.grid: found {points}, expected an odd number, so that the "
            f"fine-tuned model is a point of the grid. Set {points - 1} or {points + 1}."
        )


def check_seeds(config: Mapping[str, Any]) -> None:
    """Check that trainings to follow are among those of the run.

    Raises:
        InputError: A task has none of the seeds.
    """
    followed = config["landscape"]["trajectories"]
    for task in followed["tasks"]:
        own = config["tasks"][task]["seeds"]
        if followed["seeds"] is not None and not {*own} & {*followed["seeds"]}:
            raise InputError(
                f"landscape.trajectories.seeds: found {followed['seeds']}, expected one or more of "
                f"the seeds of {task}, {own}. Change one of them, or leave {task} out of "
                "landscape.trajectories.tasks."
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


def check_derivatives(config: Mapping[str, Any]) -> None:
    """Check that a model's loss has second derivatives, for runs that measure flatness.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: There are no second derivatives, or the Hub does not have the model.
    """
    require = "darksecrets.landscape.objective.require_second"
    folder = known_folder(config["model"])
    if folder and (reason := refusal(folder, require)):
        raise InputError(
            f"{reason} Everything else runs: set landscape.flatness.tasks to [], or leave out the "
            "tables and the figure of flatness."
        )


def inseparable(folder: Path) -> str:
    """Why the layers of a model cannot be reset; empty if they can, or if torch is missing."""
    return refusal(folder, "darksecrets.models.mixing.require_separable")
