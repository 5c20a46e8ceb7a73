"""Corrections for multiple tests; `paired.sign_flips` has its own for the family-wise error."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darksecrets.arrays import Floats


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Control the false discovery rate over all tests of an array (Benjamini and Hochberg 1995).

    Args:
        p: [...] p-values, one family whatever the shape.

    Returns:
        [...] q-values.
    """
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    return false_discovery_control(values, axis=None).reshape(values.shape)
