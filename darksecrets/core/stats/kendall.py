"""Kendall's rank correlation of many pairs of short rankings at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from darksecrets.core.arrays import Floats, Singles
from darksecrets.core.stats import LEVEL


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Kendall's τ-b, which takes ties into account.

    SciPy computes one pair of rankings at a time; here, all pairs of items are compared at once,
    which is faster for many rankings of few items. Memory grows with the square of their number.

    Args:
        first: [..., items].
        second: [..., items], of the same shape or broadcast to it.

    Returns:
        [...]; NaN where all items of a side are tied.
    """
    one, other = _signs(first), _signs(second)
    ties = [np.vecdot(signs, signs).astype(np.float64) for signs in (one, other)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.vecdot(one, other) / np.sqrt(ties[0] * ties[1]), dtype=np.float64)


def least_significant(items: int) -> float:
    """The size beyond which τ of random orders without ties is in 5 % (normal approximation).

    Args:
        items: Number of items; at least 2.
    """
    variance = 2 * (2 * items + 5) / (9 * items * (items - 1))
    return float(norm.isf(LEVEL / 2) * np.sqrt(variance))


def _signs(values: npt.ArrayLike) -> Singles:
    """[..., pairs] which of two items is the greater: 1, 0 or -1."""
    numbers = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(numbers.shape[-1], 1)
    return np.sign(numbers[..., first] - numbers[..., second]).astype(np.float32)
