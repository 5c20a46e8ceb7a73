"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from darksecrets.framenet.example import PAPER, Example
from darksecrets.framenet.tables import DIRECTIONS, ELEMENT_TO_PREDICATE, HEADS
from darksecrets.plotting import kit
from darksecrets.plotting.user_text import lines
from darksecrets.run.columns import RANDOM

NAMES = {name: name.replace("_to_", " →\n") for name in DIRECTIONS}
PANELS = {
    "along the links": "weight",
    "over same distance": "over_control",
    "over other words": "over_unlinked",
    "net of words, distance": "excess",
}
"""Columns of the table by title; all but the first are differences to a control, on one scale."""
_SPACES = "▁", "Ġ"
_LETTERS = 95  # in a line as wide as the page
_LINE = 0.115
"""Height of a token of the example, in inches."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the weight of every head, how far it exceeds its controls, and maps on one sentence.

    There is a row of heatmaps for each direction, with layer 1 at the top. Heads above the 99th
    percentile are framed. A dot marks those that exceed all five controls; how many of the heads
    with random weights do is written above the figure. Below, for each head of the example, are its
    map and what the two linked words attend to.
    """
    example, table = Example.load(sources.file("example")), sources.table(HEADS)
    by_chance, table = table[table["state"] == RANDOM], table[table["state"] != RANDOM]
    numbers = {
        f"Layer {layer}, head {head}": number
        for number, (layer, head) in enumerate(zip(example.layers, example.heads, strict=True))
    }

    def heads(axes: kit.Axes, title: str, direction: str) -> None:
        _heads(axes, table, PANELS[title], direction)

    def whole(axes: kit.Axes, name: str) -> None:
        _map(axes, example, numbers[name])

    def single(axes: kit.Axes, name: str, direction: str) -> None:
        _distribution(axes, example, numbers[name], direction)

    tall: dict[str, Any] = {"height": max(_LINE * len(example.tokens), 1.0) + 0.5, "fixed": True}
    panels = [
        [kit.Panel(whole, "map", x="attended to", y="attends", share="columns", **tall)],
        *kit.rows(single, DIRECTIONS, "weight", "", **tall | {"height": tall["height"] - 0.25}),
    ]
    named = "\n".join(lines(_named(example), _LETTERS, most=2))
    legend = {
        "above 99th percentile": kit.dot("none", "s", 6.0, markeredgecolor=kit.INK),
        _counted(by_chance): kit.dot(kit.MARK, size=3.0),
    }
    above = kit.Grid(list(PANELS), kit.rows(heads, NAMES, "Head", "{}\nLayer", height=1.25))
    below = kit.Grid(list(numbers), panels, most=len(numbers), headline=named)
    number = int(table["sentences"].iloc[0])
    headline = f"Heads that attend along frame-semantic links, in {number} sentences"
    return kit.page(sources, headline, above, below, legend=legend, width=kit.PAGE)


def _heads(axes: kit.Axes, table: pd.DataFrame, column: str, direction: str) -> None:
    """Draw the weights of all heads along the links, or differences to a control.

    The colours of differences end at the greatest positive one: what a head lacks compared with a
    control says nothing of links, and may be much more.
    """
    rows = table[table["direction"] == direction]
    if rows[column].isna().any():
        kit.say(axes, "none")
        return
    differences = table[[name for name in PANELS.values() if name != "weight"]]
    end, lowest = float(differences.max().max()), float(differences.min().min())
    end = end if end > 0 else max(abs(lowest), 1e-6)
    weights = column == "weight"
    scale: tuple[str, float, float | None]
    scale = (kit.WEIGHT, float(table["weight"].max()), 0) if weights else (kit.CHANGE, end, None)
    mesh = kit.matrix(axes, kit.grid(rows, column), *scale)
    framed = rows[rows["above_percentile"]] if weights else rows[:0]
    for head, layer in framed[["head", "layer"]].to_numpy(np.float64):
        corner = (head - 1, layer - 1)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=kit.INK, linewidth=1.2))
    kit.mark(axes, kit.grid(rows, "exceeds_controls") > 0, markersize=3)
    if direction != DIRECTIONS[0]:
        look: dict[str, Any] = {"location": "bottom", "aspect": 18, "ax": axes}
        look["extend"] = "min" if lowest < -end and not weights else "neither"
        label = "Greatest weight of a pair" if weights else "More than the control"
        kit.scale(axes.figure, mesh, label, **look).locator = MaxNLocator(3)


def _counted(by_chance: pd.DataFrame) -> str:
    """What dots mean, and how many heads with random weights would have them."""
    if not len(by_chance):
        return "exceeds all five controls"
    dots = int(by_chance["exceeds_controls"].sum())
    return f"exceeds all five controls (random weights: {dots} of {len(by_chance)})"


def _named(example: Example) -> str:
    """The sentence of the example; the special tokens at its ends are left out."""
    pieces = [str(token) for token in example.tokens[1:-1]]
    marked = any(piece.startswith(_SPACES) for piece in pieces)  # tokenizers other than BERT's
    sentence = "".join(pieces) if marked else " ".join(pieces).replace(" ##", "")
    sentence = sentence.translate(dict.fromkeys(map(ord, _SPACES), " ")).strip()
    if sentence.lower().startswith(PAPER):
        return f"The paper's example: “{sentence}”"
    return f"Example, chosen for the attention along its links: “{sentence}”"


def _map(axes: kit.Axes, example: Example, number: int) -> None:
    """Draw one head's full map of the sentence, the linked pairs framed in both directions."""
    values = example.maps[number].astype(np.float64)
    axes.imshow(values, cmap=kit.MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for queries, keys, dash in (
        (example.element, example.predicate, "-"),
        (example.predicate, example.element, ":"),
    ):
        corner = (keys[0] - 0.5, queries[0] - 0.5)
        width, height = (float(np.ptp(part) + 1) for part in (keys, queries))
        look: dict[str, Any] = {"edgecolor": kit.MARK, "linewidth": 1, "linestyle": dash}
        axes.add_patch(Rectangle(corner, width, height, fill=False, **look))
    axes.set_xticks(range(len(values)), example.tokens, rotation=90)
    axes.set_yticks(range(len(values)), example.tokens)
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, linewidth=0.25)


def _distribution(axes: kit.Axes, example: Example, number: int, direction: str) -> None:
    """Draw the attention of the linked word piece that attends most to the other linked word."""
    ends = (example.element, example.predicate)
    queries, keys = ends if direction == ELEMENT_TO_PREDICATE else ends[::-1]
    values = example.maps[number].astype(np.float64)
    query = int(queries[values[np.ix_(queries, keys)].max(axis=1).argmax()])
    size = len(example.tokens)
    colours = [kit.MARK if place in keys else kit.GREY for place in range(size)]
    axes.barh(range(size), values[query], color=colours, height=0.7)
    axes.set(ylim=(size - 0.5, -0.5), xlim=(0, 1))
    axes.set_yticks(range(size), example.tokens)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"attention of “{example.tokens[query]}”")
