"""Which gains are significant, and the gain of the best head without selection bias (§4.6)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, NullLocator

from darksecrets.core.data.metrics import titled
from darksecrets.core.interventions.results import PARTS
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.panels import rows_of
from darksecrets.paper.ablation.tables import HEAD_ABLATION, SURVIVAL

_POINT = kit.dot(kit.INK, size=3.0, markeredgewidth=0.6)
_NAIVE = kit.hollow(_POINT)
_UNSURE = kit.dot(kit.GREY, size=1.0, markeredgewidth=0)
_HEADS = {
    "unsure": _UNSURE,
    "hurt": {**_UNSURE, "color": kit.HURT, "markersize": 2.2},
    "helped": {**_UNSURE, "color": kit.HELPED, "markersize": 2.6},
}
_STEPS = [digit * 10.0**power for power in range(-2, 3) for digit in (1, 2, 5)]
_NAMED = 1  # heads at either end whose names are written
_ROOM = -0.1, 0.12  # for names below and above the points, relative to their range


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the sorted score differences of the heads, and beside them the gains of the best.

    Differences have intervals; coloured heads differ significantly from the intact model after
    correction over all heads. The lowest and the highest are named. The best head and layer are
    drawn twice: their gain on the examples that chose them (ring), and on other examples (dot, with
    its interval). All seeds are drawn. The scale is linear within the noise and logarithmic beyond,
    so that no head lies outside of the panel.
    """
    table, best = sources.table(HEAD_ABLATION), sources.table(SURVIVAL)
    metrics = sources.main_metrics

    def heads(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task]).sort_values("delta")
        _scale(axes, rows, rows_of(best, task, metrics[task]))
        rows = rows.assign(order=range(1, len(rows) + 1), kind=[_kind(row) for row in _rows(rows)])
        axes.vlines(rows["order"], rows["ci_low"], rows["ci_high"], color=kit.BAND, linewidth=0.6)
        kit.intervals(axes, rows, "delta", _HEADS, at="order", by="kind", upright=True)
        axes.set_xticks([])
        _name(axes, rows)
        _lines(axes)

    def gains(axes: kit.Axes, task: str) -> None:
        rows = rows_of(best, task, metrics[task])
        for value, look, ends, side in (
            ("naive_gain", _NAIVE, None, -0.2),
            ("unbiased_gain", _POINT, ("ci_low", "ci_high"), 0.2),
        ):
            where = rows.assign(place=rows["kind"].map(PARTS.index) + side)
            spread: dict[str, Any] = {"spread": ["seed"], "apart": 0.16, "upright": True}
            kit.intervals(axes, where, value, {value: look}, at="place", ends=ends, **spread)
        axes.set_xticks(range(len(PARTS)), PARTS, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_xlim(-0.6, 1.6)
        axes.tick_params(left=False, bottom=False)
        _lines(axes)

    legend = {
        "helps (q < 0.05)": {**_POINT, "color": kit.HELPED},
        "hurts (q < 0.05)": {**_POINT, "color": kit.HURT},
        "best, where it was chosen": _NAIVE,
        "best, on other examples": _POINT,
    }
    x, y = "Heads", "Difference to intact model"
    panels = [
        kit.Panel(heads, "heads", x=x, y=y, height=1.6, fixed=True, width=1.4),
        kit.Panel(gains, "best", x="Best", width=1.0, share="left"),
    ]
    headline = sources.headline(
        lambda tasks: _headline(best, {task: metrics[task] for task in tasks})
    )

    def title(task: str) -> str:
        return titled(sources.marked(task), metrics[task])

    return kit.page(
        sources,
        headline,
        [panels],
        most=4,
        title=title,
        legend=legend,
        what="Every head, sorted, with its 95% interval. Each task has its own scale: linear near "
        "0, logarithmic beyond.",
    )


def _headline(best: pd.DataFrame, metrics: Mapping[str, str]) -> str:
    """The best head's gain, mean over tasks and seeds, where it was chosen and elsewhere."""
    rows = pd.concat([rows_of(best, task, metric) for task, metric in metrics.items()])
    gains = rows[rows["kind"] == PARTS[0]][["naive_gain", "unbiased_gain"]].mean()
    naive, unbiased = (written(gain, "+.1f") for gain in gains)
    return (
        f"The best head's removal gains {naive} points where it was chosen, {unbiased} on other "
        "examples"
    )


def _rows(rows: pd.DataFrame) -> list[dict[Hashable, Any]]:
    return rows.to_dict("records")


def _kind(head: Mapping[Hashable, Any]) -> str:
    """Whether a head helps or hurts, if it is significant."""
    if head["q_value"] >= LEVEL or not head["delta"]:
        return "unsure"
    return "helped" if head["delta"] > 0 else "hurt"


def _scale(axes: kit.Axes, heads: pd.DataFrame, gains: pd.DataFrame) -> None:
    """Make the scale linear within half a typical interval, and logarithmic beyond."""
    typical = float(((heads["ci_high"] - heads["ci_low"]) / 2).median())
    linear = next(step for step in _STEPS if step >= typical)
    drawn = pd.concat([heads, gains])[["ci_low", "ci_high", "naive_gain"]].to_numpy(float)
    low, high = min(np.nanmin(drawn), -linear), max(np.nanmax(drawn), linear)
    axes.set_yscale("symlog", linthresh=linear, linscale=1.0)
    forward = axes.yaxis.get_transform()
    ends = forward.transform(np.array([low, high]))
    axes.set_ylim(*forward.inverted().transform(ends + np.array(_ROOM) * (ends[1] - ends[0])))
    sizes = [size for size in _STEPS if linear <= size <= max(-low, high)]
    sizes = sizes[:: math.ceil(len(sizes) / 2)]
    places = [0.0, *sizes, *(-size for size in sizes)]
    axes.yaxis.set_major_locator(FixedLocator([y for y in places if low <= y <= high]))
    axes.yaxis.set_major_formatter(lambda value, _: written(value, "g"))
    axes.yaxis.set_minor_locator(NullLocator())


def _lines(axes: kit.Axes) -> None:
    axes.grid(axis="y", color=kit.FAINT, linewidth=0.3)
    axes.axhline(0, color=kit.GREY, linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)


def _name(axes: kit.Axes, heads: pd.DataFrame) -> None:
    """Write the lowest heads into the lower right corner, the highest into the upper left one."""
    lowest = _rows(heads.head(min(_NAMED, (len(heads) + 1) // 2)))
    highest = _rows(heads.tail(min(_NAMED, len(heads) // 2)))
    several = heads["seed"].nunique() > 1
    for rows, corner, side, edge, step in (
        (lowest[::-1], (0.98, 0.02), "right", "bottom", 1),
        (highest[::-1], (0.03, 0.98), "left", "top", -1),
    ):
        for line, row in enumerate(rows):
            seed = f" s{row['seed']}" if several else ""
            text = f"L{row['layer']}H{row['head']}{seed} {written(row['delta'], '+.1f')}"
            look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
            look |= {"xytext": (0, step * line * 1.2 * kit.SIZE), "ha": side, "va": edge}
            axes.annotate(text, corner, color=_HEADS[row["kind"]]["color"], **look)
