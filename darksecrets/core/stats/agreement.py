"""Agreement of raters: of two, from the contingency table of their labels, and of several.

scikit-learn and statsmodels compute the kappas of one set of raters; the bootstrap needs them for
thousands of tables. Tests compare the two.
"""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Floats, Integers

Counts = Integers


def cohens_kappa(confusion: Counts) -> Floats:
    """Cohen's kappa, (observed - expected) / (1 - expected) agreement.

    Args:
        confusion: [..., class, class] number of items by the first and the second rater's label.

    Returns:
        [...]; NaN where both raters gave all items the same label.
    """
    total = confusion.sum(axis=(-2, -1))
    observed = np.trace(confusion, axis1=-2, axis2=-1) / total
    expected = (confusion.sum(axis=-1) * confusion.sum(axis=-2)).sum(axis=-1) / total**2
    with np.errstate(invalid="ignore"):
        return np.asarray((observed - expected) / (1 - expected), dtype=np.float64)


def fleiss_kappa(counts: Counts) -> Floats:
    """Fleiss' kappa of several raters, (observed - expected) / (1 - expected) agreement.

    Args:
        counts: [..., items, classes] how many raters put each item into each class; every item has
            the same number of raters.

    Returns:
        [...]; NaN with a single rater, or where all raters put all items into the same class.
    """
    raters = counts[..., :1, :].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        agreed = ((counts**2).sum(axis=-1) - raters) / (raters * (raters - 1))
        shares = counts.sum(axis=-2) / counts.sum(axis=(-2, -1))[..., None]
        expected = (shares**2).sum(axis=-1)
        kappa = (agreed.mean(axis=-1) - expected) / (1 - expected)
    return np.where(expected < 1, kappa, np.nan)
