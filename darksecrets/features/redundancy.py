"""How redundant heads are: their positions in a plane, and mean distances (section 5).

After Figure 6 of Clark et al. (2019).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.features.tables import (
    BROAD_FOR_LENGTH,
    HEAD_POSITIONS,
    HEAD_TYPES,
    MAIN_TYPES,
    NO_TYPE,
    PAIRS,
    REDUNDANCY,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import MOST
from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    INK,
    PAGE,
    SMALL,
    STATES,
    blocks,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
    ticks,
    wrapped,
)
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

LAYERS = "viridis_r"
"""Colour map of layers: safe for colour blindness, darker = later."""

MARKERS = dict(zip(MAIN_TYPES, (">", "<", "^", "P", "s", "D", "o"), strict=True))
"""Marker of a head's main type."""
NAMES = {
    **{name: f"to {name}" for name in MAIN_TYPES},
    **{name: f"to the {name} token" for name in ("next", "previous")},
    BROAD_FOR_LENGTH: "broad",
    NO_TYPE: "no type",
}
"""What the legend calls types: where most of the attention goes."""

DRAWN = ("pretrained", "finetuned")


def redundancy(
    table: pd.DataFrame,
    positions: pd.DataFrame,
    types: pd.DataFrame,
    tasks: Sequence[str],
    run_label: str,
) -> Figure:
    """Draw the heads of every task's models in a plane, and mean distances below.

    Of the fine-tuned models, the plane is that of the first seed; distances are those of all seeds.
    The marker of a head is its main type.

    Args:
        table: Columns ``task``, ``state``, ``seed``, ``pairs``, ``distance``, ``ci_low``,
            ``ci_high``.
        positions: Columns ``task``, ``state``, ``seed``, ``layer``, ``head``, ``x``, ``y``,
            ``stress``.
        types: Columns ``task``, ``state``, ``seed``, ``layer``, ``head``, ``type``, ``main``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks or states are missing.
    """
    names = ["task", "state", "seed", "pairs", "distance", "ci_low", "ci_high"]
    check_columns(table, names, "redundancy.csv")
    names = ["task", "state", "seed", "layer", "head", "x", "y", "stress"]
    check_columns(positions, names, "head_positions.csv")
    names = ["task", "state", "seed", "layer", "head", "type", "main"]
    check_columns(types, names, "head_types.csv")
    heads = _typed(positions, types)
    longest = float(np.nanmax(table[["distance", "ci_high"]].to_numpy(np.float64)))
    width = COLUMN if len(tasks) <= 2 else PAGE
    groups, beside = blocks(len(tasks), MOST)
    side = min((width - 0.75) / beside, 1.6)
    heights = [*[side] * len(DRAWN), 1.15] * groups
    with style():
        figure = new_figure(width, sum(heights) + 0.4 * groups + 0.75)
        slots = figure.add_gridspec(len(heights) + 1, beside, height_ratios=[*heights, 0.06])
        for number, task in enumerate(tasks):
            group, column = divmod(number, beside)
            first = group * (len(DRAWN) + 1)
            for row, state in enumerate(DRAWN):
                axes = figure.add_subplot(slots[first + row, column], label=f"{task} {state}")
                dots = _plane(axes, heads, task, state)
                axes.set_title("" if row else wrapped(task, width / beside))
                axes.set_ylabel("" if column else state)
            axes = figure.add_subplot(slots[first + len(DRAWN), column], label=f"{task} distances")
            _distances(axes, table[table["task"] == task], named=column == 0)
            axes.set_xlim(0, 1.05 * longest)
        bar = figure.add_subplot(slots[-1, :], label="colour bar")
        bar_of = colour_bar(figure, dots, "Layer", cax=bar, orientation="horizontal")
        bar_of.set_ticks(ticks(int(positions["layer"].max()), 12))
        _legend(figure, sorted(set(table["state"]), key=_order), set(heads["type"]))
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    positions = sources.table(HEAD_POSITIONS, "positions")
    types = sources.table(HEAD_TYPES, "types")
    return redundancy(sources.table(REDUNDANCY), positions, types, sources.tasks, sources.label)


