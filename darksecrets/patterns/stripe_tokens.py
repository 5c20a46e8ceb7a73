"""Which token the stripe is, in maps that are classified as having columns (section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from darksecrets.patterns.tables import SPECIAL, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    INK,
    SMALL,
    check_columns,
    label_run,
    new_figure,
    style,
)
from darksecrets.run.columns import FIRST, PUNCTUATION, SEPARATOR, STATES_OF_FIGURES, WORD
from darksecrets.run.errors import InputError

# Okabe and Ito's colours, safe for all common forms of colour blindness.
COLOURS = {FIRST: "#0072B2", SEPARATOR: "#56B4E9", PUNCTUATION: "#E69F00", WORD: "#CCCCCC"}
NAMES = {FIRST: "[CLS], first special", SEPARATOR: "[SEP], other special"}
"""What the legend says of kinds whose names are not enough."""

Kinds = Mapping[str, Mapping[str, float]]
"""Numbers of a bar by kind of token."""

_NUMBERS = ["maps", "share", "ci_low", "ci_high", "control"]
_BAR, _APART = 0.8, 0.7  # height of a bar, and distance between tasks; bars are 1 apart


def stripe_tokens(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw, for every task and state, the shares of the kinds of the strongest columns.

    A tick on a bar is the share of special tokens among random columns, a whisker the interval of
    their share. Beside it is the number of maps. Several seeds are averaged.

    Args:
        table: Columns ``task``, ``state``, ``layer`` (only rows without one are drawn),
            ``pattern``, ``kind``, ``maps``, ``share``, ``ci_low``, ``ci_high``, ``control``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, or rows of a task, are missing.
    """
    columns = ["task", "state", "layer", "pattern", "kind", *_NUMBERS]
    check_columns(table, columns, "stripe_tokens.csv")
    rows, places = table[table["layer"].isna()], _places(tasks)
    with style():
        figure = new_figure(COLUMN, 1.2 + 0.1 * (places[-1][0] + 1))
        panels = figure.subplots(1, len(WITH_COLUMNS), sharey=True)
        for axes, pattern in zip(panels, WITH_COLUMNS, strict=True):
            axes.set_title(pattern, loc="left")
            axes.set_label(pattern)
            for place, task, state in places:
                _bar(axes, _select(rows, pattern, task, state), place)
            _limit(axes, places[-1][0])
        _name_bars(panels[0], places, tasks)
        _legend(figure)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return stripe_tokens(sources.table(STRIPE_TOKENS), sources.tasks, sources.label)


def _places(tasks: Sequence[str]) -> list[tuple[float, str, str]]:
    """Where the bar of every task and state is, from the top."""
    size = len(STATES_OF_FIGURES) + _APART
    return [
        (number * size + row, task, state)
        for number, task in enumerate(tasks)
        for row, state in enumerate(STATES_OF_FIGURES)
    ]


def _select(rows: pd.DataFrame, pattern: str, task: str, state: str) -> Kinds:
    """Numbers of one bar."""
    wanted = {"pattern": pattern, "task": task, "state": state}
    mine = rows[(rows[list(wanted)] == list(wanted.values())).all(axis=1)]
    if mine.empty:
        raise InputError(
            f"The table stripe_tokens.csv lacks rows of {pattern}, {task}, {state}. Make the table "
            "again."
        )
    means = mine.groupby("kind")[_NUMBERS].mean()
    numbers = {name: means[name].to_numpy(np.float64) for name in _NUMBERS}
    return {
        str(kind): {name: float(values[row]) for name, values in numbers.items()}
        for row, kind in enumerate(means.index)
    }


def _bar(axes: Axes, kinds: Kinds, place: float) -> None:
    special, small = kinds[SPECIAL], {"va": "center", "fontsize": SMALL, "color": GREY}
    axes.text(1.02, place, f"{special['maps']:.0f}", ha="left", **small)  # type: ignore[arg-type]
    if not special["maps"]:
        axes.text(0.02, place, "no maps", ha="left", **small)  # type: ignore[arg-type]
        return
    left = 0.0
    for kind, colour in COLOURS.items():
        axes.barh(place, kinds[kind]["share"], _BAR, left=left, color=colour, linewidth=0)
        left += kinds[kind]["share"]
    ends = [special["ci_low"], special["ci_high"]]
    if not np.isnan(ends).any():
        lines = axes.plot(ends, [place, place], color=INK, linewidth=0.7)
        lines[0].set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    control = special["control"]
    axes.plot([control, control], [place - _BAR / 2, place + _BAR / 2], color=INK, linewidth=1)


def _limit(axes: Axes, last: float) -> None:
    axes.set(xlim=(0, 1), ylim=(last + 0.6, -0.6), xlabel="Share of maps")
    axes.set_xticks([0, 0.5, 1], labels=["0", "50%", "100%"])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _name_bars(axes: Axes, places: list[tuple[float, str, str]], tasks: Sequence[str]) -> None:
    """Write its state beside every bar, and the task before its first."""
    axes.set_yticks([place for place, *_ in places], labels=[state for *_, state in places])
    axes.tick_params(axis="y", labelsize=SMALL)
    starts = [place for place, _, state in places if state == STATES_OF_FIGURES[0]]
    for place, task in zip(starts, tasks, strict=True):
        axes.annotate(
            task,
            (0, place),
            xycoords=("axes fraction", "data"),
            xytext=(-28, 0),
            textcoords="offset points",
            ha="right",
            va="center",
        )


def _legend(figure: Figure) -> None:
    parts: list[Patch | Line2D] = [
        Patch(color=colour, label=NAMES.get(kind, kind)) for kind, colour in COLOURS.items()
    ]
    tick = {"color": INK, "marker": "|", "markersize": 5, "linestyle": "none"}
    parts.append(Line2D([], [], label="special, by chance", **tick))  # type: ignore[arg-type]
    parts.append(Line2D([], [], color=INK, linewidth=0.7, label="special, 95% interval"))
    figure.legend(handles=parts, loc="outside upper center", ncols=2, fontsize=SMALL)
