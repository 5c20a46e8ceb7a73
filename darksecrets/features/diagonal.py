"""Are heads that attend to related tokens diagonal heads, as the paper says (section 4.5)?"""

from __future__ import annotations

import numpy as np
import pandas as pd

_MODEL = ["task", "state", "seed", "relation"]


def diagonal_correlations(pairs: pd.DataFrame) -> pd.DataFrame:
    """Correlate, over the heads of a model, attention to related tokens with the diagonal score.

    Args:
        pairs: The table ``token_pairs.csv``.

    Returns:
        A row per task, state, seed and relation: number of ``heads``, and Pearson's correlation
        with ``diagonal`` of ``weight`` and of ``over_control``, which is weight minus control, or
        empty if either variable is the same for all heads. Heads with local attention that can
        reach no related tokens are left out: their weight is unknown.
    """
    reaching = pairs[pairs["examples"] > 0]
    rows = [
        dict(zip(_MODEL, model, strict=True))
        | {
            "heads": len(heads),
            "weight": _correlation(heads["weight"], heads["diagonal"]),
            "over_control": _correlation(heads["weight"] - heads["control"], heads["diagonal"]),
        }
        for model, heads in reaching.groupby(_MODEL, sort=False, dropna=False)
    ]
    columns = [*_MODEL, "heads", "weight", "over_control"]
    return pd.DataFrame(rows, columns=columns).astype({"seed": "Int64"})


def _correlation(one: pd.Series[float], other: pd.Series[float]) -> float:
    if one.nunique() < 2 or other.nunique() < 2:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])
