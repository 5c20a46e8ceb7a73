"""Checks of a run's model before the first job."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.data import coverage, hub
from darksecrets.core.data.encoding import encode
from darksecrets.core.data.tasks import SENTENCES
from darksecrets.core.models import checkpoints, fetching, suitability, tokenizing
from darksecrets.core.models.size import config_file
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import is_shipped
from darksecrets.core.run.libraries import can_import


def check(config: Mapping[str, Any]) -> None:
    """Check a model on this machine; one on the Hub is checked after its download.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if can_import("safetensors", "torch", "transformers"):
        model, max_length = config["model"], config["fine_tuning"]["max_length"]
        fetching.check(model, max_length)
        if model["source"] == "folder" and not checkpoints.is_shipped(Path(model["folder"])):
            fetching.check_fit(Path(model["folder"]), max_length)


def check_texts(
    config: Mapping[str, Any], texts: Mapping[str, Mapping[str, list[list[str]]]]
) -> None:
    """Check what the tokenizer of a model on this machine leaves of the tasks' texts.

    Args:
        config: A resolved configuration.
        texts: By task and split, the text columns of some examples.

    Raises:
        InputError: A text has no word piece, or nearly nothing is left of a task; or the tokenizer
            cannot join two texts.
    """
    model, max_length = config["model"], config["fine_tuning"]["max_length"]
    if model["source"] != "folder" or not can_import("safetensors", "torch", "transformers"):
        return
    folder = Path(model["folder"])
    tokenizer = None if checkpoints.is_shipped(folder) else tokenizing.load_tokenizer(folder)
    for task, splits in texts.items():
        if tokenizer is None and is_shipped(Path(config["tasks"][task]["files"]["train"])):
            continue  # the tiny BERT was made for them
        for split, columns in splits.items():
            where = f"{task}, {split}"
            if tokenizer is None:
                coverage.look_with(folder, columns, max_length, where)
                continue
            named = dict(zip(SENTENCES, columns, strict=False))
            encode(named, tokenizer, max_length, where=where)


def check_hub(config: Mapping[str, Any]) -> None:
    """Check that a model on the Hub can be downloaded or is in the cache.

    Raises:
        InputError: It is in neither.
    """
    if config["model"]["source"] == "hub" and can_import("huggingface_hub"):
        checkpoints.check_hub(config["model"])


def local_folder(model: Mapping[str, Any], fetched: Path) -> Path | None:
    """The folder with a model's ``config.json``, if it is on this machine; nothing is downloaded.

    Args:
        model: Section ``model`` of a configuration.
        fetched: Folder into which the run downloads a model from the Hub.

    Returns:
        None also for the shipped model, with which everything can be done.
    """
    file = config_file(model, fetched)
    return file.parent if file and not checkpoints.is_shipped(file.parent) else None


def known_folder(model: Mapping[str, Any]) -> Path | None:
    """The folder with a model's ``config.json``, which is downloaded if only the Hub has it.

    Args:
        model: Section ``model`` of a configuration.

    Returns:
        None if the Hub cannot be asked, because ``huggingface_hub`` is missing; and for the shipped
        model, with which everything can be done.

    Raises:
        InputError: The Hub does not have the model.
    """
    if model["source"] == "folder":
        folder = checkpoints.folder_of(model)
        return None if checkpoints.is_shipped(folder) else folder
    if not can_import("huggingface_hub"):
        return None
    return hub.download(model["id"], model["revision"], ["config.json"], "model")


def refusal(folder: Path, require: str) -> str:
    """Why something cannot be done with a checkpoint; empty if it can, or if torch is missing.

    Args:
        folder: The checkpoint; ``config.json`` is enough.
        require: Module and name of a function that raises an `InputError` for a model with which it
            cannot be done; it gets a small random model of the checkpoint's architecture. By name,
            because its module imports torch, which slows plans.
    """
    if importlib.util.find_spec("torch") is None:
        return ""
    module, _, name = require.rpartition(".")
    try:
        getattr(importlib.import_module(module), name)(suitability.trial_model(folder))
    except InputError as error:
        return f"{folder}: {error}"
    return ""
