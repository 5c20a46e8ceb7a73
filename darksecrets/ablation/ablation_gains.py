"""Which gains are significant, and the gain of the best head without selection bias (§4.6)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.results import PARTS
from darksecrets.ablation.tables import BEST_HEAD, HEAD_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BAND,
    COLUMN,
    GREY,
    HELPED,
    HURT,
    INK,
    PAGE,
    SMALL,
    blocks,
    label_run,
    new_figure,
    style,
)
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from numpy.typing import NDArray

_POINT = {"linestyle": "none", "markersize": 3, "color": INK, "markeredgewidth": 0.6}
_NAIVE: dict[str, Any] = {**_POINT, "marker": "o", "markerfacecolor": "white"}
_UNBIASED: dict[str, Any] = {**_POINT, "marker": "o"}
_STEPS = [digit * 10.0**power for power in range(-6, 3) for digit in (1, 2, 5)]
_NAMED = 3  # heads at either end whose names are written
_ROOM = -0.12, 0.25  # for names below and above the points, relative to their range
_BESIDE = 3  # panels in a row


def ablation_gains(
    table: pd.DataFrame, tasks: Mapping[str, str], run_label: str, *, best: pd.DataFrame
) -> Figure:
    """Draw the sorted score differences of the heads, and beside them the gains of the best.

    Differences have intervals; coloured heads differ significantly from the intact model after
    correction over all heads. The three lowest and highest are named. The best head and layer are
    drawn twice: their gain on the examples that chose them (ring), and on other examples (dot, with
    its interval). All seeds are drawn. The scale is linear within the noise and logarithmic beyond,
    so that no head lies outside of the panel.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.
        best: `best_head.csv`.

    Raises:
        InputError: When columns or tasks are missing.
    """
    ends = ["ci_low", "ci_high"]
    of_heads, of_best = (
        ["layer", "head", "delta", "q_value"],
        ["kind", "naive_gain", "unbiased_gain"],
    )
    panels = {
        task: (
            rows_of(table, task, metric, [*of_heads, *ends], "head_ablation.csv"),
            rows_of(best, task, metric, [*of_best, *ends], "best_head.csv"),
        )
        for task, metric in tasks.items()
    }
    rows, beside = blocks(len(tasks), _BESIDE)
    with style():
        figure = new_figure(COLUMN if beside == 1 else PAGE, 2 * rows + 0.5)
        slots = figure.add_gridspec(rows, beside)
        for index, (task, (heads, gains)) in enumerate(panels.items()):
            slot = slots[index // beside, index % beside]
            _panel(figure, slot, task, heads, gains)
        _legend(figure, 2 if beside <= 2 else 4)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    table, best = sources.table(HEAD_ABLATION), sources.table(BEST_HEAD, "best")
    return ablation_gains(table, sources.main_metrics, sources.label, best=best)


def _panel(
    figure: Figure, slot: SubplotSpec, task: str, heads: pd.DataFrame, gains: pd.DataFrame
) -> None:
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[1.5, 1], wspace=0.0)
    left = figure.add_subplot(inner[0, 0], label=f"{task} heads")
    right = figure.add_subplot(inner[0, 1], sharey=left, label=f"{task} best")
    _scale(left, heads, gains)
    for axes in (left, right):
        axes.grid(axis="y", color="0.9", linewidth=0.3)
        axes.axhline(0, color=GREY, linewidth=0.5, zorder=0)
        axes.set_axisbelow(True)
    _heads(left, heads.sort_values("delta"))
    left.set(title=title(heads), xlabel="Heads, in order", xticks=[])
    if slot.is_first_col():
        left.set_ylabel("Difference to intact model")
    _best(right, gains)


def _scale(axes: Axes, heads: pd.DataFrame, gains: pd.DataFrame) -> None:
    """Make the scale linear within half a typical interval, and logarithmic beyond."""
    linear = _round(float(((heads["ci_high"] - heads["ci_low"]) / 2).median()))
    drawn = [heads["ci_low"], heads["ci_high"], gains["ci_low"], gains["ci_high"]]
    shown = np.concatenate([*drawn, gains["naive_gain"], [-linear, linear]]).astype(np.float64)
    low, high = float(shown.min()), float(shown.max())
    axes.set_yscale("symlog", linthresh=linear, linscale=1.0)
    forward = axes.yaxis.get_transform()
    ends = forward.transform(np.array([low, high]))
    room = np.array(_ROOM) * (ends[1] - ends[0])
    axes.set_ylim(*forward.inverted().transform(ends + room))
    sizes = [size for size in _STEPS if linear <= size <= max(-low, high)]
    sizes = sizes[:: math.ceil(len(sizes) / 4)]
    places = [0.0, *sizes, *(-size for size in sizes)]
    axes.yaxis.set_major_locator(FixedLocator([y for y in places if low <= y <= high]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "−"))
    axes.yaxis.set_minor_locator(NullLocator())


def _round(size: float) -> float:
    """The next of `_STEPS` that is as great, so that the ticks are round numbers."""
    return next(step for step in _STEPS if step >= size)


def _heads(axes: Axes, heads: pd.DataFrame) -> None:
    """Draw every head's difference and interval, and name those at both ends."""
    real = (heads["q_value"] < LEVEL).to_numpy()
    deltas = heads["delta"].to_numpy()
    place = np.arange(1, len(heads) + 1)
    axes.vlines(place, heads["ci_low"], heads["ci_high"], color=BAND, linewidth=0.6)
    parts: list[tuple[str, NDArray[np.bool_], str, float]] = [
        ("unsure", ~real, GREY, 1.0),
        ("hurt", real & (deltas < 0), HURT, 2.2),
        ("helped", real & (deltas > 0), HELPED, 2.6),
    ]
    for label, chosen, colour, size in parts:
        axes.plot(
            *(place[chosen], deltas[chosen]),
            linestyle="none",
            marker="o",
            markersize=size,
            markeredgewidth=0,
            color=colour,
            label=label,
        )
    _name(axes, heads)


