"""Numbers about norms that claims need: of the whole encoder, means over the tasks of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.norms.tables import FREQUENT, OTHER
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

_KEY = ["state", "seed", "kind"]


def kept(levels: pd.DataFrame) -> pd.DataFrame:
    """What norms leave of the share of weight of each kind of token.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        Columns ``state``, ``seed``, ``kind``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(_of_encoder(levels, "kept"), _KEY)


def norm_over_uniform(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that under uniform attention; see `kept`."""
    rows = _of_encoder(levels, "norm")
    over = rows.assign(**{name: rows[name] - rows["uniform"] for name in ESTIMATE})
    return means_of_independent(over, _KEY)


def norm_over_control(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that with random lengths; see `kept`."""
    return means_of_independent(_of_encoder(levels, "over_control"), _KEY)


def correlations(levels: pd.DataFrame) -> pd.DataFrame:
    """The correlation of weight and length of each kind of token; see `kept`."""
    return means_of_independent(_of_encoder(levels, "correlation"), _KEY)


def length_of_frequent_words(levels: pd.DataFrame) -> pd.DataFrame:
    """How much longer the vectors of frequent words are than those of other words.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        As `kept`; the interval of the difference adds the half-widths of both, which is valid for
        any dependence.
    """
    rows = _of_encoder(levels, "length")
    frequent, other = (rows[rows["kind"] == kind] for kind in (FREQUENT, OTHER))
    return means_of_independent(minus(frequent, other, ["task", "state", "seed"]), _KEY)


def _of_encoder(levels: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows of the whole encoder, with a column and its interval as ``value``, ``low``, ``high``."""
    return named(levels[levels["layer"].isna()], column)
