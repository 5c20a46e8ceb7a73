"""What is exchanged between a fine-tuned model and the one that it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darksecrets.landscape import tables
from darksecrets.models.mixing import END, START, Mix, Place, whole

THIRDS = 3


@dataclass(frozen=True)
class Swap:
    """Some components of one model, put into the other.

    Attributes:
        direction: `RESET`, pre-trained weights in the fine-tuned model, or `TRANSFERRED`,
            fine-tuned weights in the pre-trained encoder.
        kind: What is exchanged, one of `darksecrets.landscape.tables.KINDS`.
        first: Its first layer, from 1; 0 for the embeddings.
        last: Its last layer.
        places: The components.
    """

    direction: str
    kind: str
    first: int
    last: int
    places: tuple[Place, ...]

    def mix(self, layers: int) -> Mix:
        """The model with these components exchanged; the classifier is always the fine-tuned."""
        moved, kept = (START, END) if self.direction == tables.RESET else (END, START)
        return tuple(
            tuple(moved if (number, part) in self.places else kept for part, kept in enumerate(of))
            for number, of in enumerate(whole(layers, kept))
        )


def swaps(layers: int) -> list[Swap]:
    """All exchanges in both directions; thirds only of encoders with at least three layers."""
    return [
        Swap(direction, kind, first, last, tuple(_places(kind, first, last)))
        for direction in tables.DIRECTIONS
        for kind, first, last in _ranges(layers, alone=direction == tables.RESET)
    ]


def _ranges(layers: int, *, alone: bool) -> Iterator[tuple[str, int, int]]:
    """Kinds with their first and last layer; `alone`: also attention, or MLP, of single layers."""
    every = range(1, layers + 1)
    yield tables.EMBEDDINGS, 0, 0
    yield from ((tables.UP_TO, 0, layer) for layer in every)
    yield from ((tables.FROM, layer, layers) for layer in every)
    yield from ((tables.LAYER, layer, layer) for layer in every)
    if layers >= THIRDS:
        for third in np.array_split(np.array(every), THIRDS):
            yield tables.THIRD, int(third[0]), int(third[-1])
    for kind in (tables.ATTENTION, tables.MLP):
        yield kind, 1, layers
        if alone and layers > 1:
            yield from ((kind, layer, layer) for layer in every)


def _places(kind: str, first: int, last: int) -> Iterator[Place]:
    if first == 0:
        yield 0, 0
    parts = {tables.ATTENTION: (0,), tables.MLP: (1,)}.get(kind, (0, 1))
    yield from ((layer, part) for layer in range(max(first, 1), last + 1) for part in parts)


def interpolations(layers: int) -> list[tuple[str, int]]:
    """What is interpolated on its own: all, the encoder, the embeddings and every layer."""
    return [
        (tables.MODEL, 0),
        (tables.ENCODER, 0),
        (tables.EMBEDDINGS, 0),
        *((tables.LAYER, n) for n in range(1, layers + 1)),
    ]


def interpolated(part: str, layer: int, share: float, layers: int) -> Mix:
    """The fine-tuned model with only a share of its weights in a part, the rest as they began.

    Args:
        part: One of `darksecrets.landscape.tables.PARTS`.
        layer: Its layer, from 1; 0 if it is none.
        share: Of the fine-tuned weights.
        layers: Layers of the encoder.
    """
    if part == tables.MODEL:
        return whole(layers, share, share)
    if part == tables.ENCODER:
        return whole(layers, share)
    fine_tuned = whole(layers, END)
    return (*fine_tuned[:layer], tuple(share for _ in fine_tuned[layer]), *fine_tuned[layer + 1 :])
