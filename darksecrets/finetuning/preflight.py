"""What fine-tuning needs of the configuration and the model, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.data import hub
from darksecrets.models import checkpoints
from darksecrets.models.size import read_size
from darksecrets.run.errors import InputError
from darksecrets.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check seeds and layers; the layers of a model on the Hub are checked by `check_run`.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: Several seeds would give the same model, or the top layers that are to be drawn
            again cannot be.
    """
    _check_seeds(config)
    if config["model"]["source"] != "hub":
        _check_layers(config, checkpoints.folder_of(config["model"]))


def check_run(config: Mapping[str, Any]) -> None:
    """Check the layers of a model on the Hub, of which ``config.json`` is downloaded.

    Raises:
        InputError: See `check`; or the Hub does not have the model.
    """
    model, layers = config["model"], config["fine_tuning"]["reinitialized_layers"]
    if model["source"] == "hub" and layers and can_import("huggingface_hub"):
        folder = hub.download(model["id"], model["revision"], ["config.json"], "model")
        _check_layers(config, folder)


def _check_seeds(config: Mapping[str, Any]) -> None:
    """Check that two seeds of a task give two models."""
    settings = config["fine_tuning"]
    fixed = [settings[key] is not None for key in ("init_seed", "order_seed")]
    several = [name for name, entry in config["tasks"].items() if len(entry["seeds"]) > 1]
    if all(fixed) and several:
        raise InputError(
            f"fine_tuning.order_seed: found a seed, beside fine_tuning.init_seed and several seeds "
            f"of {', '.join(several)}, expected at most one of both: all models of a task would be "
            "the same. Remove one of both, or give one seed in `seeds`."
        )


def _check_layers(config: Mapping[str, Any], folder: Path) -> None:
    """Check that a model has the layers that are to be drawn again."""
    layers = config["fine_tuning"]["reinitialized_layers"]
    if not layers:
        return
    found = read_size(folder / "config.json").layers
    if layers > found:
        raise InputError(
            f"fine_tuning.reinitialized_layers: found {layers}, expected at most {found}, the "
            f"layers of {folder}. Lower it; Zhang et al. (2021) draw 1 to 6 of 24 again."
        )
    if can_import("safetensors", "torch", "transformers"):
        from darksecrets.models.starting import redraw_top

        try:
            redraw_top(checkpoints.trial_model(folder), 1, seed=0)
        except InputError as error:
            raise InputError(f"{folder}: {error}") from None
