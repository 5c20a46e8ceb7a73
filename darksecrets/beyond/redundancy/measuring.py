"""What a task's models need for their types of heads, and for distances between heads."""

from __future__ import annotations

from collections.abc import Iterable

from darksecrets.beyond.redundancy.head_types import MapStatistics
from darksecrets.core.attention.store import Maps
from darksecrets.paper.features.measures import batches, uniform_batch
from darksecrets.paper.features.tokens import Tokens


def measure_statistics(
    maps: Maps, tokens: Iterable[Tokens], max_bytes: int = 2**22
) -> MapStatistics:
    """Measure what decides the types of a model's heads.

    Args:
        maps: Maps of the model.
        tokens: The tokens of each example, in the order of the maps.
        max_bytes: Largest size of a batch of maps.
    """
    parts = [
        MapStatistics.of(
            [one.idx for one in some], batch.statistics, uniform_batch(batch).statistics
        )
        for some, batch in batches(maps, tokens, max_bytes)
    ]
    return MapStatistics.joined(parts)
