"""Numbers about norms that claims need: of the whole encoder, means over the tasks of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.norms.tables import FREQUENT, OTHER
from darksecrets.stats.independent import mean_of_independent

_ESTIMATE = ["value", "low", "high"]


def kept(levels: pd.DataFrame) -> pd.DataFrame:
    """What norms leave of the share of weight of each kind of token.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        Columns ``state``, ``seed``, ``kind``; ``value``, with ``low`` and ``high``.
    """
    return _over_tasks(_named(levels, "kept"))


def norm_over_uniform(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that under uniform attention; see `kept`."""
    named = _named(levels, "norm")
    return _over_tasks(named.assign(**{name: named[name] - named["uniform"] for name in _ESTIMATE}))


def norm_over_control(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that with random lengths; see `kept`."""
    return _over_tasks(_named(levels, "over_control"))


def correlations(levels: pd.DataFrame) -> pd.DataFrame:
    """The correlation of weight and length of each kind of token; see `kept`."""
    return _over_tasks(_named(levels, "correlation"))


def length_of_frequent_words(levels: pd.DataFrame) -> pd.DataFrame:
    """How much longer the vectors of frequent words are than those of other words.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        As `kept`; the interval of the difference adds the half-widths of both, which is valid for
        any dependence.
    """
    key, named = ["task", "state", "seed"], _named(levels, "length")
    frequent, other = (
        named[named["kind"] == kind].set_index(key)[_ESTIMATE] for kind in (FREQUENT, OTHER)
    )
    other = other.rename(columns={"low": "high", "high": "low"})
    return _over_tasks((frequent - other[_ESTIMATE]).reset_index().assign(kind=FREQUENT))


def _named(levels: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows of the whole encoder, with a column and its interval as ``value``, ``low``, ``high``."""
    names = {column: "value", f"{column}_low": "low", f"{column}_high": "high"}
    return levels[levels["layer"].isna()].rename(columns=names)


def _over_tasks(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over tasks, which do not depend on each other."""
    found = [
        (*key, *mean_of_independent(*(part[name] for name in _ESTIMATE)))
        for key, part in rows.groupby(["state", "seed", "kind"], sort=False, dropna=False)
    ]
    return pd.DataFrame(found, columns=["state", "seed", "kind", *_ESTIMATE])
