"""What norms, and other analyses of values, need of the model, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.models.preflight import known_folder, local_folder, refusal
from darksecrets.core.run.errors import InputError


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out norms; empty if the values of its encoder can be observed.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet; `check_run` checks it.
    """
    folder = local_folder(config["model"], fetched)
    return unobserved(folder) if folder else ""


def check_run(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that values can be observed, for runs that measure norms or faithfulness.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.
        left_out: Why the run has to leave them out, if it does.

    Raises:
        InputError: Values cannot be observed, or the Hub does not have the model.
    """
    if left_out:
        raise InputError(
            f"{left_out} Norms, effective attention and faithfulness cannot be measured for this "
            "model; everything else can."
        )
    folder = known_folder(config["model"])
    if folder and (reason := unobserved(folder)):
        without = "" if config["text"] is None else " without the key `text`"
        raise InputError(
            f"{reason} Start the run again{without}: the analyses that need value vectors are then "
            "left out from the start, and everything else runs."
        )


def unobserved(folder: Path) -> str:
    """Why the values of a model cannot be observed; empty if they can, or if torch is missing."""
    return refusal(folder, "darksecrets.core.models.hooks.require_projections")
