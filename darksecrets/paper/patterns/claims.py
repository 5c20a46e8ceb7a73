"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.run.states import RANDOM
from darksecrets.core.stats.independent import ESTIMATE, minus
from darksecrets.paper.patterns.classes import FIRST_THREE, STRICT


def more_than_random(patterns: pd.DataFrame) -> pd.DataFrame:
    """How many more maps of the pre-trained encoder have one of the first three patterns.

    Args:
        patterns: The table ``patterns``.

    Returns:
        Columns ``task``, ``state``, ``value``, ``low``, ``high``: the share, minus that of an
        encoder with random weights. Half-widths add up, which is valid for any dependence.
    """
    rows = patterns[(patterns["definition"] == STRICT) & patterns["pattern"].isin(FIRST_THREE)]
    rows = rows.rename(columns={"share": "value", "ci_low": "low", "ci_high": "high"})
    own, random = (
        rows[rows["state"] == state].groupby("task")[ESTIMATE].mean().reset_index()
        for state in ("pretrained", RANDOM)
    )
    found = minus(own, random, ["task"])[["task", *ESTIMATE]]
    return found.assign(state="pretrained")
