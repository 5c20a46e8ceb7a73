"""Numbers about subnetworks that claims need and no table has; tasks are those of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.data.metrics import by_accuracy
from darksecrets.importance.tables import HEADS
from darksecrets.subnetworks.tables import BAD, GOOD, RANDOM, RETRAINED

_MODEL = ["on", "state", "seed"]


def over_random(scores: pd.DataFrame) -> pd.DataFrame:
    """What subnetworks score more than random ones of their size.

    Args:
        scores: The table ``subnetwork_scores``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``subnetwork``, ``trained``; ``value``, in
        points, with ``low`` and ``high``. The score is accuracy, or the first metric of a task that
        has none. Subnetworks of another size are left out.
    """
    rows = by_accuracy(scores)
    ends = {"value": "", "low": "_low", "high": "_high"}
    values = {name: rows[f"over_random{end}"] for name, end in ends.items()}
    return rows.assign(**values)[(rows["subnetwork"] != RANDOM) & rows["same_size"]]


def behind_good(scores: pd.DataFrame) -> pd.DataFrame:
    """How far re-trained bad subnetworks are behind good ones.

    Args:
        scores: The table ``subnetwork_scores``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, in points, with ``low`` and
        ``high``, valid for any dependence. Subnetworks of another size are left out.
    """
    rows = by_accuracy(scores)
    again = rows[(rows["trained"] == RETRAINED) & rows["same_size"]]
    good, bad = (again[again["subnetwork"] == kind].set_index(_MODEL) for kind in (GOOD, BAD))
    good = good.loc[bad.index]
    found = pd.DataFrame(
        {
            "value": good["delta"] - bad["delta"],
            "low": good["ci_low"] - bad["ci_high"],
            "high": good["ci_high"] - bad["ci_low"],
        }
    )
    return found.reset_index()


def agreement_of_heads(agreement: pd.DataFrame) -> pd.DataFrame:
    """Fleiss' kappa of the heads that the seeds of a task keep.

    Args:
        agreement: The table ``subnetwork_agreement``.

    Returns:
        Columns ``on`` (the task); ``value``, with ``low`` and ``high``. Tasks with one seed are
        left out.
    """
    rows = agreement[(agreement["part"] == HEADS) & agreement["kappa"].notna()]
    names = {"task": "on", "kappa": "value", "ci_low": "low", "ci_high": "high"}
    return rows.rename(columns=names)
