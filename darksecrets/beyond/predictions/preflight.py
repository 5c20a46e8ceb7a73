"""What the analysis of predictions needs, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.beyond.predictions.cloze import read_items
from darksecrets.beyond.predictions.declared import Settings
from darksecrets.beyond.predictions.pairs import read_pairs
from darksecrets.core.models.checkpoints import tensor_names
from darksecrets.core.models.preflight import local_folder
from darksecrets.core.run.libraries import can_import

_HEADS = ("predictions.", "lm_head.", "vocab_transform", "generator_lm_head", "head.dense")
"""Parts of the names of a masked-word head's weights, in the families of `transformers`."""


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Why a run has to leave out masked words, in a sentence; empty if it does not.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. Of a model that is
            neither there nor in the Hub's cache, the job finds out.
    """
    folder = local_folder(config["model"], fetched)
    if folder is None or not can_import("safetensors"):
        return ""
    if any(head in name for name in tensor_names(folder) for head in _HEADS):
        return ""
    return (
        f"{folder}: the checkpoint has no head that predicts masked words. Minimal pairs and "
        "sentences with a masked word are left out; impact trees need none, and are made."
    )


def check(config: Mapping[str, Any]) -> None:
    """Check the files of pairs and of sentences with a masked word.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `pairs.read_pairs` and `cloze.read_items`.
    """
    settings = Settings.of(config["predictions"])
    read_pairs(Path(settings.pairs))
    read_items(Path(settings.cloze))
