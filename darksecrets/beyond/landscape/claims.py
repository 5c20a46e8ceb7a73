"""Numbers about what fine-tuning does that claims need and no table has, of the run's tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape.flatness_means import learned
from darksecrets.beyond.landscape.tables import STATES, THIRD, TRAIN
from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import by_accuracy
from darksecrets.core.stats.independent import ESTIMATE

_NAMES = ("lower", "middle", "upper")
_MODEL = ["on", "state", "seed"]


def thirds(reset: pd.DataFrame) -> pd.DataFrame:
    """Effects of resetting a third of the layers on accuracy, or on a task's first metric.

    Args:
        reset: The table ``reset_layers``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``third``; ``value``, with ``low`` and
        ``high``. Encoders with fewer than three layers have no rows.
    """
    chosen = reset[reset["kind"] == THIRD]
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    rows = by_accuracy(chosen).rename(columns=ends)
    place = rows.groupby(_MODEL)["first_layer"].rank().astype(int) - 1
    rows = rows.assign(third=[_NAMES[number] for number in place])
    return rows[[*_MODEL, "third", *ESTIMATE]].reset_index(drop=True)


def flatness_gained(flatness: pd.DataFrame) -> pd.DataFrame:
    """How much flatter the loss is after fine-tuning pre-trained weights than random ones.

    Of two models of one seed, it is the relative difference (r − p) / (|r| + |p|), between −1 and
    1, so that measures and tasks have one unit. Both models must have learned their training
    examples: around one that has not, the loss may be flat, but it is no optimum.

    Args:
        flatness: The table ``flatness``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``measure``; ``value``, above 0 if the loss
        is flatter around the model that began with pre-trained weights, with ``low`` and ``high``:
        both ends at the worst, which is valid for any dependence. A sharpness has no error of its
        own. Tasks on which a state has not learned, by the mean over seeds, have no rows.
    """
    flags = learned(flatness[flatness["split"] == TRAIN]).groupby("task").all()
    chosen = flatness[(flatness["split"] == TRAIN) & flatness["task"].isin(flags.index[flags])]
    chosen = chosen.assign(
        low=chosen["ci_low"].fillna(chosen["value"]), high=chosen["ci_high"].fillna(chosen["value"])
    )
    key = ["task", "seed", "measure"]
    ours, theirs = (chosen[chosen["state"] == state].set_index(key) for state in STATES)
    theirs = theirs.reindex(ours.index)
    found = ours.index.to_frame(index=False).rename(columns={"task": "on"})
    return found.assign(
        state=STATES[0],
        value=_relative(theirs["value"], ours["value"]),
        low=_relative(theirs["low"], ours["high"]),
        high=_relative(theirs["high"], ours["low"]),
    )[["on", "state", "seed", "measure", *ESTIMATE]]


def _relative(one: pd.Series[float], other: pd.Series[float]) -> Floats:
    """(one − other) / (|one| + |other|); 0 where both are 0."""
    total = (one.abs() + other.abs()).to_numpy(dtype=np.float64)
    difference = (one - other).to_numpy(dtype=np.float64)
    return np.divide(difference, total, out=np.zeros_like(difference), where=total != 0)
