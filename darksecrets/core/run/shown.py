"""What the atlas shows of a run's tables; docs/extending.md explains how to add to it.

A section lists its measures of heads in `<section>/shown.py`, each as a `Shown`: a column of a
table that has a row for every head. Controls,
intervals, units and meanings follow from the table's declaration. The lists are not in
`<section>/tables.py`, so that editing one reruns nothing but the atlas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from darksecrets.core.run.tables import Column, Table

Palette = Literal["weight", "similarity", "effect", "category"]
"""Colours of the heads: a weight, whose darkest is the greatest; a similarity, whose darkest is the
least, as in the paper's Figure 5; an effect around 0; or the kind with the greatest value."""

LEVEL = 0.05
"""Values of the column `test` below this are significant."""

_PLACES = {"task", "state", "seed", "layer", "head"}
"""Columns that say which head of which model a row is about."""


@dataclass(frozen=True)
class Phrase:
    """What a head's sentence says of a measure, and when.

    Attributes:
        text: The words, with ``{kind}`` (or what was chosen), ``{value}``, its interval ``{low}``
            and ``{high}``, controls and columns of ``beside`` by name, and, for a loss, ``{loss}``
            with ``{least}`` and ``{most}``.
        significant: Whether the head must be significant, on the side that ``sign`` says.
        sign: 1 if the value must be positive, −1 if negative; 0 if either will do.
        at_least: Smallest value.
        at_most: Largest value.
        times: The value must be this many times the greatest control.
        greatest: Whether it is said only of the kind with the head's greatest value.
        kinds: Kinds that it may be said of; empty for all.
    """

    text: str
    significant: bool = False
    sign: Literal[-1, 0, 1] = 0
    at_least: float | None = None
    at_most: float | None = None
    times: float = 0.0
    greatest: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A measure of heads, or one for each kind that a column of the table distinguishes.

    Attributes:
        table: The table: a row for every head of every layer, for each task, state and seed that it
            has columns of. Without a column ``layer``, its rows are about the last layer.
        value: The column shown.
        name: What people read; ``{kind}`` stands for the kind.
        group: Heading of the menu under which it is, with the section of the paper in parentheses.
        meaning: What the value is, if the words of the table's declaration need its other columns.
        kind: The column that distinguishes the kinds, by text or numbers; empty if there is one. Of
            a column ``metric``, the first measure has the main metric of every task.
        where: By column, the value that the rows shown have; of the column ``kind``, those that are
            shown, in this order.
        chosen: Columns, such as a relation, whose values are chosen for every head, so that it has
            one row: see `chosen_by`.
        chosen_by: Column that chooses them, measured on other examples than the rest of the row:
            those values whose number exceeds that of the mean head most.
        words: What a kind is called, where the table's name for it does not read well.
        beside: Further columns that are said beside the value.
        test: Column with corrected p-values, below `LEVEL` if the head is significant.
        tested: By column, the values of rows whose test is complete; others are shown without it.
        two_sided: Whether the test is about either sign.
        over: Column that says how far ``value`` exceeds a control, with its interval.
        palette: The colours.
        colours: Colour of every kind, for the palette ``category``.
        letters: Letter of every kind, for the same palette.
        over_seeds: Table with the mean over seeds, where it has a better interval and test than the
            mean of the rows. Its columns have the same names; of its column ``kind``, rows are used
            that say ``head``.
        summaries: Tables that are computed from this one: a claim about them is about these heads.
        on_card: Whether a head's card compares it with the other heads; or the kinds that it does.
        phrases: What a head's sentence may say of it: of each kind, the first that applies.
    """

    table: Table
    value: str
    name: str
    group: str
    meaning: str = ""
    kind: str = ""
    where: Mapping[str, str | int | tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    chosen: tuple[str, ...] = ()
    chosen_by: str = ""
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    beside: tuple[str, ...] = ()
    test: str = ""
    tested: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    two_sided: bool = False
    over: str = ""
    palette: Palette = "weight"
    colours: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    letters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    over_seeds: Table | None = None
    summaries: tuple[str, ...] = ()
    on_card: bool | tuple[str, ...] = True
    phrases: tuple[Phrase, ...] = ()

    def __post_init__(self) -> None:
        named = {self.value, self.kind, self.test, self.over, self.chosen_by}
        named |= {*self.where, *self.chosen, *self.beside, *self.tested}
        named.discard("")
        if unknown := named - set(self.table.names):
            raise ValueError(f"{self.table.name} has no columns {', '.join(sorted(unknown))}")
        if "head" not in self.table.key:
            raise ValueError(f"{self.table.name} has no rows of heads")
        if distinguishing := {*self.table.key} - _PLACES - {self.kind, *self.where, *self.chosen}:
            unclear = ", ".join(sorted(distinguishing))
            raise ValueError(f"{self.table.name} has several rows for a head: which {unclear}?")
        several = {name for name, value in self.where.items() if isinstance(value, tuple)}
        if several - {self.kind} or bool(self.chosen) != bool(self.chosen_by):
            raise ValueError(f"{self.table.name} has several rows for a head: choose one")

    @property
    def controls(self) -> tuple[Column, ...]:
        """Columns that are controls of the value."""
        return tuple(c for c in self.table.columns if c.control_of == self.value)

    @property
    def fixed(self) -> dict[str, str | int]:
        """Columns that have one value in all rows shown, with it."""
        return {name: value for name, value in self.where.items() if not isinstance(value, tuple)}

    def ends(self, of: str) -> tuple[str, ...]:
        """Columns with both ends of a column's interval; empty if it has none."""
        return ends(self.table, of)

    def column(self, name: str) -> Column:
        """The declaration of a column."""
        return next(column for column in self.table.columns if column.name == name)


def ends(table: Table, of: str) -> tuple[str, ...]:
    """Columns of a table with both ends of a column's interval; empty if it has none.

    Args:
        table: The table.
        of: The column; empty for none.
    """
    return tuple(c.name for c in table.columns if of and c.interval_of == of)


def plain(markdown: str) -> str:
    """Text of a declaration without the marks of code.

    Args:
        markdown: The text.
    """
    return markdown.replace("`", "")


def tables_of(measures: Iterable[Shown]) -> dict[str, Table]:
    """Tables that measures are read from, by name."""
    found = [table for shown in measures for table in (shown.table, shown.over_seeds) if table]
    return {table.name: table for table in found}
