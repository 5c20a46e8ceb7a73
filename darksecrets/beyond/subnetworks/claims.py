"""Numbers about subnetworks that claims need and no table has; tasks are those of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.importance.tables import HEADS
from darksecrets.beyond.subnetworks.tables import BAD, GOOD, RANDOM, RETRAINED
from darksecrets.core.data.metrics import by_accuracy
from darksecrets.core.stats.independent import ESTIMATE, minus

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
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    rows = by_accuracy(scores)[[*_MODEL, "subnetwork", "trained", "same_size", *ends]]
    again = rows[(rows["trained"] == RETRAINED) & rows["same_size"]].rename(columns=ends)
    good, bad = (again[again["subnetwork"] == kind] for kind in (GOOD, BAD))
    return minus(good, bad, _MODEL)[[*_MODEL, *ESTIMATE]]


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
