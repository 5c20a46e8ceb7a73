"""What every head attends to (sections 4.4, 4.5 and 5).

A measure is a function of a batch of maps with an entry in `MEASURES`; its table, the rule that
makes it and the table of the run follow from the entry. Most measures are the largest weight in
some cells of a map, averaged over the examples that have such cells. Their controls use the cells
of random tokens or pairs. Maps and their tokens' features are read batch by batch, and only sums
are kept (`measuring`).

In layers with local attention, the cells that a query cannot reach are left out, and means over
queries are means over those that can reach the token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.run.columns import MAPS, names
from darksecrets.core.run.tables import Table
from darksecrets.paper.features import tables
from darksecrets.paper.features.batches import Batch
from darksecrets.paper.features.cells import Mean
from darksecrets.paper.features.labels import FEATURES, RELATIONS
from darksecrets.paper.features.pairs import Differences
from darksecrets.paper.features.profiles import quotient
from darksecrets.paper.features.tables import EQUAL_CONTROLS, RELATION_CONTROLS, STATISTICS

DIAGONAL = ("previous", "self", "next")

_COMPARED = {"pairs": (RELATION_CONTROLS, len(RELATIONS)), "equal": (EQUAL_CONTROLS, 1)}
"""Controls of the kinds of pairs that are tested, and how many relations there are of each."""


def stripes(batch: Batch) -> Mean:
    """Section 4.4: the largest mean weight over all queries of a token with a feature."""
    mean, cells = Mean(len(FEATURES), *batch.heads), batch.cells.features
    examples, _, keys = cells.flat()
    mean.add(cells, batch.columns[examples, keys], np.fmax)
    return mean


def cls_attention(batch: Batch) -> Mean:
    """Section 4.5: the largest weight from [CLS] to a token with a feature, in the last layer."""
    mean, cells = Mean(len(FEATURES), batch.heads[1]), batch.cells.features
    mean.add(cells, batch.weights(cells, batch.heads[0] - 1)[:, 0], np.fmax)
    return mean


def token_pairs(batch: Batch) -> Mean:
    """Section 4.5: the largest weight among the pairs of a relation."""
    mean, cells = Mean(len(RELATIONS), *batch.heads), batch.cells.pairs
    mean.add(cells, batch.weights(cells), np.fmax)
    return mean


def equal_words(batch: Batch) -> Mean:
    """Section 5: the mean weight between the word pieces of words that are in both sentences."""
    mean, cells = Mean(1, *batch.heads), batch.cells.equal
    mean.add(cells, batch.weights(cells), np.add)
    return mean


def head_statistics(batch: Batch) -> Mean:
    """Clark et al. (2019): shares of attention, and its entropy, see `statistics_of`."""
    mean, values = Mean(len(STATISTICS), *batch.heads), batch.statistics
    mean.sums[: values.shape[1]] += values.sum(axis=0)
    mean.sets[: values.shape[1]] += len(values)
    return mean


def diagonal_score(means: Mapping[str, Floats]) -> Floats:
    """[layer, head] share of attention to the token itself and its neighbours."""
    statistics = means["head_statistics"]
    return np.asarray(sum(statistics[STATISTICS.index(name)] for name in DIAGONAL))


Sums = tuple[Mean, Mean | None, Differences | None]
"""Of a measure: of the real cells, of its controls, and of the differences between both."""


@dataclass(frozen=True)
class Measure:
    """A measure of every head.

    Attributes:
        of: The function that sums the measure over a batch.
        table: Its table. After the columns that name the model, one with a vocabulary names the
            kind; ``weight`` or ``value`` has the means of `of`, ``control`` those on random cells,
            ``uniform`` those of uniform attention.
        section: Section of the paper, or another source.
        compared: The kind of pairs (`pairs`, `equal`) that is tested against controls, and how
            weights are reduced over pairs; None if it is not tested.
        beside: Further columns of a head, from the means of all measures, [kinds, layer, head].
    """

    of: Callable[[Batch], Mean]
    table: Table
    section: str
    compared: tuple[str, np.ufunc] | None = None
    beside: Mapping[str, Callable[[Mapping[str, Floats]], Floats]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its table."""
        return self.table.name

    @property
    def columns(self) -> list[str]:
        """Columns of its table, after those that name the model."""
        return [name for name in self.table.names if name not in names(*MAPS)]

    @property
    def controlled(self) -> bool:
        """Whether it is also measured on random cells."""
        return "control" in self.table.names

    def differences(self, drawn: Batch) -> Differences | None:
        """Compare every example's pairs with their controls; None if the measure is not tested."""
        if self.compared is None:
            return None
        name, how = self.compared
        controls, kinds = _COMPARED[name]
        found = Differences(controls, kinds, *drawn.heads)
        for cells in drawn.cells.compared[name]:
            maps = drawn.half[cells.example]
            if drawn.reach is not None:
                maps = np.where(drawn.reach[:, None], maps, np.nan)
            found.add(maps, cells, how)
        return found

    def sums(self, batch: Batch, drawn: Batch, uniform: Batch) -> Sums:
        """The sums of a batch, of the same with its controls, and of the differences of both.

        Args:
            batch: Examples of equal length.
            drawn: The same, with random cells.
            uniform: The same under uniform attention, from `uniform_batch`.
        """
        real = self.of(batch)
        if self.controlled and uniform.reach is None:  # each weight is 1 / length
            real.uniform += real.sets / uniform.half.shape[-1]
        else:
            real.uniform += self.of(uniform).sums
        control = self.of(drawn) if self.controlled else None
        return real, control, self.differences(drawn)

    def rows(
        self,
        means: Mapping[str, Floats],
        real: Mean,
        control: Mean | None,
        differences: Differences | None,
    ) -> pd.DataFrame:
        """A row per head and kind that occurs in the data; ``layer`` and ``head`` count from 1.

        A head that can reach none of a kind's cells has 0 ``examples`` and the weight 0.
        """
        numbers, *places = np.indices(real.sums.shape)
        head_places = zip(("layer", "head")[-len(places) :], places, strict=True)
        columns = {name: place.ravel() + 1 for name, place in head_places}
        for column in self.table.columns:
            if column.name in self.columns and column.values:
                columns[column.name] = np.array(column.values)[numbers.ravel()]
        columns["weight" if control else "value"] = _or_zero(real)
        if control:
            columns["control"] = _or_zero(control)
        columns["uniform"] = _or_zero(real, real.uniform)
        if differences:
            columns |= {name: values.ravel() for name, values in differences.tests().items()}
        for name, score in self.beside.items():
            columns[name] = score(means)[tuple(place.ravel() for place in places)]
        found = pd.DataFrame({**columns, "examples": real.sets.ravel()})
        sets = real.sets.reshape(len(real.sets), -1).sum(axis=1)
        found = found[pd.Series(sets[numbers.ravel()] > 0)].reset_index(drop=True)
        return found[self.columns]


