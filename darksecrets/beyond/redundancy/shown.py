"""The figure of heads that attend alike, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy import declared
from darksecrets.beyond.redundancy.declared import BROAD_FOR_LENGTH, SAME_LAYER
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM, STATE_NAMES
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

# How alike the attention of two heads is: mean distances by kind of pairs (section 5).
#
# After section 6 of Clark et al. (2019).

_STATES = ("pretrained", "finetuned")
"""States that are drawn first; others follow."""


def draw_redundancy(sources: kit.Sources) -> kit.Figure:
    """Draw mean distances of the heads of every task's models, with those of all seeds."""
    table = sources.table(declared.REDUNDANCY)
    longest = float(table[["distance", "ci_high"]].max().max())
    others = sorted(set(table["state"]) - set(_STATES))
    states = [state for state in (*_STATES, *others) if state in set(table["state"])]
    looks = {state: kit.dot(kit.STATES.get(state, kit.GREY), ".", 2.5) for state in states}

    def distances(axes: kit.Axes, task: str) -> None:
        where: dict[str, Any] = {"at": "pairs", "places": {name: name for name in declared.PAIRS}}
        where |= {"by": "state", "spread": ["state"], "ends": ("ci_low", "ci_high")}
        kit.intervals(axes, kit.pick(table, task=task), "distance", looks, **where)
        axes.set_xlim(-0.03 * longest, 1.05 * longest)  # dots at 0 are whole

    legend = {STATE_NAMES[state]: look for state, look in looks.items()}
    panel = kit.Panel(distances, "distances", x="Distance", height=1.1, share="columns")
    means = table[table["state"] == states[0]].groupby("pairs")["distance"].mean()
    nearest, itself = (f"{means[name]:.2f}" for name in (declared.NEAREST, declared.OTHER_TEXT))
    headline = f"A head is {nearest} nats from its nearest head, {itself} from itself on other text"
    return kit.page(sources, headline, panel, legend=legend, what="Mean distances, 95% intervals.")


_MODEL = ["state", "seed"]


def same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    """How much nearer heads of one layer are to each other than heads at random.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        Columns ``state``, ``seed``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(_same_layer(redundancy), _MODEL)


def same_layer_over_random(redundancy: pd.DataFrame) -> pd.DataFrame:
    """The same, minus that of the encoder with random weights.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        As `same_layer`. Both are of the same examples: half-widths add up, which is valid for any
        dependence.
    """
    rows = _same_layer(redundancy)
    is_random = rows["state"] == RANDOM
    return means_of_independent(minus(rows[~is_random], rows[is_random], ["task"]), _MODEL)


def same_layer_p(redundancy: pd.DataFrame) -> pd.DataFrame:
    """The p-value of heads of one layer being near in every task: the largest.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        Columns ``state``, ``seed``, ``value``.
    """
    rows = redundancy[redundancy["pairs"] == SAME_LAYER].rename(columns={"p_value": "value"})
    largest = rows.groupby(_MODEL, sort=False, dropna=False)["value"].agg(np.max)
    return largest.reset_index()


def types_over_random(counts: pd.DataFrame) -> pd.DataFrame:
    """How many more heads are of a type than in the encoder with random weights.

    Args:
        counts: The table ``head_type_counts``.

    Returns:
        Columns ``state``, ``seed``, ``type``, and as `same_layer_over_random`.
    """
    rows = _counted(counts[counts["layer"].isna()])
    is_random = rows["state"] == RANDOM
    found = minus(rows[~is_random], rows[is_random], ["task", "type"])
    return means_of_independent(found, [*_MODEL, "type"])


def broad_in_lower_layers(counts: pd.DataFrame) -> pd.DataFrame:
    """How many more heads of the lower half of the layers are broad than of the upper half.

    Args:
        counts: The table ``head_type_counts``.

    Returns:
        As `same_layer`; half-widths of the layers add up. No rows for encoders of one layer.
    """
    rows = _counted(counts[counts["layer"].notna() & (counts["type"] == BROAD_FOR_LENGTH)])
    last = rows["layer"].max()
    halves = [rows[rows["layer"] <= last // 2], rows[rows["layer"] > last - last // 2]]
    key = ["task", *_MODEL]
    lower, upper = (half.groupby(key, sort=False, dropna=False)[ESTIMATE].sum() for half in halves)
    found = lower - upper.rename(columns={"low": "high", "high": "low"})[ESTIMATE]
    return means_of_independent(found.reset_index(), _MODEL)


def _same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    return named(redundancy[redundancy["pairs"] == SAME_LAYER], "difference")


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.rename(columns={"heads": "value", "ci_low": "low", "ci_high": "high"})
