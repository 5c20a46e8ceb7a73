"""Which compressed models an encoder can have, known before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.models import checkpoints
from darksecrets.core.models.size import config_file

KNOWN = ("bert", "electra", "roberta")
"""Types of the models in `darksecrets.core.models.layers.KNOWN`, which loads torch."""


def left_out(config: Mapping[str, Any], fetched: Path) -> str:
    """Which rows a run has to leave out, in a sentence; empty if none.

    Args:
        config: A resolved configuration.
        fetched: Folder into which the run downloads a model from the Hub. Of a model that is
            neither there nor in the Hub's cache, the jobs find out.
    """
    file = config_file(config["model"], fetched)
    if not file:
        return ""
    kind = checkpoints.read_settings(file).get("model_type")
    if kind in KNOWN:
        return ""
    return (
        f"Compressed models with fewer heads, MLPs or layers are left out: this is possible with "
        f"the model types {', '.join(KNOWN)}, not with '{kind}'. The other rows of compression.csv "
        "are made."
    )
