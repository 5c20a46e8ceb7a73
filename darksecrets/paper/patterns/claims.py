"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.run.states import RANDOM
from darksecrets.core.stats.independent import ESTIMATE, minus, named
from darksecrets.paper.patterns.classes import STRICT

_FIRST_THREE = ("vertical", "diagonal", "vertical+diagonal")


def more_than_random(patterns: pd.DataFrame) -> pd.DataFrame:
    """How many more maps of the pre-trained encoder have one of the first three patterns.

    Args:
        patterns: The table ``patterns``.

    Returns:
        Columns ``classifier``, ``task``, ``state``, ``value``, ``low``, ``high``: the share, minus
        that of an encoder with random weights. Half-widths add up, which is valid for any
        dependence.
    """
    place = ["classifier", "task"]
    rows = patterns[(patterns["definition"] == STRICT) & patterns["pattern"].isin(_FIRST_THREE)]
    own, random = (
        named(rows[rows["state"] == state], "corrected").groupby(place)[ESTIMATE].sum()
        for state in ("pretrained", RANDOM)
    )
    found = minus(own.reset_index(), random.reset_index(), place)[[*place, *ESTIMATE]]
    return found.assign(state="pretrained")
