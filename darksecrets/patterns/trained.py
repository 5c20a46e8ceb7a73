"""The trained classifier that ships with the project, and when it serves.

Training and cross-validation depend only on the labelled maps and a few settings. For the set that
ships with the project and the default settings, their results ship, too. `make pattern-classifier`
makes them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.patterns import annotations as labelled_maps
from darksecrets.run.provenance import identify, read_record

CLASSIFIER = labelled_maps.SHIPPED / "classifier"
"""The network, as `cnn.save` writes it."""
PREDICTIONS = labelled_maps.SHIPPED / "pattern_predictions.csv"
"""Its cross-validation."""


def training_settings(patterns: Mapping[str, Any]) -> dict[str, Any]:
    """Those keys of section ``patterns`` of a configuration that training depends on."""
    return {key: patterns[key] for key in ("annotations", "folds", "epochs", "seed")}


def serves(patterns: Mapping[str, Any]) -> bool:
    """Whether the classifier that ships is the one that training would yield.

    Its provenance must name the same settings and the labelled maps as they are now.

    Args:
        patterns: Section ``patterns`` of a resolved configuration.
    """
    made = read_record(CLASSIFIER)
    if made["params"]["training"] != training_settings(patterns):
        return False
    found = identify(map(str, labelled_maps.files(labelled_maps.SHIPPED)))
    return _by_name(found).items() <= _by_name(made["inputs"]).items()


def _by_name(digests: Mapping[str, str]) -> dict[str, str]:
    """Digests by file name only, since the project may be anywhere."""
    return {Path(path).name: digest for path, digest in digests.items()}