def control_rows(real: Mean, differences: Differences) -> pd.DataFrame:
    """A row of `tables.EQUAL_WORD_CONTROLS` per head and control; none without equal words."""
    numbers, _, layers, heads = np.indices(differences.units.shape)
    columns = {
        "control": np.array(differences.controls)[numbers],
        "layer": layers + 1,
        "head": heads + 1,
        **differences.control_columns(),
    }
    # All controls of a head follow each other.
    rows = pd.DataFrame({name: np.moveaxis(v, 0, -1).ravel() for name, v in columns.items()})
    return rows if real.sets.any() else rows[:0]


def _or_zero(mean: Mean, sums: Floats | None = None) -> Floats:
    """Means of all kinds and heads, flat; 0 where there are no sets."""
    return np.nan_to_num(quotient(mean.sums if sums is None else sums, mean.sets)).ravel()


#: All measures. To add one: a function of a `Batch`, a table, and an entry here.
MEASURES = {
    entry.name: entry
    for entry in (
        Measure(stripes, tables.STRIPES, "4.4"),
        Measure(cls_attention, tables.CLS_ATTENTION, "4.5"),
        Measure(
            token_pairs,
            tables.TOKEN_PAIRS,
            "4.5",
            compared=("pairs", np.fmax),
            beside={"diagonal": diagonal_score},
        ),
        Measure(head_statistics, tables.HEAD_STATISTICS, "Clark et al. (2019)"),
        Measure(equal_words, tables.EQUAL_WORDS, "5", compared=("equal", np.add)),
    )
}


TABLES = {name: entry.table for name, entry in MEASURES.items()}
"""What is written of every model: a table of each measure, and the controls of equal words."""


TABLES[tables.EQUAL_WORD_CONTROLS.name] = tables.EQUAL_WORD_CONTROLS
