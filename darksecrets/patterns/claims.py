"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from darksecrets.patterns.tables import EXAMPLE, NETWORK


def shares_of_labels(predictions: pd.DataFrame) -> pd.DataFrame:
    """Shares of the classes among the labelled maps.

    Args:
        predictions: The table ``pattern_predictions``.

    Returns:
        Columns ``label``, ``value``, ``low``, ``high`` (%), with Wilson's interval.
    """
    once = predictions[
        (predictions["classifier"] == NETWORK) & (predictions["left_out"] == EXAMPLE)
    ]
    rows = []
    for label, count in once["label"].value_counts().items():
        ends = stats.binomtest(int(count), len(once)).proportion_ci(method="wilson")
        rows.append((label, 100 * count / len(once), 100 * ends.low, 100 * ends.high))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high"])
