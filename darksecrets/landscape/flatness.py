"""How flat the loss is around fine-tuned models, by how they began (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.landscape.flatness_means import learned
from darksecrets.landscape.tables import (
    FILTER,
    FLATNESS,
    FLATNESS_MEANS,
    RISE,
    SHARPNESS,
    STATES,
    TOP,
    TRACE,
    TRAIN,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, SMALL, check_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    STATES[0]: {"color": "#0072B2", "marker": "o"},
    STATES[1]: {"color": "#D55E00", "marker": "s"},
}
_WORDS = {STATES[0]: "from pre-trained weights", STATES[1]: "from random weights"}
_TITLES = {
    RISE: "Mean rise",
    SHARPNESS: "Sharpness (%)",
    TRACE: "Trace of the Hessian",
    TOP: "Top eigenvalue",
}
_APART = 0.15
_COLUMNS = ["task", "state", "split", "scale", "measure", "value"]


def flatness(
    means: pd.DataFrame, seeds: pd.DataFrame, tasks: Sequence[str], run_label: str
) -> Figure:
    """Draw a panel for each filter-normalised measure: both states on every task.

    Small marks are single seeds; large ones their means, with intervals, hollow for models that
    have not learned.

    Args:
        means: `flatness_means.csv`.
        seeds: `flatness.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: Columns are missing.
    """
    check_columns(means, [*_COLUMNS, "ci_low", "ci_high"], FLATNESS_MEANS.file)
    check_columns(seeds, [*_COLUMNS, "seed", "loss", "constant_loss"], FLATNESS.file)
    flags = learned(seeds).rename("learned").reset_index()
    means = means.merge(flags, on=["task", "state", "split"], how="left")
    every = {True: _chosen(means), False: _chosen(seeds)}
    tables = {
        name: pd.concat(
            [rows[rows["measure"] == name].assign(mean=mean) for mean, rows in every.items()],
            ignore_index=True,
        )
        for name in _TITLES
    }

    def panel(figure: Figure, slot: SubplotSpec, name: str, rows: pd.DataFrame) -> None:
        axes = figure.add_subplot(slot, label=name)
        axes.set_title(_TITLES[name])
        _states(axes, rows, tasks)
        if slot.is_first_col():
            axes.set_ylabel("Sharper →")

    return panel_figure(tables, panel, _legend, run_label, height=lambda width: 0.55 + 0.9 * width)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tables = sources.table(FLATNESS_MEANS), sources.table(FLATNESS, "seeds")
    return flatness(*tables, list(sources.tasks), sources.label)


def _chosen(table: pd.DataFrame) -> pd.DataFrame:
    """Filter-normalised rows of the training examples, or of the only split there is."""
    split = TRAIN if (table["split"] == TRAIN).any() else table["split"].iloc[0]
    return table[(table["scale"] == FILTER) & (table["split"] == split)]


def _states(axes: Axes, rows: pd.DataFrame, tasks: Sequence[str]) -> None:
    for state, side in zip(STATES, (-_APART, _APART), strict=True):
        own, look = rows[rows["state"] == state], _LOOKS[state]
        for place, task in enumerate(tasks):
            here = own[own["task"] == task]
            mean, single = here[here["mean"]], here[~here["mean"]]
            x = place + side
            dots: dict[str, Any] = {"markersize": 1.6, "alpha": 0.6, "linestyle": "none"}
            axes.plot([x + 0.09] * len(single), single["value"], **look, **dots)
            axes.vlines([x] * len(mean), mean["ci_low"], mean["ci_high"], color=look["color"])
            face = look["color"] if bool(mean["learned"].all()) else "white"
            large: dict[str, Any] = {"markersize": 4, "linestyle": "none", "markerfacecolor": face}
            axes.plot([x] * len(mean), mean["value"], **look, **large)
    axes.set(xticks=range(len(tasks)), xlim=(-0.5, len(tasks) - 0.5))
    axes.set_xticklabels(tasks, fontsize=SMALL, rotation=90 if len(tasks) > 3 else 0)
    _set_scale(axes, rows)


def _set_scale(axes: Axes, rows: pd.DataFrame) -> None:
    """Logarithmic where all means are positive and differ by more than a factor of ten."""
    means = rows.loc[rows["mean"] & rows["state"].isin(STATES), "value"]
    ends = rows[["value", "ci_low"]].min().min()
    if ends > 0 and means.max() > 10 * means.min():
        axes.set_yscale("log")
    else:
        axes.axhline(0, color="0.8", linewidth=0.6, zorder=0)


def _legend(figure: Figure, beside: int) -> None:
    mark: dict[str, Any] = {"linestyle": "none", "markersize": 4}
    entries = {_WORDS[state]: Line2D([], [], **mark, **look) for state, look in _LOOKS.items()}
    hollow: dict[str, Any] = {"color": GREY, "marker": "o", "markerfacecolor": "white"}
    entries["hollow: not learned"] = Line2D([], [], **mark, **hollow)
    columns = 1 if beside <= 1 else 3
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns}
    figure.legend(list(entries.values()), list(entries), **place)
