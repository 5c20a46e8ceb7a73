"""What fine-tuning needs of the configuration and the model, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.models import checkpoints, suitability
from darksecrets.core.models.preflight import known_folder
from darksecrets.core.models.size import read_size
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check the layers of a local model; those of one on the Hub are checked by `check_run`.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: The top layers that are to be reinitialized cannot be.
    """
    if config["model"]["source"] != "hub":
        _check_layers(config, checkpoints.folder_of(config["model"]))


def check_run(config: Mapping[str, Any]) -> None:
    """Check the layers of a model on the Hub, of which ``config.json`` is downloaded.

    Raises:
        InputError: See `check`; or the Hub does not have the model.
    """
    model, layers = config["model"], config["fine_tuning"]["reinitialized_layers"]
    if model["source"] == "hub" and layers and (folder := known_folder(model)):
        _check_layers(config, folder)


def _check_layers(config: Mapping[str, Any], folder: Path) -> None:
    """Check that a model has the layers that are to be reinitialized."""
    layers = config["fine_tuning"]["reinitialized_layers"]
    if not layers:
        return
    found = read_size(folder / "config.json").layers
    if layers > found:
        raise InputError(
            f"fine_tuning.reinitialized_layers is {layers}, but {folder} has {found} layers. "
            "Lower it; Zhang et al. (2021) reinitialize 1 to 6 of 24."
        )
    if can_import("safetensors", "torch", "transformers"):
        from darksecrets.core.models.starting import redraw_top

        try:
            redraw_top(suitability.trial_model(folder), 1, seed=0)
        except InputError as error:
            raise InputError(f"{folder}: {error}") from None
