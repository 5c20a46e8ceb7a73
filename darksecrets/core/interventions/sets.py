"""The sets of heads that a sweep disables, one after the other (section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from darksecrets.core.models.selectors import Heads, Shape
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from darksecrets.core.models.hooks import Intervention


@dataclass(frozen=True)
class HeadSet:
    """Heads to disable together.

    Attributes:
        kind: ``baseline`` (none), ``head``, ``layer`` or ``set``; see ``tables.KINDS``.
        heads: The heads to disable, by layer.
        name: The set in words.
    """

    kind: str
    heads: Heads
    name: str

    @property
    def layer(self) -> int | None:
        """The layer, if the set is a head or a layer."""
        return min(self.heads) if self.kind in ("head", "layer") else None

    @property
    def head(self) -> int | None:
        """The head, if the set is one."""
        return next(iter(*self.heads.values())) if self.kind == "head" else None

    def intervention(self, mode: str) -> Intervention | None:
        """What disables these heads; None if there are none.

        Args:
            mode: A name in `darksecrets.core.interventions.disable.INTERVENTIONS`.
        """
        from darksecrets.core.interventions.disable import INTERVENTIONS

        return INTERVENTIONS[mode](self.heads) if self.heads else None


def check(selectors: Sequence[object], shape: Shape) -> None:
    """Check the key ``ablation.sets`` of a configuration against the model's layers and heads.

    Raises:
        InputError: A selector is wrong, or two mean the same heads; the message names them.
    """
    seen: dict[str, object] = {}
    for selector in selectors:
        try:
            name = shape.describe(shape.parse(selector))
        except InputError as error:
            raise InputError(f"ablation.sets in the configuration: {error}") from None
        if name in seen:
            raise InputError(
                f"ablation.sets in the configuration: {seen[name]!r} and {selector!r} mean the "
                f"same heads, {name}; expected each set once. Remove one of them."
            )
        seen[name] = selector


def sweep_sets(shape: Shape, own: Sequence[object] = (), *, parts: bool = True) -> list[HeadSet]:
    """The sets of a sweep: none, every head alone, every whole layer, and those of ``own``.

    Args:
        shape: The encoder's layers and heads.
        own: Selectors of further sets.
        parts: Whether to include every head alone and every layer.

    Raises:
        InputError: See `check`.
    """
    check(own, shape)
    layers, heads = range(1, shape.layers + 1), range(1, shape.heads + 1)
    named: list[tuple[str, Heads]] = [("baseline", {})]
    if parts:
        named += [("head", {layer: frozenset({head})}) for layer in layers for head in heads]
        named += [("layer", {layer: frozenset(heads)}) for layer in layers]
    named += [("set", shape.parse(selector)) for selector in own]
    return [HeadSet(kind, chosen, _name(shape, kind, chosen)) for kind, chosen in named]


def _name(shape: Shape, kind: str, heads: Heads) -> str:
    """As `Shape.describe`, but a layer's only head is named as a head, not as the whole layer."""
    if kind == "head":
        ((layer, (head,)),) = ((layer, tuple(numbers)) for layer, numbers in heads.items())
        return f"layer {layer} head {head}"
    return shape.describe(heads)
