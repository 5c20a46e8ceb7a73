"""Corrections for multiple tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control

Floats = npt.NDArray[np.float64]


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Control the false discovery rate over all tests of an array (Benjamini and Hochberg 1995).

    Args:
        p: [...] p-values, one family whatever the shape.

    Returns:
        [...] q-values.
    """
    values = np.asarray(p, dtype=np.float64)
    q: Floats = false_discovery_control(values, axis=None).reshape(values.shape)
    return q


def family_p_values(drawn: Floats) -> Floats:
    """Control the family-wise error by the maximum statistic (Westfall and Young 1993).

    Each statistic is standardized by its draws and compared with the greatest standardized
    statistic of every draw. If all draws of a statistic are equal, its p-value is 1.

    Args:
        drawn: [1 + draws, ...] statistics; the first are the observed ones.

    Returns:
        [...] adjusted p-values.
    """
    spread = drawn.std(axis=0)
    scores = (drawn - drawn.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    highest = scores.reshape(len(drawn), -1).max(axis=1)
    p: Floats = (highest >= scores[0][..., None]).mean(axis=-1)
    return p
