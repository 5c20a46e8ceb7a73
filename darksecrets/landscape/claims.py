"""Numbers about restored layers that claims need and no table has; tasks are those of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.landscape.tables import RESTORED, THIRD

_ACCURACY = "accuracy"
_NAMES = ("lower", "middle", "upper")
_MODEL = ["on", "state", "seed"]
_ESTIMATE = ["value", "low", "high"]


def thirds(restored: pd.DataFrame) -> pd.DataFrame:
    """Effects of restoring a third of the layers on accuracy, or on a task's first metric.

    Args:
        restored: The table ``restored_layers``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``third``; ``value``, with ``low`` and
        ``high``. Encoders with fewer than three layers have no rows.
    """
    chosen = restored[(restored["direction"] == RESTORED) & (restored["kind"] == THIRD)]
    names = {"task": "on", "delta": "value", "ci_low": "low", "ci_high": "high"}
    rows = chosen.rename(columns=names)
    has = rows.groupby("on")["metric"].transform(lambda metrics: (metrics == _ACCURACY).any())
    first = rows.groupby("on")["metric"].transform("first")
    rows = rows[rows["metric"] == first.where(~has.astype(bool), _ACCURACY)]
    place = rows.groupby(_MODEL)["first_layer"].rank().astype(int) - 1
    rows = rows.assign(third=[_NAMES[number] for number in place])
    return rows[[*_MODEL, "third", *_ESTIMATE]].reset_index(drop=True)


def upper_over_lower(restored: pd.DataFrame) -> pd.DataFrame:
    """The effect of restoring the upper third less that of restoring the lower third.

    Returns:
        Columns ``on``, ``state``, ``seed``; ``value``, with ``low`` and ``high``: half-widths add
        up, which is valid for any dependence.
    """
    every = thirds(restored)
    upper, lower = (every[every["third"] == name] for name in ("upper", "lower"))
    swapped = lower.rename(columns={"low": "high", "high": "low"})
    both = upper.merge(swapped, on=_MODEL, suffixes=("", "_lower"))
    return both.assign(**{name: both[name] - both[f"{name}_lower"] for name in _ESTIMATE})[
        [*_MODEL, *_ESTIMATE]
    ]
