"""Figure 2: shares of the five patterns per task, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from darksecrets.patterns.classes import STRICT, WIDE
from darksecrets.patterns.shares import OTHERS
from darksecrets.patterns.tables import PATTERN_SHARES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    GREY,
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
from darksecrets.plotting.style import STATES as COLOURS
from darksecrets.run.columns import RANDOM, STATES_OF_FIGURES
from darksecrets.run.errors import InputError

PAPER_RANGE = (0.32, 0.61)
"""Smallest (MRPC) and largest (QQP) share of heterogeneous maps that the paper's text reports."""
STACK = tuple(reversed(PATTERNS))
"""From the left. Heterogeneous is first, so that its share, which the paper reports, is easy to
read."""
TITLES: dict[str, str] = {
    WIDE: "Wide reading: columns of any tokens count",
    STRICT: "Strict reading, the paper's: only columns of special tokens count",
}
_STATES = {RANDOM: GREY, **{state: COLOURS[state] for state in STATES_OF_FIGURES[1:]}}
"""Rows of a task, from the top, with the colours of their dots."""
_MARKERS = dict(zip(_STATES, "Dso", strict=True))

_ROW = 0.1  # inches
_NAME = 0.75  # width of a task's name, in inches
_APART = 0.6  # rows between tasks
_BAR = 0.86  # height of a bar, in rows
_BARS = 1.6  # width of the bars relative to 100% of the dots
_BOLD: dict[str, Any] = {"fontweight": "bold", "fontsize": 7}
_WRITTEN = 0.09  # the smallest share whose number is written into its bar
_LUMINOUS = 0.45  # text on colours below this luminance is white


def figure2(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, published: pd.DataFrame | None = None
) -> Figure:
    """Draw the shares of every state under both readings, a row per task and state.

    At the left, stacked bars of the shares as classified, as in the paper; beside them, a panel per
    pattern with the shares corrected for the classifier's confusions and their 95% intervals. A
    percentage point has the same length in all panels. Markers are filled if the classifier knows
    the encoder, because maps of it were labelled; other shares are not corrected. Shares and
    intervals of several seeds are averaged.

    Args:
        table: The table `PATTERN_SHARES`. A reading that it lacks is left out.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        published: For a run of the paper, the shares that the follow-up reports: ``task``,
            ``model`` (`pretrained`, `finetuned`), ``pattern``, ``share``. They are drawn below,
            without random weights, and the paper's range of heterogeneous maps in every panel.

    Raises:
        InputError: When columns, or rows of a task, are missing.
    """
    needed = ["task", "state", "reading", "pattern", "share", "corrected", "confusions_of"]
    check_columns(table, [*needed, "corrected_low", "corrected_high"], "patterns.csv")
    readings = [name for name in TITLES if name in set(table["reading"])]
    states = [list(_STATES)] * len(readings) + [list(_STATES)[1:]] * (published is not None)
    heights = [_ROW * _places(tasks, rows)[-1][0] + 0.95 for rows in states]
    with style():
        figure = new_figure(PAGE, sum(heights) + 0.5)
        parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        widths = {str(name): _width(rows) for name, rows in table.groupby("pattern")}
        for part, reading in zip(parts, readings, strict=False):
            rows = table[table["reading"] == reading]
            _reading(part, rows, tasks, reading, widths, paper=published is not None)
        if published is not None:
            axes = parts[-1].subplots()
            axes.set_label("published")
            _bars(axes, published.rename(columns={"model": "state"}), tasks, states[-1])
            parts[-1].suptitle("Published (follow-up)", x=0.01, ha="left", **_BOLD)
            _range(axes)
        _legend(figure)
        label_run(figure, f"{run_label}. {_whose(table)}")
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    published = next(map(pd.read_csv, sources.paths("published")), None)
    return figure2(sources.table(PATTERN_SHARES), sources.tasks, sources.label, published=published)


def _reading(
    part: SubFigure,
    table: pd.DataFrame,
    tasks: Sequence[str],
    reading: str,
    widths: dict[str, float],
    *,
    paper: bool,
) -> None:
    """Draw one reading: the bars, and a panel of dots per pattern, with the same rows."""
    ratios = [_BARS, *(widths[pattern] for pattern in PATTERNS)]
    axes, *panels = part.subplots(1, 1 + len(PATTERNS), width_ratios=ratios)
    axes.set_label(f"as classified, {reading}")
    _bars(axes, table, tasks, list(_STATES))
    part.suptitle(TITLES[reading], x=0.01, ha="left", **_BOLD)
    for place, pattern in zip(panels, PATTERNS, strict=True):
        place.set_label(f"{pattern}, {reading}")
        _dots(place, table[table["pattern"] == pattern], tasks, widths[pattern])
        place.set_title(pattern.replace("+", "+\n"), fontsize=SMALL)
        if paper and pattern == STACK[0]:
            place.axvspan(*PAPER_RANGE, color=GREY, alpha=0.2, linewidth=0)
    axes.set_title("As classified", fontsize=SMALL)
    part.supxlabel(
        "Share of maps. Dots: corrected if the encoder is known, 95% interval", fontsize=SMALL
    )
    if paper:
        _range(axes)


def _places(tasks: Sequence[str], states: Sequence[str]) -> list[tuple[float, str, str]]:
    """Where the row of every task and state is, from the top."""
    return [
        (number * (len(states) + _APART) + row, task, state)
        for number, task in enumerate(tasks)
        for row, state in enumerate(states)
    ]


