"""What a run needs of its labelled maps, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.paper.patterns.maps import labelled_maps


def check(config: Mapping[str, Any]) -> None:
    """Check the labelled maps that the classifier is trained on.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `labelled_maps.check`.
    """
    labelled_maps.check(config["patterns"]["annotations"], config["patterns"]["folds"])
