"""How often an inference passes, over draws of data in which the truth is known.

A trial counts how often a statement, such as "this head stands out", is made. For nulls the stated
error rate bounds it; for *power* a true effect is there to be found; a *limit* is a null that the
inference is known not to see through, as the protocol says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

Flags = npt.NDArray[np.bool_]

NULL, LIMIT, POWER = "null", "limit", "power"
LEVEL, ONE_END = 0.05, 0.025
"""Stated error rates: of tests, and of one end of a 95 % interval."""
ROUNDING = 1e-9
"""Differences that ought to be 0 are at most this."""
BY_CHANCE = 0.001
"""If so many pass less often than this at the stated rate, the rate is not kept."""


@dataclass(frozen=True)
class Trial:
    """How often an inference passed.

    Attributes:
        inference: The table and what is said.
        kind: The heads or data that it was tried on.
        truth: `NULL`, `LIMIT` or `POWER`.
        stated: Error rate that it states; for nulls, the share may not exceed it.
        draws: For each independent draw of data, how often it passed.
        tries: For each draw, how often it could have passed.
    """

    inference: str
    kind: str
    truth: str
    stated: float
    draws: tuple[int, ...]
    tries: int

    @property
    def share(self) -> float:
        """Share of the tries that passed."""
        return sum(self.draws) / (len(self.draws) * self.tries)

    @property
    def error(self) -> float:
        """Standard error of the share.

        The tries of a draw depend on each other: all heads are compared with the same intact model.
        So the error is that of the shares of the draws.
        """
        shares = np.array(self.draws) / self.tries
        return float(np.sqrt(shares.var(ddof=1) / shares.size))

    def keeps_its_rate(self) -> bool:
        """Whether so many pass at the stated rate in more than one of a thousand times.

        With one try in each draw, tries are independent, and their number is binomial. Else, the
        share is at most 3.1 standard errors above the stated one; the error is at least that of as
        many independent tries at the stated rate.
        """
        if self.tries == 1:
            by_chance = stats.binom.sf(sum(self.draws) - 1, len(self.draws), self.stated)
            return bool(by_chance >= BY_CHANCE)
        tries = len(self.draws) * self.tries
        least = np.sqrt(self.stated * (1 - self.stated) / tries)
        return bool(self.share <= self.stated + 3.1 * max(least, self.error))


@dataclass(frozen=True)
class Size:
    """How much is drawn.

    Attributes:
        corpora: Corpora of sentences with links, and of texts with pairs.
        texts: Corpora of texts with features, each read by several encoders.
        sweeps: Sweeps of each kind, and draws of all that is as cheap.
        noises: Heads of random weights in each corpus.
        examples: Validation examples of a sweep.
        layers: Layers of a sweep, with as many heads each.
    """

    corpora: int
    texts: int
    sweeps: int
    noises: int
    examples: int
    layers: int


SMALL = Size(corpora=3, texts=3, sweeps=18, noises=10, examples=150, layers=5)
MEDIUM = Size(corpora=20, texts=8, sweeps=45, noises=10, examples=150, layers=5)
LARGE = Size(corpora=30, texts=20, sweeps=150, noises=20, examples=200, layers=5)


def by_kind(
    inference: str, truth: str, kinds: Sequence[str], passed: Sequence[Flags], stated: float
) -> Iterator[Trial]:
    """A trial per kind from flags [heads, ...] of what passed, one array for each draw."""
    every = np.stack([np.reshape(one, (len(kinds), -1)) for one in passed])
    for kind in dict.fromkeys(kinds):
        mine = every[:, [name == kind for name in kinds]].reshape(len(every), -1)
        counts = tuple(mine.sum(axis=1).tolist())
        yield Trial(inference, kind, truth, stated, counts, mine.shape[1])


def once(
    inference: str, kind: str, passed: Sequence[object], stated: float, truth: str = NULL
) -> Trial:
    """Whether anything passes in a draw."""
    return Trial(inference, kind, truth, stated, tuple(int(np.any(one)) for one in passed), 1)


def outside(
    table: pd.DataFrame, low: str = "ci_low", high: str = "ci_high", truth: float = 0.0
) -> Flags:
    """[rows] whether the interval leaves out the truth; an empty one says nothing."""
    ends = table[[low, high]].to_numpy(dtype=np.float64)
    return (ends[:, 0] > truth + ROUNDING) | (ends[:, 1] < truth - ROUNDING)


def rates(
    inference: str, kind: str, passed: Sequence[npt.ArrayLike], stated: float, truth: str = NULL
) -> Trial:
    """How often a statement is made that each draw can make several times, of things alike."""
    (trial,) = by_kind(inference, truth, [kind], [np.asarray(one)[None] for one in passed], stated)
    return trial


class Statements:
    """What was said in each draw."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, float, bool], list[npt.ArrayLike]] = {}

    def each(self, statement: str, passed: npt.ArrayLike, stated: float = LEVEL) -> None:
        """Add a draw in which a statement could be made of several things, each by itself."""
        self._made.setdefault((statement, stated, False), []).append(passed)

    def any(self, statement: str, passed: npt.ArrayLike, stated: float = LEVEL) -> None:
        """Add a draw of a family, of which no statement should be made."""
        self._made.setdefault((f"{statement}, any", stated, True), []).append(passed)

    def interval(
        self,
        name: str,
        column: str,
        table: pd.DataFrame,
        ends: tuple[str, str] | None = None,
        truth: float = 0.0,
    ) -> None:
        """Add a draw of intervals that leave out the truth.

        Args:
            name: Name of the table.
            column: The estimate.
            table: Its rows.
            ends: Columns with the ends; None: of its own name.
            truth: The true value of all rows.
        """
        low, high = ends or (f"{column}_low", f"{column}_high")
        value = "0" if truth == 0 else "its true value"
        passed = outside(table, low, high, truth)
        self.each(f"{name}: interval of {column} leaves out {value}", passed)

    def trials(self, kind: str, truth: str = NULL) -> Iterator[Trial]:
        """A trial for every statement."""
        for (statement, stated, family), passed in self._made.items():
            yield (once if family else rates)(statement, kind, passed, stated, truth)


CI = "ci_low", "ci_high"
"""Columns with the ends of a table's main interval."""
