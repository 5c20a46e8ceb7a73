"""What the sweep needs of the configuration and the model, checked before the first job."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.ablation import sets
from darksecrets.models import checkpoints
from darksecrets.models.selectors import Shape
from darksecrets.models.size import read_size
from darksecrets.run.errors import InputError

DEFAULT_MODE = "uniform"
"""The mode that needs no check: checking others loads torch, which would slow every plan."""


def check(config: Mapping[str, Any]) -> None:
    """Check that the model has the heads to disable, and that they can be.

    A model on the Hub is checked after its download, before anything is trained.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `check_model`.
    """
    model = config["model"]
    if model["source"] != "hub":
        # The test suite checks the shipped model.
        check_model(
            config["ablation"], checkpoints.folder_of(model), trial=model["source"] == "folder"
        )


def check_model(ablation: Mapping[str, Any], folder: Path, *, trial: bool = True) -> None:
    """Check the heads to disable against a model's folder.

    Args:
        ablation: Section ``ablation`` of a configuration.
        folder: A checkpoint.
        trial: Whether to try to disable heads in a small model of the same architecture. If torch
            is not installed, the first job does that.

    Raises:
        InputError: The mode is unknown, a selector names what the model lacks, or its attention
            cannot be reached.
    """
    if not ablation["states"]:
        return
    size = read_size(folder / "config.json")
    sets.check(ablation["sets"], Shape(size.layers, size.heads))
    by_default = ablation["mode"] == DEFAULT_MODE and not trial
    if by_default or importlib.util.find_spec("torch") is None:
        return
    from darksecrets.ablation import disable

    disable.check_mode(ablation["mode"])
    if trial:
        disable.check(folder)


def check_states(config: Mapping[str, Any]) -> None:
    """Check that a run disables heads, for targets that need it to.

    Raises:
        InputError: It disables none.
    """
    if not config["ablation"]["states"]:
        raise InputError(
            "This run disables no heads: found ablation.states: [], expected [finetuned] or more "
            "states. Change the configuration, or leave out Figures 8 and 9 and the other results "
            "of section 4.6."
        )
