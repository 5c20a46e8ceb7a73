"""What distances between heads need of the model, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.models.preflight import known_folder
from darksecrets.core.models.size import config_file, read_size
from darksecrets.core.run.errors import InputError


def has_one_head(config: Mapping[str, Any], fetched: Path) -> bool:
    """Whether the encoder has a single head, so that a run leaves out the distances between heads.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. A model that is neither
            there nor in the Hub's cache is not known yet; `check_heads` checks it.
    """
    file = config_file(config["model"], fetched)
    return file is not None and file.is_file() and _heads(file) == 1


def check_heads(config: Mapping[str, Any]) -> None:
    """Check that the encoder has several heads, for jobs that measure the distances between them.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: It has one; or the Hub does not have the model.
    """
    folder = known_folder(config["model"])
    if folder and _heads(folder / "config.json") == 1:
        raise InputError(
            f"{folder}: this encoder has one head, so there are no distances between heads. Start "
            "the run again without targets of the redundancy of heads: everything else runs."
        )


def _heads(file: Path) -> int:
    size = read_size(file)
    return size.layers * size.heads
