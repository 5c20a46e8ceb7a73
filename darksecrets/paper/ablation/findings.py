"""What a run found about disabled heads and layers, in a sentence (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from darksecrets.core.stats import LEVEL

STATE = "finetuned"
"""The state whose heads the paper disables."""


def significant(rows: pd.DataFrame, sign: int) -> pd.Series[float]:
    """Share of the seeds in which a difference is significant and of this sign.

    Args:
        rows: Rows of one task and metric; the key is ``layer`` and, of heads, ``head``.
        sign: 1 or -1.
    """
    place = [name for name in ("layer", "head") if name in rows]
    signs = np.sign(rows["delta"]).where(rows["q_value"] < LEVEL, 0)
    return (signs == sign).astype(float).groupby([rows[name] for name in place]).mean()


def describe_needed_heads(effects: pd.DataFrame, metrics: Mapping[str, str]) -> str:
    """How many heads fine-tuned models significantly need, or are better without.

    Args:
        effects: The table `head_ablation`.
        metrics: Main metric of every task that is described.
    """
    lower, higher, heads = 0, 0, 0
    for task, metric in metrics.items():
        rows = _rows_of(effects, task, metric)
        heads += len(rows[["layer", "head"]].drop_duplicates())
        lower += int((significant(rows, -1) > 0.5).sum())
        higher += int((significant(rows, 1) > 0.5).sum())
    return (
        f"Without one head the score falls significantly for {lower} of {heads} heads, and rises "
        f"for {higher or 'none'}"
    )


def describe_needed_layers(effects: pd.DataFrame, metrics: Mapping[str, str]) -> str:
    """How many layers fine-tuned models significantly need, and what the most needed one costs.

    Args:
        effects: The table `layer_ablation`.
        metrics: Main metric of every task that is described.
    """
    lower = 0
    costs: dict[tuple[str, str], float] = {}
    for task, metric in metrics.items():
        rows = _rows_of(effects, task, metric)
        lower += int((significant(rows, -1) > 0.5).sum())
        means = rows.groupby("layer")["delta"].mean()
        costs |= {(task, str(layer)): float(delta) for layer, delta in means.items()}
    task, layer = min(costs, key=lambda place: costs[place])
    worst = -costs[task, layer]
    if worst <= 0:
        return f"Without one layer no score falls; {len(costs)} layers were tried"
    return (
        f"{lower} of {len(costs)} layers are needed significantly; the most, layer {layer} on "
        f"{task}, costs {worst:.0f} points"
    )


def _rows_of(effects: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    rows = effects[(effects["task"] == task) & (effects["metric"] == metric)]
    return rows[rows["state"] == STATE]