def _width(rows: pd.DataFrame) -> float:
    """The end of the axis that holds these shares: a multiple of 20%."""
    return float(max(0.2, np.ceil(5 * rows["corrected_high"].max() - 1e-9) / 5))


def _select(table: pd.DataFrame, task: str, state: str, columns: list[str]) -> pd.DataFrame:
    """Numbers of one model, averaged over seeds: a row per pattern, from the left of its bar."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    means = rows.groupby("pattern")[columns].mean().reindex(STACK)
    if means.isna().to_numpy().any():
        raise InputError(
            f"The table patterns.csv lacks shares of {task}, {state}. Make the table again."
        )
    return means


def _bars(axes: Axes, table: pd.DataFrame, tasks: Sequence[str], states: Sequence[str]) -> None:
    places = _places(tasks, states)
    for place, task, state in places:
        _bar(axes, _select(table, task, state, ["share"])["share"], place)
    axes.set(xlim=(0, 1), ylim=(places[-1][0] + 0.7, -0.7))
    axes.set_xticks([0, 0.5, 1], labels=["0", "50%", "100%"])
    axes.set_yticks([place for place, *_ in places], labels=[state for *_, state in places])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for place, task, state in places:
        if state == states[0]:
            where = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            name = wrapped(task, _NAME)
            axes.annotate(name, (0, place - 0.5), (-42, 0), ha="right", va="top", **where)  # type: ignore[arg-type]


def _bar(axes: Axes, shares: pd.Series[float], place: float) -> None:
    end = 0.0
    for pattern, share in shares.items():
        colour = PATTERNS[str(pattern)]
        axes.barh(place, share, _BAR, left=end, color=colour, linewidth=0)
        if share >= _WRITTEN:
            ink = "white" if _luminance(colour) < _LUMINOUS else INK
            where = {"ha": "center", "va": "center_baseline", "fontsize": SMALL, "color": ink}
            axes.text(end + share / 2, place, f"{100 * share:.0f}", **where)  # type: ignore[arg-type]
        end += share


def _dots(axes: Axes, table: pd.DataFrame, tasks: Sequence[str], width: float) -> None:
    """Draw one pattern's corrected shares and intervals; hollow if the encoder is unknown."""
    columns = ["corrected", "corrected_low", "corrected_high"]
    places = _places(tasks, list(_STATES))
    for state, colour in _STATES.items():
        rows = table[table["state"] == state]
        means = rows.groupby("task")[columns].mean().reindex(list(tasks))
        y = np.array([place for place, _, of in places if of == state])
        unknown = set(rows.loc[rows["confusions_of"] == OTHERS, "task"])
        axes.hlines(y, means["corrected_low"], means["corrected_high"], color=colour, linewidth=0.9)
        for hollow in (False, True):
            some = np.array([(task in unknown) == hollow for task in tasks])
            if some.any():
                look = {"color": colour, "markersize": 2.8, "markeredgewidth": 0.6}
                look |= {"markerfacecolor": "white"} if hollow else {}
                axes.plot(means["corrected"][some], y[some], _MARKERS[state], **look)  # type: ignore[arg-type]
    axes.set(xlim=(-0.03, width + 0.03), ylim=(places[-1][0] + 0.7, -0.7), yticks=[])
    ticks = np.arange(0, width + 0.01, 0.5 if width > 0.6 else 0.2 if width < 0.4 else 0.4)
    axes.set_xticks(ticks, labels=[f"{100 * tick:.0f}{'%' if tick else ''}" for tick in ticks])
    axes.grid(axis="x", linewidth=0.25, color="0.85")
    axes.set_axisbelow(True)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return float(np.dot(channels, [0.2126, 0.7152, 0.0722]))


def _whose(table: pd.DataFrame) -> str:
    """Say of which states' encoders maps were labelled."""
    names: dict[str, list[str]] = {}
    for state in STATES_OF_FIGURES:
        for name in table["confusions_of"][table["state"] == state].unique():
            names.setdefault(str(name), []).append(state)
    unknown = names.pop(OTHERS, [])
    parts = [f"{', '.join(states)}: maps of {name} were labelled" for name, states in names.items()]
    if unknown:
        parts.append(f"{', '.join(unknown)}: no maps of this encoder were labelled")
    return "; ".join(parts)


def _legend(figure: Figure) -> None:
    entries: list[Patch | Line2D] = [
        Patch(color=colour, label=name) for name, colour in PATTERNS.items()
    ]
    dots = {"linestyle": "none", "color": INK, "markersize": 2.8, "markeredgewidth": 0.6}
    filled = Line2D([], [], marker="o", label="known encoder: corrected", **dots)  # type: ignore[arg-type]
    dots |= {"markerfacecolor": "white"}
    hollow = Line2D([], [], marker="o", label="unknown encoder: not corrected", **dots)  # type: ignore[arg-type]
    entries += [filled, hollow]
    figure.legend(
        handles=entries,
        loc="outside upper center",
        ncols=len(entries),
        columnspacing=0.9,
        handlelength=1,
        handletextpad=0.5,
    )


def _range(axes: Axes) -> None:
    """Draw the paper's range of the share of heterogeneous maps."""
    for end in PAPER_RANGE:
        axes.axvline(end, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    low, high = (f"{100 * end:.0f}" for end in PAPER_RANGE)
    text = f"dashed: heterogeneous in the paper, {low} to {high}%"
    axes.set_title(text, fontsize=SMALL)
