"""Numbers about changes of attention that claims need."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.core.run.states import RANDOM
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


def levels_beyond_random(levels: pd.DataFrame) -> pd.DataFrame:
    """Attention minus what the encoder with random weights gives the same tokens.

    What differs between tasks without any training, such as the length of their texts, says
    nothing about what models have learned.

    Args:
        levels: The table ``attention_levels``.

    Returns:
        Its rows, with ``value``, ``low`` and ``high``; of random weights, the value is 0.
    """
    return _beyond_random(named(levels, "weight"))


def multiples_beyond_random(levels: pd.DataFrame) -> pd.DataFrame:
    """The same of attention as a multiple of what uniform attention gives.

    In short texts every token gets more attention, whatever a head knows of it. Uniform attention
    follows from the texts, so the interval is that of the attention.

    Args:
        levels: The table ``attention_levels``.

    Returns:
        Its rows, with ``value``, ``low`` and ``high``; of random weights, the value is 0.
    """
    rows = named(levels, "weight")
    rows[list(ESTIMATE)] = rows[list(ESTIMATE)].div(rows["uniform"], axis=0)
    return _beyond_random(rows)


def _beyond_random(rows: pd.DataFrame) -> pd.DataFrame:
    """Estimates minus those of random weights; both intervals together."""
    key = ["task", "measure", "layer", "feature"]
    rows = rows.astype(dict.fromkeys(ESTIMATE, "float64"))
    random = rows.loc[rows["state"] == RANDOM, [*key, *ESTIMATE]]
    both = rows.merge(random, how="left", on=key, suffixes=("", "_random"))
    value, low, high = (both[name] for name in ESTIMATE)
    value_random, low_random, high_random = (both[f"{name}_random"] for name in ESTIMATE)
    found = both[rows.columns].copy()
    found["value"] = value - value_random
    found["low"] = found["value"] - np.hypot(value - low, high_random - value_random)
    found["high"] = found["value"] + np.hypot(high - value, value_random - low_random)
    return found


def trends_beyond_chance(trends: pd.DataFrame) -> pd.DataFrame:
    """Correlations of attention with the layer, by their permutation tests.

    An interval over examples and models takes the layers as given. Where layers in random order
    would give as large a correlation, its sign says nothing: the interval is all that it can be.

    Args:
        trends: The table ``attention_trends``.

    Returns:
        Its rows, with ``value``, ``low`` and ``high``.
    """
    rows = named(trends, "correlation")
    by_chance = ~(rows["p_value"] < LEVEL)
    rows.loc[by_chance, ["low", "high"]] = -1.0, 1.0
    return rows
