"""Figure 2: shares of the five patterns per task, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

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

SHORT = {RANDOM: "ran-\ndom", "pretrained": "pre-\ntrained", "finetuned": "fine-\ntuned"}
"""Bars of a task, from the left, and what is written below them."""
PAPER_RANGE = (0.32, 0.61)
"""Smallest (MRPC) and largest (QQP) share of heterogeneous maps that the paper's text reports."""
STACK = tuple(reversed(PATTERNS))
"""From the bottom. Heterogeneous is first, so that its share, which the paper reports, is easy to
read."""
TITLES: dict[str, str] = {
    WIDE: "Wide reading: columns of any tokens count",
    STRICT: "Strict reading, the paper's: only columns of special tokens count",
}
_STATES = {RANDOM: GREY, **{state: COLOURS[state] for state in STATES_OF_FIGURES[1:]}}
_MARKERS = dict(zip(_STATES, "Dso", strict=True))

_WIDTH, _APART = 0.27, 0.29  # of the bars of a task; tasks are 1 apart
_WRITTEN = 0.08  # the smallest share whose number is written into its bar
_LUMINOUS = 0.45  # text on colours below this luminance is white


def figure2(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, published: pd.DataFrame | None = None
) -> Figure:
    """Draw the shares of every state under both readings.

    Above, stacked bars of the shares as classified, as in the paper; below, a panel per pattern
    with the shares corrected for the classifier's confusions and their 95% intervals. Shares and
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
    dots = 0.16 * len(tasks) + 0.75
    heights = [1.55 + dots] * len(readings) + [1.5] * (published is not None)
    with style():
        figure = new_figure(PAGE, sum(heights) + 0.3)
        parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        for part, reading in zip(parts, readings, strict=False):
            rows = table[table["reading"] == reading]
            _reading(part, rows, tasks, reading, dots, paper=published is not None)
        if published is not None:
            axes = parts[-1].subplots()
            axes.set_label("published")
            _bars(axes, published.rename(columns={"model": "state"}), tasks, [*SHORT][1:])
            axes.set_title("Published (follow-up)", loc="left")
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
    dots: float,
    *,
    paper: bool,
) -> None:
    above, below = part.subfigures(2, 1, squeeze=False, height_ratios=[1.55, dots])[:, 0]
    axes = above.subplots()
    axes.set_label(f"as classified, {reading}")
    _bars(axes, table, tasks, list(SHORT))
    axes.set_title(TITLES[reading], loc="left", fontweight="bold")
    panels = below.subplots(1, len(PATTERNS), sharey=True)
    for place, pattern in zip(panels, PATTERNS, strict=True):
        place.set_label(f"{pattern}, {reading}")
        _dots(place, table[table["pattern"] == pattern], tasks)
        place.set_title(pattern, fontsize=SMALL + 1)
        if paper and pattern == STACK[0]:
            place.axvspan(*PAPER_RANGE, color=GREY, alpha=0.2, linewidth=0)
    panels[0].set_yticks(range(len(tasks)), labels=tasks)
    panels[0].invert_yaxis()
    panels[len(panels) // 2].set_xlabel(
        "Share of maps, corrected where the encoder is known (95% interval)"
    )
    if paper:
        _range(axes)


def _bars(axes: Axes, table: pd.DataFrame, tasks: Sequence[str], states: Sequence[str]) -> None:
    for number, task in enumerate(tasks):
        for place, state in zip(_places(number), SHORT, strict=True):
            if state in states:
                _bar(axes, _select(table, task, state, ["share"])["share"], place)
    axes.set(xlim=(-0.5, len(tasks) - 0.5), ylim=(0, 1), ylabel="As classified")
    axes.set_yticks([0, 0.5, 1], labels=["0", "50%", "100%"])
    axes.tick_params(axis="x", length=0)
    _name_bars(axes, tasks)


def _places(task: int) -> list[float]:
    """Where the bars of a task are."""
    middle = (len(SHORT) - 1) / 2
    return [task + (side - middle) * _APART for side in range(len(SHORT))]


def _select(table: pd.DataFrame, task: str, state: str, columns: list[str]) -> pd.DataFrame:
    """Numbers of one model, averaged over seeds: a row per pattern, from the bottom of its bar."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    means = rows.groupby("pattern")[columns].mean().reindex(STACK)
    if means.isna().to_numpy().any():
        raise InputError(
            f"The table patterns.csv lacks shares of {task}, {state}. Make the table again."
        )
    return means


def _bar(axes: Axes, shares: pd.Series[float], place: float) -> None:
    end = 0.0
    for pattern, share in shares.items():
        colour = PATTERNS[str(pattern)]
        axes.bar(place, share, _WIDTH, bottom=end, color=colour, linewidth=0)
        if share >= _WRITTEN:
            ink = "white" if _luminance(colour) < _LUMINOUS else INK
            middle = (place, end + share / 2)
            text = f"{100 * share:.0f}"
            axes.text(*middle, text, ha="center", va="center", fontsize=SMALL, color=ink)
        end += share


def _dots(axes: Axes, table: pd.DataFrame, tasks: Sequence[str]) -> None:
    """Draw one pattern's corrected shares, a row per task, with their intervals."""
    columns = ["corrected", "corrected_low", "corrected_high"]
    for side, (state, colour) in enumerate(_STATES.items()):
        rows = table[table["state"] == state].groupby("task")[columns].mean().reindex(list(tasks))
        y = np.arange(len(tasks)) + 0.24 * (side - 1)
        axes.hlines(y, rows["corrected_low"], rows["corrected_high"], color=colour, linewidth=0.8)
        axes.plot(rows["corrected"], y, _MARKERS[state], color=colour, markersize=2.2)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.6, len(tasks) - 0.4))
    axes.set_xticks([0, 0.5, 1], labels=["0", "50%", "100%"])
    axes.tick_params(axis="y", length=0)


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
    entries += [
        Line2D([], [], color=colour, marker=_MARKERS[state], markersize=2.5, label=state)
        for state, colour in _STATES.items()
    ]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), fontsize=SMALL)


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
    axes.set_xticks(places, labels=[*SHORT.values()] * len(tasks), fontsize=SMALL)
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
