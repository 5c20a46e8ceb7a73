"""Numbers about changes of attention that claims need."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE, named
from darksecrets.core.stats.seeds import critical_value


def greatest_change(changes: pd.DataFrame) -> pd.DataFrame:
    """The greatest change over control of all layers; its interval follows from those of all.

    Args:
        changes: The table ``attention_changes``.

    Returns:
        Columns ``task``, ``feature``, ``seeds``; ``value``, with ``low`` and ``high``.
    """
    rows = named(changes[changes["layer"].notna()], "over_control")
    key = ["task", "feature"]
    several = rows.groupby(key, sort=False)["value"].transform("size")
    widened = several.map(lambda layers: critical_value(LEVEL / layers)) / critical_value(LEVEL)
    for end in ("low", "high"):
        rows[end] = rows["value"] + widened * (rows[end] - rows["value"])
    found = rows.groupby(key, sort=False)[[*ESTIMATE, "seeds"]].max()
    return found.reset_index()
