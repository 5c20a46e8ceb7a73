"""What a run needs of its frame-semantic links, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.paper.framenet import sources


def check(config: Mapping[str, Any]) -> None:
    """Check the source of the links, as far as it is on this machine.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `sources.check`.
    """
    sources.check(config["framenet"])
