"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from darksecrets.framenet.example import Example
from darksecrets.framenet.tables import DIRECTIONS, ELEMENT_TO_PREDICATE, HEADS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    CHANGE,
    GREY,
    INK,
    MAP,
    MARK,
    PAGE,
    SMALL,
    WEIGHT,
    check_columns,
    colour_bar,
    grid,
    heatmap,
    label_run,
    mark_heads,
    new_figure,
    style,
)
from darksecrets.run.columns import RANDOM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLUMNS = (
    *("direction", "layer", "head", "weight", "sentences", "above_percentile"),
    *("control", "unlinked", "excess", "stands_out"),
)
NAMES = {
    ELEMENT_TO_PREDICATE: "element →\npredicate",
    DIRECTIONS[1]: "predicate →\nelement",
}
PANELS = {
    "weight": "along the links",
    "control": "same distance",
    "unlinked": "same word, from others",
    "excess": "net of words, distance",
}


def figure3(
    table: pd.DataFrame, example: Example, run_label: str, by_chance: pd.DataFrame | None = None
) -> Figure:
    """Draw the weight of every head beside its controls, and maps of some heads on one sentence.

    There is a row of heatmaps for each direction, in the paper's colours, with layer 1 at the top.
    Heads above the 99th percentile are framed; a dot marks those that stand out from all controls.
    Below, for each head of the example, are its map and what the two linked words attend to.

    Args:
        table: ``framenet_heads.csv``.
        example: The maps saved with the table.
        run_label: The run, its model and its data in a few words, for the small print.
        by_chance: The same table of an encoder with random weights: how many of its heads stand
            out is written above the figure.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    check_columns(table, COLUMNS, "framenet_heads.csv")
    with style():
        figure = new_figure(PAGE, 6.4)
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1, 1.2])[:, 0]
        _heads(above, table)
        above.suptitle(_title(table, by_chance), fontsize=7)
        panels = below.subplots(
            3, len(example.heads), squeeze=False, height_ratios=[1.5, 1, 1], sharey="row"
        )
        for number, column in enumerate(panels.T):
            _map(column[0], example, number)
            for axes, direction in zip(column[1:], DIRECTIONS, strict=True):
                _distribution(axes, example, number, direction)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    example = Example.load(sources.file("example"))
    table = sources.table(HEADS)
    by_chance = table["state"] == RANDOM
    return figure3(table[~by_chance], example, sources.label, table[by_chance])


def _heads(figure: SubFigure, table: pd.DataFrame) -> None:
    """Draw the heatmaps of layers × heads: a row per direction, weight and controls as columns."""
    panels = figure.subplots(len(DIRECTIONS), len(PANELS), sharex=True, sharey=True)
    shared = float(table[["weight", "control", "unlinked"]].max().max())
    left = float(table["excess"].abs().max())  # NaN if no sentence has words of no link
    for row, direction in zip(panels, DIRECTIONS, strict=True):
        rows = table[table["direction"] == direction]
        for axes, (column, title) in zip(row, PANELS.items(), strict=True):
            axes.set_label(f"{column} {direction}")
            axes.set_title(title if direction == DIRECTIONS[0] else "")
            if rows[column].isna().any():
                axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=GREY)
                continue
            low, high, cmap = (0, shared, WEIGHT) if column != "excess" else (-left, left, CHANGE)
            heatmap(axes, grid(rows, column), cmap=cmap, vmin=low, vmax=high)
            _mark(axes, rows, frames=column == "weight")
            axes.set_xlabel("" if direction == DIRECTIONS[0] else "Head")
            axes.set_ylabel(f"{NAMES[direction]}\nLayer" if column == "weight" else "")
    bars = (
        (panels[:, :3], panels[0, 0], "Greatest weight of a pair, mean of sentences", 60),
        (panels[:, 3:], panels[0, 3], "Remaining weight", 18),
    )
    for under, first, text, aspect in bars:
        if meshes := [part for part in first.collections if isinstance(part, QuadMesh)]:
            place: dict[str, Any] = {"location": "bottom", "aspect": aspect, "pad": 0.02}
            bar = colour_bar(figure, meshes[0], text, ax=under, **place)
            bar.locator = MaxNLocator(aspect // 6)


def _title(table: pd.DataFrame, by_chance: pd.DataFrame | None) -> str:
    """What marks mean, and how many heads with random weights would be marked."""
    title = (
        f"{int(table['sentences'].iloc[0])} sentences. Frame: above the 99th percentile. "
        "Dot: exceeds all controls"
    )
    if by_chance is None:
        return f"{title}."
    marked = int(by_chance["stands_out"].sum())
    return f"{title} (of random weights, {marked} of {len(by_chance)})."


def _mark(axes: Axes, rows: pd.DataFrame, *, frames: bool) -> None:
    """Frame the heads above the percentile, and put a dot on those that stand out."""
    framed = rows[rows["above_percentile"]] if frames else rows[:0]
    for head, layer in framed[["head", "layer"]].to_numpy(np.float64):
        corner = (head - 0.5, layer - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=INK, linewidth=1.2))
    mark_heads(axes, grid(rows, "stands_out") > 0, size=3)


def _map(axes: Axes, example: Example, number: int) -> None:
    """Draw one head's full map of the sentence, the linked pairs framed in both directions."""
    axes.set_label(f"map {number + 1}")
    size = len(example.tokens)
    values = example.maps[number].astype(np.float64)
    axes.imshow(values, cmap=MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for queries, keys, dash in (
        (example.element, example.predicate, "-"),
        (example.predicate, example.element, ":"),
    ):
        corner = (keys[0] - 0.5, queries[0] - 0.5)
        width, height = (float(np.ptp(part) + 1) for part in (keys, queries))
        axes.add_patch(
            Rectangle(
                corner, width, height, fill=False, edgecolor=MARK, linewidth=1, linestyle=dash
            )
        )
    axes.set_xticks(range(size), example.tokens, rotation=90, fontsize=SMALL)
    axes.set_yticks(range(size), example.tokens, fontsize=SMALL)
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, linewidth=0.25)
    axes.set_title(f"Layer {example.layers[number]}, head {example.heads[number]}")
    axes.set(xlabel="attended to", ylabel="attends" if number == 0 else "")


def _distribution(axes: Axes, example: Example, number: int, direction: str) -> None:
    """Draw the attention of the linked word piece that attends most to the other linked word."""
    axes.set_label(f"{direction} {number + 1}")
    ends = (example.element, example.predicate)
    queries, keys = ends if direction == ELEMENT_TO_PREDICATE else ends[::-1]
    values = example.maps[number].astype(np.float64)
    query = int(queries[values[np.ix_(queries, keys)].max(axis=1).argmax()])
    size = len(example.tokens)
    colours = [MARK if place in keys else GREY for place in range(size)]
    axes.barh(range(size), values[query], color=colours, height=0.7)
    axes.set(ylim=(size - 0.5, -0.5), xlim=(0, max(0.5, 1.05 * values[query].max())))
    axes.set_yticks(range(size), example.tokens, fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"attention of “{example.tokens[query]}”")
