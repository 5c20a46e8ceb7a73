"""Are heads that attend to related tokens diagonal heads, as the paper says (section 4.5)?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.core.stats.resampling import interval
from darksecrets.core.stats.weighted import pearson, resampled
from darksecrets.paper.features.tables import TOKEN_PAIR_CORRELATIONS

_MODEL = ["task", "state", "seed", "relation"]


def diagonal_correlations(pairs: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Correlate, over the heads of a model, attention to related tokens with the diagonal score.

    Args:
        pairs: The table ``token_pairs.csv``.
        draws: Bootstrap samples of the intervals, over heads.
        seed: Their seed.

    Returns:
        A row per task, state, seed and relation, see `tables.TOKEN_PAIR_CORRELATIONS`; nothing is
        known if either variable is the same for all heads. Heads with local attention that can
        reach no related tokens are left out: their weight is unknown.
    """
    reaching = pairs[pairs["examples"] > 0]
    rows = [
        dict(zip(_MODEL, model, strict=True))
        | {"heads": len(heads)}
        | _correlated("weight", heads["weight"], heads["diagonal"], draws, seed)
        | _correlated(
            "over_control", heads["weight"] - heads["control"], heads["diagonal"], draws, seed
        )
        for model, heads in reaching.groupby(_MODEL, sort=False, dropna=False)
    ]
    table = pd.DataFrame(rows, columns=list(TOKEN_PAIR_CORRELATIONS.names))
    return table.astype({"seed": "Int64"})


def _correlated(
    name: str, one: pd.Series[float], other: pd.Series[float], draws: int, seed: int
) -> dict[str, float]:
    """A correlation and its interval; nothing if either side does not vary."""
    if one.nunique() < 2 or other.nunique() < 2:
        return {}
    first, second = (np.asarray(values, dtype=np.float64) for values in (one, other))
    rng = np.random.default_rng(seed)
    score = pearson(first[None], second)
    low, high = interval(resampled(score, np.arange(len(first)), draws, rng)[:, 0])
    return {
        name: float(np.corrcoef(first, second)[0, 1]),
        f"{name}_low": low,
        f"{name}_high": high,
    }
