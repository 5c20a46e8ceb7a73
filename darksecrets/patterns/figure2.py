"""Figure 2: shares of the five patterns per task, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from darksecrets.patterns.tables import PATTERN_SHARES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    INK,
    PAGE,
    PATTERNS,
    SMALL,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.columns import RANDOM
from darksecrets.run.errors import InputError

STATES = {RANDOM: "ran-\ndom", "pretrained": "pre-\ntrained", "finetuned": "fine-\ntuned"}
"""Bars of a task, from the left, and what is written below them."""
PAPER_RANGE = (0.32, 0.61)
"""Smallest (MRPC) and largest (QQP) share of heterogeneous maps that the paper's text reports."""
STACK = tuple(reversed(PATTERNS))
"""From the bottom. Heterogeneous is first, so that its share, which the paper reports, is easy to
read."""

_WIDTH, _APART = 0.27, 0.29  # of the bars of a task; tasks are 1 apart
_OFFSETS = (-0.42, -0.28, 0.2, 0.31, 0.42)  # of the whiskers, in bar widths
_WRITTEN = 0.06  # the smallest share whose number is written into its bar
_LUMINOUS = 0.45  # text on colours below this luminance is white


@dataclass(frozen=True)
class _View:
    """One row of bars: what it shows and in which columns of the table."""

    title: str
    share: str
    low: str | None = None
    high: str | None = None


_VIEWS = (
    _View("As classified", "share", "ci_low", "ci_high"),
    _View("Corrected for confusions", "corrected", "corrected_low", "corrected_high"),
)
_PUBLISHED = _View("Published (follow-up)", "share")


def figure2(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, published: pd.DataFrame | None = None
) -> Figure:
    """Draw stacked shares of every state, as classified and corrected.

    A whisker is the 95% interval of a pattern's share, drawn at the upper end of its part of the
    bar; for the uppermost pattern, at the lower end. Shares and intervals of several seeds are
    averaged.

    Args:
        table: Columns ``task``, ``state``, ``pattern``, ``share``, ``ci_low``, ``ci_high``,
            ``corrected``, ``corrected_low``, ``corrected_high``, ``confusions_of``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        published: For a run of the paper, the shares that the follow-up reports: ``task``,
            ``model`` (`pretrained`, `finetuned`), ``pattern``, ``share``. They are drawn in a row
            below, without random weights, and the paper's range of heterogeneous maps in every row.

    Raises:
        InputError: When columns, or rows of a task, are missing.
    """
    columns = [name for view in _VIEWS for name in (view.share, view.low, view.high) if name]
    check_columns(table, ["task", "state", "pattern", *columns, "confusions_of"], "patterns.csv")
    views = [(view, table) for view in _VIEWS]
    if published is not None:
        views.append((_PUBLISHED, published.rename(columns={"model": "state"})))
    with style():
        figure = new_figure(PAGE, 1.55 * len(views) + 0.65)
        panels = figure.subplots(len(views), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (view, rows) in zip(panels, views, strict=True):
            _panel(axes, view, rows, tasks)
            if view.share == "corrected":
                whose = " and ".join(table["confusions_of"].unique())
                axes.set_title(f"{view.title}, known from labelled maps of {whose}", loc="left")
            if published is not None:
                _range(axes)
        _name_bars(panels[-1], tasks)
        parts = [Patch(color=colour, label=name) for name, colour in PATTERNS.items()]
        figure.legend(handles=parts, loc="outside upper center", ncols=len(parts))
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    published = next(map(pd.read_csv, sources.paths("published")), None)
    return figure2(sources.table(PATTERN_SHARES), sources.tasks, sources.label, published=published)


def _panel(axes: Axes, view: _View, table: pd.DataFrame, tasks: Sequence[str]) -> None:
    axes.set_label(view.title)
    for number, task in enumerate(tasks):
        for place, state in zip(_places(number), STATES, strict=True):
            if view is not _PUBLISHED or state != RANDOM:
                _bar(axes, view, _select(table, task, state, view), place)
    axes.set(xlim=(-0.5, len(tasks) - 0.5), ylim=(0, 1), ylabel="Share of maps")
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25%", "50%", "75%", "100%"])
    axes.set_title(view.title, loc="left")
    axes.tick_params(axis="x", length=0)


def _places(task: int) -> list[float]:
    """Where the bars of a task are."""
    middle = (len(STATES) - 1) / 2
    return [task + (side - middle) * _APART for side in range(len(STATES))]


def _select(table: pd.DataFrame, task: str, state: str, view: _View) -> pd.DataFrame:
    """Numbers of one bar, averaged over seeds: a row per pattern, from the bottom of the bar."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    columns = [name for name in (view.share, view.low, view.high) if name]
    means = rows.groupby("pattern")[columns].mean().reindex(STACK)
    if means.isna().to_numpy().any():
        raise InputError(
            f"The table patterns.csv lacks shares of {task}, {state}. Make the table again."
        )
    return means


def _bar(axes: Axes, view: _View, rows: pd.DataFrame, place: float) -> None:
    ends = rows[view.share].cumsum().to_numpy()
    for row, (pattern, end) in enumerate(zip(STACK, ends, strict=True)):
        share = rows[view.share].iloc[row]
        colour = PATTERNS[pattern]
        axes.bar(place, share, _WIDTH, bottom=end - share, color=colour, linewidth=0)
        if share >= _WRITTEN:
            ink = "white" if _luminance(colour) < _LUMINOUS else INK
            axes.text(
                *(place, end - share / 2),
                f"{100 * share:.0f}",
                ha="center",
                va="center",
                fontsize=SMALL,
                color=ink,
            )
        if view.low and view.high:
            below, above = share - rows[view.low].iloc[row], rows[view.high].iloc[row] - share
            if row == len(STACK) - 1:
                end, below, above = end - share, above, below
            _whisker(axes, place + _OFFSETS[row] * _WIDTH, end, np.array([below, above]))


def _whisker(axes: Axes, x: float, y: float, lengths: npt.NDArray[np.float64]) -> None:
    # A percentile interval of a share near 0 or 1 may not contain the share itself.
    bar = axes.errorbar(
        *(x, y),
        yerr=lengths.clip(min=0)[:, None],
        color=INK,
        linewidth=0.5,
        capsize=1,
        capthick=0.5,
    )
    _, caps, lines = bar.lines
    for part in (*caps, *lines):  # otherwise invisible on the darkest colour
        part.set_path_effects([withStroke(linewidth=1.2, foreground="white")])


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return float(np.dot(channels, [0.2126, 0.7152, 0.0722]))


def _range(axes: Axes) -> None:
    """Draw the paper's range of the share of heterogeneous maps, behind bars and numbers."""
    for end in PAPER_RANGE:
        axes.axhline(end, color=INK, linewidth=0.6, linestyle=(0, (3, 2)), zorder=0)
    low, high = (f"{100 * end:.0f}" for end in PAPER_RANGE)
    axes.text(
        *(1.0, 1.01),
        f"dashed: heterogeneous in the paper's text, {low} to {high}%",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=SMALL,
    )


def _name_bars(axes: Axes, tasks: Sequence[str]) -> None:
    """Write its state under every bar, and the task under all of its bars."""
    places = [place for number in range(len(tasks)) for place in _places(number)]
    axes.set_xticks(places, labels=[*STATES.values()] * len(tasks), fontsize=SMALL)
    for number, task in enumerate(tasks):
        axes.annotate(
            wrapped(task, PAGE / (len(tasks) + 1)),
            (number, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -16),
            textcoords="offset points",
            ha="center",
            va="top",
        )
