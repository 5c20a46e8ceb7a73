"""What the analysis of layers needs, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.data import conllu_files
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import can_import

FEWEST = 60
"""Sentences without which no probe can be trained and scored."""


def check(config: Mapping[str, Any]) -> None:
    """Check the treebank whose words are probed.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: It has too few sentences, or see `conllu_files.read`.
    """
    treebank = config["syntax"]
    if treebank["source"] != "conllu" or not can_import("conllu"):
        return
    found = len(conllu_files.read(Path(treebank["path"])))
    if found < FEWEST:
        raise InputError(
            f"{treebank['path']} has {found} sentences; the analysis `layers` needs {FEWEST} or "
            "more, to train probes on two thirds of them and score them on the others. Give "
            "syntax.path a larger treebank, or leave the analysis out."
        )
