"""The trained classifier that ships with the project, and when it serves.

Training and cross-validation depend only on the labelled maps and a few settings. For the set that
ships with the project and the default settings, their results ship, too. `make pattern-classifier`
makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint, write_json
from darksecrets.paper.patterns.maps import labelled_maps

CLASSIFIER = labelled_maps.SHIPPED / "classifier"
"""The network, as `classifier.save` writes it, and `TRAINING`."""
TRAINING = "training.json"
"""What it was trained with: settings and labelled maps."""
PREDICTIONS = labelled_maps.SHIPPED / "pattern_predictions.csv"
"""Its cross-validation."""


def training_settings(patterns: Mapping[str, Any]) -> dict[str, Any]:
    """Those keys of section ``patterns`` of a configuration that training depends on."""
    return {key: patterns[key] for key in ("annotations", "folds", "epochs", "drawn_maps", "seed")}


def serves(patterns: Mapping[str, Any]) -> bool:
    """Whether the classifier that ships is the one that training would yield.

    It must have been trained with the same settings and the labelled maps as they are now. That the
    code still yields it is left to a test, which trains one fold again.

    Args:
        patterns: Section ``patterns`` of a resolved configuration.

    Raises:
        InputError: What it was trained with is missing or damaged.
    """
    try:
        made = json.loads((CLASSIFIER / TRAINING).read_bytes())
        settings, labelled = made["settings"], made["labelled"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{CLASSIFIER / TRAINING} does not say how the classifier of patterns was trained: it "
            f"is damaged ({error}). Restore the file, or make it again: "
            "`make pattern-classifier`."
        ) from None
    if settings != training_settings(patterns):
        return False
    return bool(labelled == _digests(labelled_maps.files(labelled_maps.SHIPPED)))


def record_training(folder: Path, settings: Mapping[str, Any], labelled: Iterable[Path]) -> None:
    """Write `TRAINING` beside a classifier.

    Args:
        folder: The classifier.
        settings: See `training_settings`.
        labelled: Files of the labelled maps.
    """
    content = {"settings": dict(settings), "labelled": _digests(labelled)}
    write_json(content, folder / TRAINING)


def _digests(files: Iterable[Path]) -> dict[str, str]:
    """Digests by file name only, since the project may be anywhere."""
    return {path.name: fingerprint(path) for path in files}
