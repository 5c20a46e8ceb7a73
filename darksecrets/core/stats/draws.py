"""What was chosen, beside random draws of the same size: heads, subnetworks, orders.

What was chosen for no reason is one more random draw, and every draw is better or worse than the
others. An interval over examples alone would call every second one better. So the spread of the
draws is a part of the interval, and a p-value is a rank among them.
"""

from __future__ import annotations

import math

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.permutation import ROUNDING
from darksecrets.core.stats.seeds import critical_value

FEWEST = round(1 / LEVEL)
"""Draws without which no rank has a p-value below `LEVEL`."""


def reach(of_examples: Floats, of_draws: Floats, draws: int) -> Floats:
    """Half the widths of intervals over examples and draws, with Cochran and Cox's critical value.

    Args:
        of_examples: [...] variances over examples.
        of_draws: [...] variances over draws.
        draws: Number of draws that these were estimated from; of a single one, nothing is known.

    Returns:
        [...] NaN with fewer than two draws.
    """
    if draws < 2:
        return np.full(np.shape(of_examples), np.nan)

    def half(examples: float, drawn: float) -> float:
        critical = critical_value(LEVEL, (examples, math.inf), (drawn, draws - 1))
        return critical * math.sqrt(examples + drawn)

    return np.asarray(np.vectorize(half, otypes=[np.float64])(of_examples, of_draws))


def reach_of_one_more(of_examples: Floats, others: Floats, *, family: bool = False) -> Floats:
    """`reach` of the difference between one more draw and the mean of the others.

    Args:
        of_examples: [...] variances of the difference over examples.
        others: [draws, ...] scores of the others.
        family: Whether the last axis has sets of several sizes. A few small sets often have the
            same score by chance; so a variance is at least the mean of those that are not 0.
    """
    draws = len(others)
    if draws < 2:
        return reach(of_examples, of_examples, draws)
    spread = others.var(axis=0, ddof=1)
    if family:
        differing = np.maximum(1, (spread > 0).sum(axis=-1, keepdims=True))
        spread = np.maximum(spread, spread.sum(axis=-1, keepdims=True) / differing)
    return reach(of_examples, spread * (1 + 1 / draws), draws)


def rank_p_value(score: float, others: Floats, *, lower: bool = False) -> float:
    """How probable it is that one of the draws is as good, one-sided.

    Args:
        score: Of what was chosen.
        others: [draws] scores.
        lower: Whether low scores are looked for.

    Returns:
        Share of the draws and of what was chosen that score at least as well; NaN with fewer draws
        than `FEWEST`, of which none could be significant.
    """
    if len(others) < FEWEST:
        return math.nan
    beyond = others <= score + ROUNDING if lower else others >= score - ROUNDING
    return float((1 + beyond.sum()) / (1 + len(others)))
