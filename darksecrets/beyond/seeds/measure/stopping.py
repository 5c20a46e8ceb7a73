"""Whether scores part-way through the training tell which runs end badly.

A threshold that half of the runs choose stops bad runs early; it is tried on the other half.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from darksecrets.core.arrays import Floats, Integers

MOST_SPLITS = 500
"""Splits of the runs into halves; all of them if there are fewer."""
MOST_PERMUTATIONS = 2000
"""Permutations of the seeds; all of them if there are fewer."""


def stop(early: Floats, final: Floats, rng: np.random.Generator) -> dict[str, float]:
    """Choose thresholds on halves of the runs and try them on the others.

    Returns what the rule does to these, means over splits, by column of the table.

    Args:
        early: [runs] scores when it is decided.
        final: [runs] scores in the end.
        rng: Draws splits if there are many.
    """
    found = [
        # the score part-way of the run that ends best; the least, if several do
        _tried(early[others], final[others], early[half][final[half] == final[half].max()].min())
        for half, others in _splits(len(early), rng)
    ]
    names = ("stopped", "lost", "lost_at_random")
    return dict(zip(names, map(float, np.mean(found, axis=0)), strict=True))


def predictive(early: Floats, final: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Rank correlation of scores part-way and in the end, and its one-sided p-value.

    Rows and columns of ``early`` are permuted as a whole, since runs of one initialization, or one
    data order, are alike even if scores part-way do not predict the final ones.

    Args:
        early: [initializations, orders].
        final: [initializations, orders].
        rng: Draws permutations if there are many.

    Returns:
        Both NaN if either scores are all equal.
    """
    from scipy.stats import rankdata

    if np.ptp(early) == 0 or np.ptp(final) == 0:
        return math.nan, math.nan
    one, other = (
        (ranks - ranks.mean()) / ranks.std()
        for ranks in (rankdata(scores).reshape(scores.shape) for scores in (early, final))
    )
    permuted = [one[rows][:, columns] for rows, columns in _permutations(one.shape, rng)]
    found = np.array([float((each * other).mean()) for each in permuted])
    rho = float((one * other).mean())
    return min(1.0, max(-1.0, rho)), float((found >= rho - 1e-9).mean())


def _tried(early: Floats, final: Floats, threshold: float) -> tuple[float, float, float]:
    """Share of runs stopped, what that costs, and what stopping as many at random costs."""
    left = early >= threshold
    if not left.any():
        left = early == early.max()
    kept, best = int(left.sum()), final.max()
    ordered, runs = np.sort(final), len(final)
    # the greatest of `kept` runs, drawn without replacement, is the i-th smallest of all
    ways = [math.comb(place, kept - 1) for place in range(runs)]
    at_random = float(ordered @ np.array(ways)) / math.comb(runs, kept)
    return 1 - kept / runs, float(best - final[left].max()), max(0.0, float(best - at_random))


def _splits(runs: int, rng: np.random.Generator) -> Iterator[tuple[Integers, Integers]]:
    """Halves of the runs, and the rest."""
    size = runs // 2
    if math.comb(runs, size) <= MOST_SPLITS:
        chosen = [list(half) for half in itertools.combinations(range(runs), size)]
    else:
        chosen = [rng.permutation(runs)[:size].tolist() for _ in range(MOST_SPLITS)]
    for half in chosen:
        others = np.setdiff1d(np.arange(runs), half)
        yield np.array(half), others


def _permutations(
    shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[Integers, Integers]]:
    """Permutations of rows and of columns, that of neither among them."""
    rows, columns = shape
    if math.factorial(rows) * math.factorial(columns) <= MOST_PERMUTATIONS:
        every = itertools.product(
            itertools.permutations(range(rows)), itertools.permutations(range(columns))
        )
        yield from ((np.array(one), np.array(other)) for one, other in every)
        return
    yield np.arange(rows), np.arange(columns)
    for _ in range(MOST_PERMUTATIONS - 1):
        yield rng.permutation(rows), rng.permutation(columns)
