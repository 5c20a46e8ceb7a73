"""Numbers about patterns that claims need and no table has."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy import stats

from darksecrets.patterns.classes import PATTERNS, STRICT
from darksecrets.patterns.quality import of_classifier
from darksecrets.stats.agreement import cohens_kappa
from darksecrets.stats.resampling import bootstrap_weights, interval

_RESAMPLES, _SEED = 1000, 2019


def shares_of_labels(predictions: pd.DataFrame) -> pd.DataFrame:
    """Shares of the classes among the labelled maps, in the strict reading.

    Args:
        predictions: The table ``pattern_predictions``.

    Returns:
        Columns ``label``, ``value``, ``low``, ``high`` (%), with Wilson's interval.
    """
    once = of_classifier(predictions, STRICT)
    rows = []
    for label, count in once["label"].value_counts().items():
        ends = stats.binomtest(int(count), len(once)).proportion_ci(method="wilson")
        rows.append((label, 100 * count / len(once), 100 * ends.low, 100 * ends.high))
    return pd.DataFrame(rows, columns=["label", "value", "low", "high"])


def agreement_of_tasks(heads: pd.DataFrame) -> pd.DataFrame:
    """Whether the heads of models fine-tuned on different tasks have the same patterns.

    Args:
        heads: The table ``pattern_heads``.

    Returns:
        One row, ``value``, ``low``, ``high``: Cohen's kappa of two tasks about each head's most
        frequent pattern, mean over all pairs of tasks, with a bootstrap interval over heads. No row
        if there is one task. Shares are averaged over seeds first.
    """
    columns = ["value", "low", "high"]
    tuned = heads[heads["state"] == "finetuned"]
    keys = ["task", "layer", "head", "pattern"]
    shares = tuned.groupby(keys)["share"].mean().unstack("pattern")
    shares = shares.reindex(columns=list(PATTERNS)).fillna(0)
    by_task = [group.to_numpy().argmax(axis=1) for _, group in shares.groupby("task")]
    if len(by_task) < 2:
        return pd.DataFrame(columns=columns, dtype=float)
    indicators = [np.eye(len(PATTERNS), dtype=np.int64)[patterns] for patterns in by_task]
    pairs = list(itertools.combinations(indicators, 2))
    count = len(by_task[0])
    weights = np.concatenate(
        [
            np.ones((1, count), dtype=np.int64),
            *bootstrap_weights(_RESAMPLES, count, np.random.default_rng(_SEED)),
        ]
    )
    kappas = np.nanmean(
        [cohens_kappa(np.einsum("rh,ha,hb->rab", weights, a, b)) for a, b in pairs], axis=0
    )
    low, high = interval(kappas[1:])
    return pd.DataFrame([(kappas[0], low, high)], columns=columns)
