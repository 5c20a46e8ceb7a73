"""Do values rise or fall along an order, such as that of layers?"""

from __future__ import annotations

import itertools
import math

import numpy as np

from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats.correlation import standardized

_TIE = 1e-6  # relative to the greatest value: rounding errors of means
_EXACT = 5040  # permutations that are all tried


def rank_trends(profiles: Floats) -> Floats:
    """Spearman's correlation of values with their place; 0 if all are the same.

    Args:
        profiles: [..., places].

    Returns:
        [...]; NaN where a value is NaN.
    """
    ranks = _scaled_ranks(profiles)
    places = np.arange(profiles.shape[-1], dtype=np.float64)
    result: Floats = ranks @ standardized(places)
    return np.clip(result, -1, 1)


def permuted_places(places: int, draws: int, rng: np.random.Generator) -> Integers:
    """[permutations, places] all orders if there are at most `_EXACT`, else random ones."""
    if math.factorial(places) <= _EXACT:
        return np.array(list(itertools.permutations(range(places))), dtype=np.int64)
    return rng.permuted(np.tile(np.arange(places), (draws, 1)), axis=1)


def trend_test(profiles: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Two-sided permutation test of `rank_trends`: under the null, places are exchangeable.

    It is exact for at most 7 places, and then counts each permutation once.

    Args:
        profiles: [..., places].
        draws: Number of random permutations for more places.
        rng: Source of randomness.

    Returns:
        [...] p-values; NaN where a value is NaN.
    """
    ranks = _scaled_ranks(profiles)
    orders = permuted_places(profiles.shape[-1], draws, rng)
    line = standardized(np.arange(profiles.shape[-1], dtype=np.float64))
    observed = np.abs(ranks @ line)
    extreme = (np.abs(ranks @ line[orders].T) >= observed[..., None] - 1e-9).sum(axis=-1)
    every = math.factorial(profiles.shape[-1]) == len(orders)
    p_values = extreme / len(orders) if every else (1 + extreme) / (1 + len(orders))
    return np.asarray(np.where(np.isnan(observed), np.nan, p_values))


def _scaled_ranks(profiles: Floats) -> Floats:
    """Ranks whose product with standardized places is their correlation; 0 if all are equal.

    All of a profile are NaN if a value is.
    """
    from scipy.stats import rankdata

    size = np.abs(profiles).max(axis=-1, keepdims=True)
    below = profiles.max(axis=-1, keepdims=True) - profiles
    steps = np.divide(-below, _TIE * size, out=np.zeros_like(profiles), where=size > 0)
    ranks = standardized(rankdata(np.round(steps), axis=-1))
    return np.where(np.isnan(size), np.nan, ranks / profiles.shape[-1])