def _typed(positions: pd.DataFrame, types: pd.DataFrame) -> pd.DataFrame:
    """The positions with the main ``type`` of every head."""
    key = ["task", "state", "seed", "layer", "head"]
    mains = types.loc[types["main"], [*key, "type"]]
    heads = positions.merge(mains, on=key, how="left")
    return heads.assign(type=heads["type"].fillna(NO_TYPE))


def _plane(axes: Axes, positions: pd.DataFrame, task: str, state: str) -> PathCollection:
    """The heads of one model, coloured by layer, marked by type; all planes have one scale."""
    rows = positions[(positions["task"] == task) & (positions["state"] == state)]
    if rows.empty:
        raise InputError(
            f"The table head_positions.csv has no rows for {state} on {task}. Make the table again."
        )
    rows = rows[rows["seed"].isna() | (rows["seed"] == rows["seed"].min())]
    limit = 1.1 * max(1e-3, float(positions[["x", "y"]].abs().to_numpy().max()))
    for name, part in rows.groupby("type", sort=False):
        dots = axes.scatter(
            part["x"],
            part["y"],
            c=part["layer"],
            s=6 if len(rows) < 200 else 3,
            marker=MARKERS[name],
            cmap=LAYERS,
            vmin=0.5,
            vmax=positions["layer"].max() + 0.5,
            edgecolors=INK,
            linewidths=0.15,
        )
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set(visible=True, linewidth=0.25)
    axes.set_xlabel(f"stress {rows['stress'].iloc[0]:.2f}", fontsize=SMALL)
    return dots


def _distances(axes: Axes, rows: pd.DataFrame, *, named: bool) -> None:
    """Mean distances of one task's models with their intervals."""
    states = sorted(set(rows["state"]), key=_order)
    for _, part in rows.groupby(["state", "seed"], sort=False, dropna=False):
        state = str(part["state"].iloc[0])
        shift = (states.index(state) - (len(states) - 1) / 2) * 0.25
        places = [PAIRS.index(pairs) + shift for pairs in part["pairs"]]
        colour = _colour(state)
        axes.hlines(places, part["ci_low"], part["ci_high"], color=colour, linewidth=0.7)
        axes.plot(part["distance"], places, ".", color=colour, ms=2.5)
    axes.set(ylim=(len(PAIRS) - 0.5, -0.5), yticks=range(len(PAIRS)))
    axes.set_yticklabels(PAIRS if named else [])
    axes.tick_params(labelsize=SMALL, length=0)
    axes.grid(axis="y", linewidth=0.25, color="0.9")
    axes.set_axisbelow(True)
    axes.set_xlabel("Distance (nats)", fontsize=SMALL)


def _legend(figure: Figure, states: Sequence[str], types: Collection[str]) -> None:
    """Name the markers of the types that occur, and the colours of the states."""
    shown = [name for name in MAIN_TYPES if name in types]
    look = {"color": "none", "markeredgecolor": INK, "markersize": 3, "markeredgewidth": 0.5}
    marks = [Line2D([], [], marker=MARKERS[name], **look) for name in shown]  # type: ignore[arg-type]
    lines = [Line2D([], [], color=_colour(state), marker=".", linewidth=0.7) for state in states]
    labels = [*(NAMES[name] for name in shown), *states]
    beside = 3 if figure.get_figwidth() == COLUMN else 5
    figure.legend([*marks, *lines], labels, loc="outside upper center", ncols=beside)


def _colour(state: str) -> str:
    return STATES.get(state, GREY)


def _order(state: str) -> int:
    """Place of a state among the others; those without fine-tuning are first."""
    return DRAWN.index(state) if state in DRAWN else len(DRAWN)
