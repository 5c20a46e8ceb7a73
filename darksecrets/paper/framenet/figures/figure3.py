"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.core.plotting.user_text import lines
from darksecrets.core.run.columns import RANDOM
from darksecrets.paper.framenet.example import PAPER, Example
from darksecrets.paper.framenet.tables import (
    CONTROLS_OF_HEADS,
    DIRECTIONS,
    DISTANCE,
    ELEMENT_TO_PREDICATE,
    HEADS,
    KEY,
    SUM,
)

NAMES = {name: name.replace("_to_", " →\n") for name in DIRECTIONS}
WEIGHTS = "along the links"
DIFFERENCES = {
    "over same distance": DISTANCE,
    "over other words": KEY,
    "net of words, distance": SUM,
}
"""Controls by title of the panel that draws the difference to it, on one scale."""
PANELS = (WEIGHTS, *DIFFERENCES)
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
    controls = sources.table(CONTROLS_OF_HEADS, "controls")
    by_chance, table = table[table["state"] == RANDOM], table[table["state"] != RANDOM]
    controls = controls[
        (controls["state"] != RANDOM) & controls["control"].isin(DIFFERENCES.values())
    ]
    numbers = {
        f"Layer {layer}, head {head}": number
        for number, (layer, head) in enumerate(zip(example.layers, example.heads, strict=True))
    }

    def heads(axes: kit.Axes, title: str, direction: str) -> None:
        own = table[table["direction"] == direction]
        if title == WEIGHTS:
            _weights(axes, own, float(table["weight"].max()))
        else:
            _differences(axes, controls, DIFFERENCES[title], direction)
        kit.mark(axes, kit.grid(own, "exceeds_controls") > 0, markersize=3)

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
    above = kit.Grid(PANELS, kit.rows(heads, NAMES, "Head", "{}\nLayer", height=1.25))
    below = kit.Grid(list(numbers), panels, most=len(numbers), headline=named)
    number = int(table["sentences"].iloc[0])
    headline = f"Heads that attend along frame-semantic links, in {number} sentences"
    return kit.page(sources, headline, above, below, legend=legend, width=kit.PAGE)


def _weights(axes: kit.Axes, rows: pd.DataFrame, end: float) -> None:
    """Draw the weights of all heads along the links in one direction; frame the greatest."""
    mesh = kit.matrix(axes, kit.grid(rows, "weight"), kit.WEIGHT, end, 0)
    framed = rows[rows["above_percentile"]]
    for head, layer in framed[["head", "layer"]].to_numpy(np.float64):
        corner = (head - 1, layer - 1)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=kit.INK, linewidth=1.2))
    _scale(axes, mesh, "Greatest weight of a pair", rows["direction"].iloc[0], "neither")


def _differences(axes: kit.Axes, controls: pd.DataFrame, control: str, direction: str) -> None:
    """Draw how far all heads exceed a control in one direction.

    Colours end at the greatest positive difference to any of the controls drawn: what a head lacks
    compared with a control says nothing of links, and may be much more.
    """
    rows = controls[(controls["direction"] == direction) & (controls["control"] == control)]
    if rows["difference"].isna().any():
        kit.say(axes, "none")
        return
    end, lowest = float(controls["difference"].max()), float(controls["difference"].min())
    if end <= 0:
        end = max(abs(lowest), 1e-6)
    mesh = kit.matrix(axes, kit.grid(rows, "difference"), kit.CHANGE, end)
    _scale(axes, mesh, "More than the control", direction, "min" if lowest < -end else "neither")


def _scale(
    axes: kit.Axes, mesh: kit.ScalarMappable, label: str, direction: str, extend: str
) -> None:
    """Draw the scale of a column of panels, below its last one."""
    if direction != DIRECTIONS[0]:
        look: dict[str, Any] = {"location": "bottom", "aspect": 18, "ax": axes, "extend": extend}
        kit.scale(axes.figure, mesh, label, **look).locator = MaxNLocator(3)


def _counted(by_chance: pd.DataFrame) -> str:
    """What dots mean, and how many heads with random weights would have them."""
    if not len(by_chance):
        return "exceeds all five controls"
    dots = int(by_chance["exceeds_controls"].sum())
    return f"exceeds all five controls (untrained: {dots} of {len(by_chance)})"


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