def _name(axes: Axes, heads: pd.DataFrame) -> None:
    """Write the lowest heads into the lower right corner, the highest into the upper left one."""
    lowest = heads.head(min(_NAMED, (len(heads) + 1) // 2))
    highest = heads.tail(min(_NAMED, len(heads) // 2))[::-1]
    several = heads["seed"].nunique() > 1
    for rows, side, edge, step in (
        (lowest[::-1], "right", "bottom", 1),
        (highest, "left", "top", -1),
    ):
        corner = {"right": 0.98, "left": 0.03}[side], {"bottom": 0.02, "top": 0.98}[edge]
        for line, row in enumerate(rows.to_dict("records")):
            seed = f" s{row['seed']}" if several else ""
            text = f"L{row['layer']}H{row['head']}{seed} {row['delta']:+.1f}".replace("-", "−")
            look: dict[str, Any] = {"ha": side, "va": edge, "fontsize": SMALL}
            look |= {"xycoords": "axes fraction", "textcoords": "offset points"}
            offset = (0, step * line * 1.2 * SMALL)
            axes.annotate(text, corner, xytext=offset, color=_colour(row), **look)


def _colour(head: Mapping[Hashable, Any]) -> str:
    """Colour of a head: by its direction if it is significant."""
    if head["q_value"] >= LEVEL or not head["delta"]:
        return GREY
    return HELPED if head["delta"] > 0 else HURT


def _best(axes: Axes, gains: pd.DataFrame) -> None:
    """Draw the gain of the best head and layer, on the examples that chose it and on others."""
    for place, kind in enumerate(PARTS):
        rows = gains[gains["kind"] == kind]
        spread = np.linspace(-0.08, 0.08, len(rows)) if len(rows) > 1 else np.zeros(len(rows))
        x = place + spread
        axes.plot(x - 0.2, rows["naive_gain"], label=f"{kind} naive", **_NAIVE)
        axes.vlines(x + 0.2, rows["ci_low"], rows["ci_high"], color=INK, linewidth=0.7)
        axes.plot(x + 0.2, rows["unbiased_gain"], label=f"{kind} unbiased", **_UNBIASED)
    axes.set(xlim=(-0.6, 1.6), xticks=range(len(PARTS)), xticklabels=PARTS, xlabel="Best")
    axes.tick_params(labelleft=False, left=False, bottom=False, labelsize=SMALL)
    axes.spines["left"].set(linewidth=0.25)


def _legend(figure: Figure, columns: int) -> None:
    entries = {
        "helps, after correction": Line2D([], [], **{**_UNBIASED, "color": HELPED}),
        "hurts, after correction": Line2D([], [], **{**_UNBIASED, "color": HURT}),
        "best, where it was chosen": Line2D([], [], **_NAIVE),
        "best, on other examples": Line2D([], [], **_UNBIASED),
    }
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols=columns,
        handletextpad=0,
        columnspacing=1,
    )
