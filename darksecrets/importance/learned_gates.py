"""Score of the heads that learned gates keep, beside as many others (after Voita et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.tables import RANDOM
from darksecrets.importance.tables import (
    ABSOLUTE,
    FINE_TUNED,
    LEARNED,
    LEARNED_GATES,
    TRAINED_ON,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    RANDOM: {"color": GREY, "marker": "s"},
    ABSOLUTE: {"color": "#0072B2", "marker": "o"},
    LEARNED: {"color": "#D55E00", "marker": "^"},
}
_NAMES = {
    RANDOM: "at random",
    ABSOLUTE: "by the absolute gradient",
    LEARNED: "by learned gates",
    TRAINED_ON: "trained-on weights",
    FINE_TUNED: "fine-tuned weights",
}
_STYLES: dict[str, dict[str, Any]] = {
    TRAINED_ON: {"linestyle": "-", "linewidth": 0.9},
    FINE_TUNED: {"linestyle": ":", "linewidth": 0.9, "markerfacecolor": "white"},
}
_INTACT: dict[str, Any] = {"color": INK, "linewidth": 0.7}
_CHANCE: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": "-."}
_NUMBERS = ["kept", "share", "baseline", "score", "ci_low", "ci_high", "chance"]
_COLUMNS = ["penalty", "chosen_by", "weights", *_NUMBERS]
_APART = 0.6  # per cent of heads, between the intervals of one penalty


def learned_gates(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw the score of every task against the share of heads that are kept.

    Bars are 95 % intervals of the difference to the model with all heads, drawn around its score.
    All numbers are averaged over seeds.

    Args:
        table: `learned_gates.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    tables = {
        task: rows_of(table, task, metric, _COLUMNS, "learned_gates.csv")
        for task, metric in tasks.items()
    }
    return panel_figure(
        *(tables, _panel, _legend, run_label), height=lambda width: 0.6 + 0.75 * width
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tasks = {task: sources.main_metrics[task] for task in sources.tasks}
    return learned_gates(sources.table(LEARNED_GATES), tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    axes = figure.add_subplot(slot, label=task)
    means = rows.groupby(["weights", "chosen_by", "penalty"])[_NUMBERS].mean().reset_index()
    for number, (weights, style) in enumerate(_STYLES.items()):
        of_weights = means[means["weights"] == weights]
        line = {**_INTACT, "linestyle": style["linestyle"]}
        axes.axhline(of_weights["baseline"].mean(), label=f"all, {weights}", zorder=1, **line)
        for place, (name, look) in enumerate(_LOOKS.items()):
            drawn = of_weights[of_weights["chosen_by"] == name].sort_values("share")
            _series(axes, drawn, {**look, **style}, (3 * number + place - 2.5) * _APART)
    axes.axhline(rows["chance"].mean(), label="chance", zorder=1, **_CHANCE)
    learned = means[(means["chosen_by"] == LEARNED) & (means["weights"] == TRAINED_ON)]
    below: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "va": "bottom"}
    for row in learned.to_dict("records"):
        at, name = 100 * row["share"], f"λ {row['penalty']:g}"
        axes.text(at, 0.02, name, ha="center", rotation=90, fontsize=6, **below)
    axes.margins(y=0.2)  # room for these
    axes.set_title(title(rows))
    axes.set_xlim(-3, 103)
    if slot.is_first_col():
        axes.set_ylabel("Score")
    if slot.is_last_row():
        axes.set_xlabel("Heads kept (%)")


def _series(axes: Axes, drawn: pd.DataFrame, look: dict[str, Any], shift: float) -> None:
    """Scores of one kind of sets, with the penalties' intervals side by side."""
    across = 100 * drawn["share"] + shift
    ends = drawn["baseline"] + drawn["ci_low"], drawn["baseline"] + drawn["ci_high"]
    axes.vlines(across, *ends, color=look["color"], linewidth=0.6, zorder=2)
    axes.plot(across, drawn["score"], zorder=3, **look)


def _legend(figure: Figure, columns: int) -> None:
    entries = {
        _NAMES[name]: Line2D([], [], **look, **_STYLES[TRAINED_ON]) for name, look in _LOOKS.items()
    }
    plain: dict[str, Any] = {"color": INK, "marker": "o", "markersize": 3}
    entries |= {_NAMES[name]: Line2D([], [], **plain, **_STYLES[name]) for name in _STYLES}
    entries |= {"all heads": Line2D([], [], **_INTACT)}
    entries |= {"most frequent label": Line2D([], [], **_CHANCE)}
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols={1: 2, 2: 3}.get(columns, 4),
        title="Which heads are kept …",
        title_fontsize=6,
        alignment="left",
        handlelength=1.8,
        columnspacing=1,
    )
