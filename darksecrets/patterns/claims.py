"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from darksecrets.patterns.classes import STRICT
from darksecrets.patterns.quality import of_classifier


def shares_of_labels(predictions: pd.DataFrame) -> pd.DataFrame:
    """Shares of the classes among the labelled maps, under the strict definition.

    Args:
        predictions: The table ``pattern_predictions``.

    Returns:
        Columns ``label``, ``value``, ``low``, ``high`` (%), with Wilson's interval.
    """
    once = of_classifier(predictions, STRICT)
    rows = []
    for label, count in once["label"].value_counts().items():
        ends = stats.binomtest(int(count), len(once)).proportion_ci(method="wilson")
        rows.append((label, 100 * count / len(once), 100 * ends.low, 100 * ends.high))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high"])
