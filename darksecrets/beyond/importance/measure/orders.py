"""Orders in which more and more heads are removed together (section 4.6; Michel et al. 2019).

The sets of an order are nested: they are its first k heads. Training examples make the orders, all
validation examples score them, so that no example scores a set of heads that it helped to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from darksecrets.core.models.selectors import Heads, Shape

Place = tuple[int, int]
"""A layer and one of its heads, both from 1."""


@dataclass(frozen=True)
class Order:
    """All heads of a model, in the order in which they are removed.

    Attributes:
        name: What the order is by.
        heads: The heads.
    """

    name: str
    heads: tuple[Place, ...]

    def first(self, count: int) -> Heads:
        """The first heads of the order, by layer."""
        chosen: dict[int, frozenset[int]] = {}
        for layer, head in self.heads[:count]:
            chosen[layer] = chosen.get(layer, frozenset()) | {head}
        return dict(sorted(chosen.items()))


@dataclass(frozen=True)
class Plan:
    """Which heads are removed together.

    Attributes:
        shape: Layers and heads of the model.
        counts: Numbers of heads removed together, ascending.
        orders: The orders.
    """

    shape: Shape
    counts: Sequence[int]
    orders: Sequence[Order]

    @property
    def names(self) -> list[str]:
        """Names of the orders, each once."""
        return list(dict.fromkeys(order.name for order in self.orders))

    @property
    def total(self) -> int:
        """How many heads the model has."""
        return self.shape.layers * self.shape.heads

    @property
    def sets(self) -> list[str]:
        """The sets of heads to remove in words, each once, although orders may begin alike."""
        names = (self.name(order, count) for order in self.orders for count in self.counts)
        return list(dict.fromkeys(names))

    def name(self, order: Order, count: int) -> str:
        """The first heads of an order in words, which are also a selector."""
        return self.shape.describe(order.first(count))
