"""Corrections for multiple tests; `paired.sign_flips` has its own for the family-wise error."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Floats


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Control the false discovery rate over all tests of an array (Benjamini and Hochberg 1995).

    Args:
        p: [...] p-values, one family whatever the shape; NaN where nothing was tested.

    Returns:
        [...] q-values; NaN where there is no p-value.
    """
    from scipy.stats import false_discovery_control

    found = np.array(p, dtype=np.float64)
    tested = ~np.isnan(found)
    if tested.any():
        found[tested] = false_discovery_control(found[tested], axis=None)
    return found
