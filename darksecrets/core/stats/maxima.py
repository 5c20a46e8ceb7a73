"""Expected maximum of n runs (Dodge et al. 2019, "Show Your Work", section 3.1).

With N scores, the empirical distribution of the best of n runs drawn with replacement is exact: its
probability of the i-th smallest score is (i/N)^n − ((i−1)/N)^n. The best of several runs that was
chosen by some scores can be scored by others: then what chose it does not score it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darksecrets.core.arrays import Floats


def chances(number: int, draws: int) -> Floats:
    """[number] the chance of every score, from the smallest, to be the greatest of some draws."""
    places = np.arange(number + 1) / number
    return np.diff(places**draws)


def expected_maximum(scores: Floats, draws: int) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the greatest of some scores drawn with replacement.

    Args:
        scores: [..., number].
        draws: How many are drawn.

    Returns:
        Both [...].
    """
    ordered, weights = np.sort(scores, axis=-1), chances(scores.shape[-1], draws)
    mean = ordered @ weights
    variance = ((ordered - mean[..., None]) ** 2) @ weights
    return mean, np.sqrt(variance)


def expected_of_chosen(chosen_by: Floats, scored_by: Floats, draws: Sequence[int]) -> Floats:
    """Mean score of the run that another score prefers among some drawn with replacement.

    Args:
        chosen_by: [rows, number] scores that choose; of equal ones, each is chosen as often.
        scored_by: [rows, number] scores of the same runs by other examples.
        draws: How many are drawn, several times.

    Returns:
        [draws] means over rows, too.
    """
    from scipy.stats import rankdata

    rows, number = chosen_by.shape
    upper = rankdata(chosen_by, method="max", axis=-1).astype(np.int64)
    lower = rankdata(chosen_by, method="min", axis=-1).astype(np.int64) - 1
    shared = (scored_by / (upper - lower)).ravel() / rows  # equal scores share their chance
    scores = [np.bincount(place.ravel(), shared, number + 1) for place in (upper, lower)]
    places = np.arange(number + 1) / number
    powers = places ** np.asarray(draws)[:, None]
    return powers @ (scores[0] - scores[1])
