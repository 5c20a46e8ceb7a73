"""Which components of a fine-tuned model are reset to what fine-tuning began with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darksecrets.beyond.landscape import declared

THIRDS = 3


@dataclass(frozen=True)
class Swap:
    """Some components, reset.

    Attributes:
        kind: What is reset, one of `darksecrets.beyond.landscape.declared.KINDS`.
        first: Its first layer, from 1; 0 for the embeddings.
        last: Its last layer.
    """

    kind: str
    first: int
    last: int

    @property
    def components(self) -> range:
        """Numbers of the components, see `darksecrets.core.models.mixing.Components`."""
        return range(self.first, self.last + 1)


def swaps(layers: int) -> list[Swap]:
    """All swaps; thirds only of encoders with at least three layers."""
    return [Swap(kind, first, last) for kind, first, last in _ranges(layers)]


def _ranges(layers: int) -> Iterator[tuple[str, int, int]]:
    """Kinds with their first and last layer."""
    every = range(1, layers + 1)
    yield from ((declared.UP_TO, 0, layer) for layer in every)
    yield from ((declared.FROM, layer, layers) for layer in every)
    yield from ((declared.LAYER, layer, layer) for layer in every)
    if layers >= THIRDS:
        for third in np.array_split(np.array(every), THIRDS):
            yield declared.THIRD, int(third[0]), int(third[-1])
