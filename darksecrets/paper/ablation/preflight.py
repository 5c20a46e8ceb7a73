"""What the sweep needs of the configuration and the model, checked before the first job."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.interventions import sets
from darksecrets.core.models import checkpoints
from darksecrets.core.models.preflight import known_folder, local_folder, refusal
from darksecrets.core.models.selectors import Shape
from darksecrets.core.models.size import read_size
from darksecrets.core.run.errors import InputError

MODES = ("uniform", "zero")
"""Modes that need no check, the default first: checking others loads torch, which slows plans."""


def check(config: Mapping[str, Any]) -> None:
    """Check that the model has the heads to disable.

    A model on the Hub is checked by `check_run`.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: The mode is unknown, a selector names what the model lacks, or more heads are to
            be disabled together than it has.
    """
    model = config["model"]
    if model["source"] != "hub":
        _check_sets(config["ablation"], checkpoints.folder_of(model))


def check_run(config: Mapping[str, Any]) -> None:
    """Check what is known of a model only once a run that disables heads begins.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache. A run that
    is given text does not call `left_out`, since it may only look at the text.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `check`; or its heads cannot be disabled; or the Hub does not have it.
    """
    folder = known_folder(config["model"])
    if folder is None:
        return
    if config["model"]["source"] == "hub":
        _check_sets(config["ablation"], folder)
    if reason := unreachable(folder):
        without = "" if config["text"] is None else " without the key `text`"
        raise InputError(
            f"{reason} Start the run again{without}: the sweep over the heads is then left out "
            "from the start, and everything else runs."
        )


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out the sweep; empty if it can disable heads, or does not want to.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet.
    """
    folder = local_folder(config["model"], fetched)
    return unreachable(folder) if folder and config["ablation"]["states"] else ""


def unreachable(folder: Path) -> str:
    """Why the heads of a model cannot be disabled; empty if they can, or if torch is missing."""
    return refusal(folder, "darksecrets.core.models.hooks.require_reachable")


def _check_sets(ablation: Mapping[str, Any], folder: Path) -> None:
    """Check the mode, and the heads to disable against a model's folder."""
    if not ablation["states"]:
        return
    size = read_size(folder / "config.json")
    shape = Shape(size.layers, size.heads)
    sets.check(ablation["sets"], shape)
    if ablation["mode"] in MODES or importlib.util.find_spec("torch") is None:
        return
    from darksecrets.core.interventions import disable

    try:
        disable.check_mode(ablation["mode"])
    except InputError as error:
        raise InputError(f"ablation.mode in the configuration: {error}") from None


def check_states(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that a run disables heads, for targets that need it to.

    Args:
        config: A resolved configuration.
        left_out: Why it has to leave out the sweep, if it does.

    Raises:
        InputError: It disables none.
    """
    if left_out:
        raise InputError(
            f"{left_out} Figures 8 and 9 and the other results of section 4.6 cannot be made for "
            "this model; everything else can."
        )
    if not config["ablation"]["states"]:
        raise InputError(
            "This run disables no heads: ablation.states is []. Set [finetuned] or more "
            "states, or leave out Figures 8 and 9 and the other results "
            "of section 4.6."
        )
