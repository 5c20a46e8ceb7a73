"""Checks of a run's model before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.models import checkpoints, loading
from darksecrets.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check a model on this machine; one on the Hub is checked after its download.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if can_import("safetensors", "torch", "transformers"):
        model, max_length = config["model"], config["fine_tuning"]["max_length"]
        checkpoints.check(model, max_length)
        if model["source"] == "folder":
            loading.check_fit(Path(model["folder"]), max_length)


def check_hub(config: Mapping[str, Any]) -> None:
    """Check that a model on the Hub can be downloaded or is in the cache.

    Raises:
        InputError: It is in neither.
    """
    if config["model"]["source"] == "hub" and can_import("huggingface_hub"):
        checkpoints.check_hub(config["model"])
