"""Numbers about removed heads that claims need and no table has; tasks are those of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.importance.tables import LEARNED, TRAINED_ON
from darksecrets.core.data.metrics import by_accuracy

FEW = 0.25
"""Share of the heads that Voita et al. left, about: 10 of 48."""
_MODEL = ["on", "state", "seed"]
_HETEROGENEOUS = "pattern_heads.share.heterogeneous"


def removable_shares(smaller: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be removed: selected on training examples, then scored.

    A share counts if the drop on validation examples is within the tolerance; else it is 0, since
    no head is shown to be removable.

    Args:
        smaller: The table ``smaller_models``. Models for which all training examples determined the
            orders are left out.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``order``; ``value``, and as its ends the
        share if the drop is significantly smaller than the tolerance, and if it is not
        significantly greater. The score is accuracy, or the first metric of a task that has none.
    """
    rows = by_accuracy(smaller)
    rows = rows[rows["chosen_on"] > 0]
    ends = {"value": "delta", "low": "ci_low", "high": "ci_high"}
    return rows.assign(
        **{
            name: rows["share"].where(rows[column] >= -rows["tolerance"], 0.0)
            for name, column in ends.items()
        }
    )


def largest_shares(pruned: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be removed together.

    Args:
        pruned: The table ``pruned_heads``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``order``; ``value``, with ``low`` and
        ``high``. The score is accuracy, or the first metric of a task that has none.
    """
    rows = by_accuracy(pruned)
    return rows.assign(
        value=rows["largest"] / rows["heads"],
        low=rows["ci_low"] / rows["heads"],
        high=rows["ci_high"] / rows["heads"],
    )


def layers_with_one_head(needs: pd.DataFrame) -> pd.DataFrame:
    """Shares of the layers that can be left with their most important head alone.

    Args:
        needs: The table ``layer_needs``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, and as its ends the shares of the
        layers for which the drop is significantly smaller than the tolerance, and for which it is
        not significantly greater.
    """
    one = by_accuracy(needs[needs["kept"] == 1])
    flags = one.assign(
        value=one["tolerated"], low=one["noninferior"], high=one["ci_high"] >= -one["tolerance"]
    )
    return flags.groupby(_MODEL, as_index=False, sort=False)[["value", "low", "high"]].mean()


def few_heads_by_gates(learned: pd.DataFrame) -> pd.DataFrame:
    """What is lost if gates that learn close at least three quarters of the heads.

    Args:
        learned: The table ``learned_gates``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, with ``low`` and ``high``: the
        difference from the model that was trained on with all heads, at the smallest penalty that
        closes as many. Models in which no penalty does have no row.
    """
    rows = by_accuracy(learned)
    rows = rows[(rows["chosen_by"] == LEARNED) & (rows["weights"] == TRAINED_ON)]
    few = rows[rows["share"] <= FEW].sort_values("penalty").drop_duplicates(_MODEL)
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    return few[[*_MODEL, *ends]].rename(columns=ends)


def of_structure(important: pd.DataFrame) -> pd.DataFrame:
    """Correlations of importance with the share of maps that have one of the paper's structures.

    Args:
        important: The table ``important_heads``.

    Returns:
        Columns ``on`` (the task), ``definition``, ``measured``; ``value``, with ``low`` and
        ``high``: the correlation with the share of heterogeneous maps, with the other sign.
    """
    rows = important[important["measure"] == _HETEROGENEOUS].rename(columns={"task": "on"})
    return rows.assign(value=-rows["spearman"], low=-rows["ci_high"], high=-rows["ci_low"])
