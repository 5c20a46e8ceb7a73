"""The figure of seeds, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from darksecrets.beyond.seeds import declared
from darksecrets.beyond.seeds.declared import RESIDUAL
from darksecrets.core.data.metrics import main_metric_rows, titles
from darksecrets.core.plotting import kit
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE

# How much scores depend on the seeds of initialization and data order (Dodge et al. 2020).

_LOOKS = {
    declared.INIT: kit.dot(kit.BLUE),
    declared.ORDER: kit.dot(kit.VERMILLION),
    declared.RESIDUAL: kit.dot(kit.INK),
}
_WORDS = {
    declared.INIT: "initialization",
    declared.ORDER: "data order,\ndropout",
    declared.RESIDUAL: "residual",
}
_SURE, _NEGATIVE, _CUT = kit.dot(kit.INK), kit.dot(kit.INK, "x", 6.0), kit.dot(kit.INK, "^")
_BEST = kit.line(kit.INK)
_HELD_OUT = kit.line(kit.BLUE, dash="--")


def draw_seed_variance(sources: kit.Sources) -> kit.Figure:
    """Draw a row of three panels per task: deviations over seeds, the best of n, correlations."""
    variances = sources.table(declared.SEED_VARIANCE)
    maximum_rows = sources.table(declared.EXPECTED_MAXIMUM)
    stopping, metrics = sources.table(declared.EARLY_STOPPING), sources.main_metrics

    def rows_of(table: pd.DataFrame, task: str) -> pd.DataFrame:
        return table[(table["task"] == task) & (table["metric"] == metrics[task])]

    def deviations(axes: kit.Axes, task: str) -> None:
        rows = rows_of(variances, task)
        # intervals of two degrees of freedom would hide all else
        most = max(float(rows["sd"].max()) if len(rows) else 1.0, 0.1)
        low, high = (np.sqrt(rows[end]) for end in ("ci_low", "ci_high"))
        sure = (rows["component"] == declared.RESIDUAL) | (rows["q_value"] < LEVEL)
        rows = rows.assign(low=low, high=high.clip(upper=4 * most), sure=sure)
        look: dict[str, Any] = {"at": "component", "by": "component", "upright": True}
        names = {name: _WORDS[name] for name in declared.COMPONENTS}
        every: dict[str, Any] = {"places": names, "ends": ("low", "high"), "sure": "sure"}
        kit.intervals(axes, rows, "sd", _LOOKS, **look, **every)
        negative, cut = rows[rows["variance"] < 0], rows[high > 4 * most]
        for some, value, mark in ((negative, "sd", _NEGATIVE), (cut, "high", _CUT)):
            shown = {name: {**mark, "color": each["color"]} for name, each in _LOOKS.items()}
            kit.intervals(axes, some, value, shown, places=names, **look)
        axes.set_ylim(-0.25 * most, 4.2 * most)

    def maxima(axes: kit.Axes, task: str) -> None:
        rows = rows_of(maximum_rows, task)
        ends = ("ci_low", "ci_high")
        kit.lines(axes, rows, "drawn", "expected", {"": _BEST}, ends=ends, alpha=0.15)
        kit.lines(axes, rows, "drawn", "held_out", {"": _HELD_OUT})
        axes.set_ylabel("Expected score")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    def correlations(axes: kit.Axes, task: str) -> None:
        rows = rows_of(stopping, task).sort_values("epoch")
        axes.axhline(0, color=kit.BASELINE, linewidth=1.2, zorder=0)
        axes.plot(rows["epoch"], rows["spearman"], color=kit.INK, linewidth=0.8)
        rows = rows.assign(sure=rows["q_value"] < LEVEL)
        kit.intervals(axes, rows, "spearman", {"": _SURE}, at="epoch", sure="sure", upright=True)
        if rows.empty:
            axes.text(0.5, 0.75, "one epoch", transform=axes.transAxes, ha="center")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_ylim(-1.05, 1.05)

    legend = {
        "significant": _SURE,
        "not significant": kit.hollow(_SURE),
        "negative estimate of the variance": _NEGATIVE,
        "interval continues": _CUT,
        "best of n": _BEST,
        "chosen and scored on different halves": _HELD_OUT,
    }
    panels = [
        kit.Panel(
            deviations, "deviations", x="Deviation by", y="SD over seeds (points)", height=1.3
        ),
        kit.Panel(maxima, "maxima", x="Best of n runs", y="Expected score"),
        kit.Panel(correlations, "correlations", x="Epoch", y="Correlation with the end"),
    ]
    headline = sources.headline(
        lambda tasks: _deviations_in_words(pd.concat([rows_of(variances, t) for t in tasks]))
    )
    look: dict[str, Any] = {"most": 1, "title": titles(metrics, sources.marked), "width": kit.PAGE}
    return kit.page(sources, headline, [panels], legend=legend, **look)


def _deviations_in_words(rows: pd.DataFrame) -> str:
    """Standard deviations by seeds of the initialization and of the data order, mean over tasks."""
    means = rows.groupby("component")["sd"].mean()
    first, second = (f"{means[name]:.1f}" for name in (declared.INIT, declared.ORDER))
    return f"Scores vary by {first} points with the initialization, {second} with the data order"


SEVERAL = 4
"""Runs of which the best is taken: as many as the smallest grid has."""
EARLY = 3
"""Early is after one part of so many, at most, of the training."""


def best_of_several(maxima: pd.DataFrame) -> pd.DataFrame:
    """What the best of four runs, chosen by one half of the examples, gains on the other.

    Args:
        maxima: The table ``expected_maximum``.

    Returns:
        Columns ``on`` (the task); ``value``, with ``low`` and ``high``.
    """
    rows = main_metric_rows(maxima[maxima["drawn"] == SEVERAL])
    names = {"gain": "value", "gain_low": "low", "gain_high": "high"}
    return rows.rename(columns=names)[["on", *ESTIMATE]]


def contributions(variances: pd.DataFrame) -> pd.DataFrame:
    """Tests of the effects of initialization and data order.

    Args:
        variances: The table ``seed_variance``.

    Returns:
        Columns ``on``, ``component`` and ``value``, the p-value.
    """
    rows = main_metric_rows(variances[variances["component"] != RESIDUAL])
    return rows.rename(columns={"p_value": "value"})[["on", "component", "value"]]


def told_early(stopping: pd.DataFrame) -> pd.DataFrame:
    """Tests whether scores after a third of the training, or before, predict those at its end.

    Args:
        stopping: The table ``early_stopping``.

    Returns:
        Columns ``on`` and ``value``, the p-value at the last epoch in the first third. Trainings of
        fewer than three epochs have no rows.
    """
    rows = main_metric_rows(stopping)
    # the table leaves out the last epoch
    third = (rows.groupby("on")["epoch"].transform("max") + 1) // EARLY
    return rows[rows["epoch"] == third].rename(columns={"p_value": "value"})[["on", "value"]]
