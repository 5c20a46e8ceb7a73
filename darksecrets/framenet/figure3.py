"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from darksecrets.framenet.example import Example
from darksecrets.framenet.tables import ELEMENT_TO_PREDICATE, HEADS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    GREY,
    INK,
    MAP,
    PAGE,
    SMALL,
    WEIGHT,
    check_columns,
    colour_bar,
    grid,
    heatmap,
    label_run,
    new_figure,
    style,
)
from darksecrets.stats.percentiles import above_percentile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

LINK = "#0072B2"
"""Colour of the linked words."""
COLUMNS = ("direction", "layer", "head", "weight", "sentences")


def figure3(table: pd.DataFrame, example: Example, run_label: str) -> Figure:
    """Draw the weight of every head, and the maps of the highest heads on one sentence.

    The heatmap shows the published direction (the element attends to the predicate), in the paper's
    colours, with layer 1 at the top. Heads above the 99th percentile are framed; if there is none,
    those that tie for the greatest weight. Beside the heatmap are the full map of each framed head
    on the example and the attention of the linked word piece.

    Args:
        table: ``framenet_heads.csv``.
        example: The maps saved with the table.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    check_columns(table, COLUMNS, "framenet_heads.csv")
    rows = table[table["direction"] == ELEMENT_TO_PREDICATE]
    weights, heads = grid(rows, "weight"), len(example.heads)
    sentences = int(rows["sentences"].iloc[0])
    with style():
        figure = new_figure(PAGE, max(2.7, 1.9 * heads + 0.5))
        left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[1, 1.45])[0]
        _weights(left.subplots(), weights, sentences)
        panels = right.subplots(heads, 2, squeeze=False, width_ratios=[1.25, 1])
        for number, (whole, single) in enumerate(panels):
            _map(whole, example, number)
            _distribution(single, example, number)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    example = Example.load(sources.file("example"))
    return figure3(sources.table(HEADS), example, sources.label)


def _weights(axes: Axes, weights: NDArray[np.float64], sentences: int) -> None:
    """Draw the heatmap of layers × heads, with frames around the highest heads."""
    axes.set_label("heads")
    mesh = heatmap(axes, weights, cmap=WEIGHT, vmin=0, vmax=float(weights.max()))
    for layer, head in np.argwhere(above_percentile(weights, or_highest=True)):
        frame = Rectangle((head + 0.5, layer + 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=1.2)
        axes.add_patch(frame)
    text = "Greatest attention of a linked pair, mean of sentences"
    place: dict[str, Any] = {"orientation": "horizontal", "aspect": 30, "pad": 0.02}
    colour_bar(axes.figure, mesh, text, ax=axes, **place)
    axes.set_title(f"Element → predicate, {sentences} sentences")


def _map(axes: Axes, example: Example, number: int) -> None:
    """Draw one head's full map of the sentence, the linked pairs framed."""
    axes.set_label(f"map {number + 1}")
    size = len(example.tokens)
    values = example.maps[number].astype(np.float64)
    axes.imshow(values, cmap=MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    corner = (example.predicate[0] - 0.5, example.element[0] - 0.5)
    width, height = (float(np.ptp(part) + 1) for part in (example.predicate, example.element))
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=LINK, linewidth=1))
    axes.set_xticks(range(size), example.tokens, rotation=90, fontsize=SMALL)
    axes.set_yticks(range(size), example.tokens, fontsize=SMALL)
    for labels, linked in (
        (axes.get_xticklabels(), example.predicate),
        (axes.get_yticklabels(), example.element),
    ):
        for place in linked:
            labels[place].set(color=LINK, fontweight="bold")
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, linewidth=0.25)
    axes.set_title(f"Layer {example.layers[number]}, head {example.heads[number]}")
    axes.set(xlabel="attended to", ylabel="attends")


def _distribution(axes: Axes, example: Example, number: int) -> None:
    """Draw the attention of the linked word piece that attends most to the predicate."""
    axes.set_label(f"distribution {number + 1}")
    values = example.maps[number].astype(np.float64)
    linked = values[np.ix_(example.element, example.predicate)].max(axis=1)
    query = int(example.element[linked.argmax()])
    size = len(example.tokens)
    colours = [LINK if place in example.predicate else GREY for place in range(size)]
    axes.barh(range(size), values[query], color=colours, height=0.7)
    axes.set(ylim=(size - 0.5, -0.5), xlim=(0, max(0.5, 1.05 * values[query].max())))
    axes.set_yticks(range(size), example.tokens, fontsize=SMALL)
    for place in example.predicate:
        axes.get_yticklabels()[place].set(color=LINK, fontweight="bold")
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"attention of “{example.tokens[query]}”")
    axes.set_xlabel("weight")
