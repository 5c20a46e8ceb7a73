"""What norms, and other analyses of values, need of the model, checked before the first job."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.data import hub
from darksecrets.models import checkpoints
from darksecrets.models.size import config_file
from darksecrets.run.errors import InputError
from darksecrets.run.libraries import can_import


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out norms; empty if the values of its encoder can be observed.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet; `check_run` checks it.
    """
    model = config["model"]
    file = config_file(model, fetched)
    if model["source"] == "builtin" or not file:  # tests check the shipped model
        return ""
    return unobserved(file.parent)


def check_run(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that values can be observed, for runs that measure norms or faithfulness.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.
        left_out: Why the run has to leave them out, if it does.

    Raises:
        InputError: They cannot; or the Hub does not have the model.
    """
    if left_out:
        raise InputError(
            f"{left_out} Norms, effective attention and faithfulness cannot be measured for this "
            "model; everything else can."
        )
    model = config["model"]
    if model["source"] == "builtin":
        return
    if model["source"] == "folder":
        folder = checkpoints.folder_of(model)
    elif can_import("huggingface_hub"):
        folder = hub.download(model["id"], model["revision"], ["config.json"], "model")
    else:
        return
    if reason := unobserved(folder):
        without = "" if config["text"] is None else " without the key `text`"
        raise InputError(
            f"{reason} Start the run again{without}: norms, second opinions and faithfulness are "
            "then left out from the start, and everything else runs."
        )


def unobserved(folder: Path) -> str:
    """Why the values of a model cannot be observed; empty if they can, or if torch is missing.

    This is found on a small random model of the checkpoint's architecture.
    """
    if importlib.util.find_spec("torch") is None:
        return ""
    from darksecrets.models.hooks import require_projections

    try:
        require_projections(checkpoints.trial_model(folder))
    except InputError as error:
        return f"{folder}: {error}"
    return ""
