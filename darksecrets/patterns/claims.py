"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from darksecrets.patterns.classes import STRICT
from darksecrets.patterns.quality import of_classifier
from darksecrets.run.columns import RANDOM
from darksecrets.stats.independent import ESTIMATE, minus, named

_FIRST_THREE = ("vertical", "diagonal", "vertical+diagonal")


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


def more_than_random(patterns: pd.DataFrame) -> pd.DataFrame:
    """How many more maps of the pre-trained encoder have one of the first three patterns.

    Args:
        patterns: The table ``patterns``.

    Returns:
        Columns ``task``, ``state``, ``value``, ``low``, ``high``: the share, minus that of an
        encoder with random weights. Half-widths add up, which is valid for any dependence.
    """
    rows = patterns[(patterns["definition"] == STRICT) & patterns["pattern"].isin(_FIRST_THREE)]
    own, random = (
        named(rows[rows["state"] == state], "corrected").groupby("task")[ESTIMATE].sum()
        for state in ("pretrained", RANDOM)
    )
    found = minus(own.reset_index(), random.reset_index(), ["task"])[["task", *ESTIMATE]]
    return found.assign(state="pretrained")
