"""What the figures of disabled heads and layers share: rows, scale, marks, legend (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from darksecrets.core.data.metrics import titled
from darksecrets.core.plotting import kit
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.findings import STATE, significant

MARKS: Mapping[int, str] = {1: "^", -1: "v"}
"""Marker of sets without which the score is significantly higher or lower."""
HOLLOW: Mapping[str, Any] = {
    "linestyle": "none",
    "markersize": 4.0,
    "markeredgewidth": 0.5,
    "markerfacecolor": "white",
    "markeredgecolor": kit.INK,
}
MARK_LEGEND: Mapping[str, Any] = {
    "significantly higher": {"marker": "^", **HOLLOW},
    "significantly lower": {"marker": "v", **HOLLOW},
}

INTACT: Mapping[str, Any] = kit.line(kit.INK, dash="--", width=0.7)
CHANCE: Mapping[str, Any] = kit.line(kit.INK, dash=":", width=0.7)
REFERENCES: Mapping[str, Any] = {"intact model": INTACT, "most frequent label": CHANCE}
"""Lines of scores that others are compared with."""

ACCURACY = "accuracy"


def rows_of(table: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    """Rows of a task's fine-tuned models, for one of its metrics.

    Ends of intervals are also there around the baseline, as ``low`` and ``high``.
    """
    rows = kit.pick(table, task=task, state=STATE, metric=metric)
    if "baseline" not in rows:
        return rows
    return rows.assign(**{end: rows["baseline"] + rows[f"ci_{end}"] for end in ("low", "high")})


def panel_rows(sources: kit.Sources, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of every panel by its title: each task on its first metric, and on accuracy.

    The paper speaks of accuracy where tasks are scored by F1 first; not all have an accuracy.
    """
    return {
        titled(sources.marked(task), metric): rows_of(table, task, metric)
        for task, metrics in sources.metrics.items()
        for metric in dict.fromkeys([metrics[0], *(name for name in metrics if name == ACCURACY)])
    }


def reach_of(values: pd.DataFrame, rows: pd.DataFrame) -> float:
    """How far a panel's colours reach on both sides of the intact model's score; never 0.

    As far as the farthest value, and two standard errors (half of the interval) of every difference
    that is not significant: noise stays in the middle of the scale.

    Args:
        values: Scores to draw.
        rows: The rows they are from.
    """
    unsure = rows[rows["q_value"] >= LEVEL] if "q_value" in rows else rows[:0]
    noise = ((unsure["ci_high"] - unsure["ci_low"]) / 2).max() if len(unsure) else 0.0
    farthest = float((values - rows["baseline"].mean()).abs().max().max())
    return max(farthest, float(noise)) or 0.5


def mark_significant(axes: kit.Axes, rows: pd.DataFrame, **look: Any) -> None:  # noqa: ANN401
    """Put triangles on heads without which the score is significantly higher or lower.

    It is for more than half of the seeds in the same direction, after correction.
    """
    for sign, marker in MARKS.items():
        flags = significant(rows, sign).unstack() > 0.5
        kit.mark(axes, flags, label=f"significant {sign}", marker=marker, **{**HOLLOW, **look})


def note_on_marks(table: pd.DataFrame) -> str:
    """Which test `mark_significant` marks, and of which models: words for the small print."""
    several = " in more than half of the seeds" if table["seed"].nunique() > 1 else ""
    return f" · significant: paired test over the examples of one model, q < {LEVEL:g}{several}"


def compare(axes: kit.Axes, rows: pd.DataFrame) -> None:
    """Draw the scores of the intact model and of the most frequent label."""
    axes.axhline(rows["baseline"].mean(), label="intact", zorder=1, **INTACT)
    axes.axhline(rows["chance"].mean(), label="chance", zorder=1, **CHANCE)
