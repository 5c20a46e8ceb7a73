"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.core.plotting.attention_map import SPACES
from darksecrets.core.plotting.user_text import lines
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.framenet.example import PAPER, Example
from darksecrets.paper.framenet.tables import ELEMENT_TO_PREDICATE, HEADS

GRID = "All heads"
_FRAMED = "Framed in its maps: the element attends to its predicate."
_LETTERS = 95  # in a line as wide as the page
_MAP = 1.7
"""Height of the panels of the first row, in inches."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the weight of every head, as the paper does, and two heads' maps of one sentence.

    All is in the published direction, from the element to the predicate. Heads above the 99th
    percentile are framed; a dot marks those that exceed all controls. Below each map is what
    the linked word piece attends to that attends most to the predicate.
    """
    example, table = Example.load(sources.file("framenet_example")), sources.table(HEADS)
    rows = table[(table["state"] != RANDOM) & (table["direction"] == ELEMENT_TO_PREDICATE)]
    numbers = {
        f"Layer {layer}, head {head}": number
        for number, (layer, head) in enumerate(zip(example.layers, example.heads, strict=True))
    }

    def whole(axes: kit.Axes, name: str) -> None:
        if name == GRID:
            _weights(axes, rows)
        else:
            _map(axes, example, numbers[name])

    def single(axes: kit.Axes, name: str) -> None:
        if name == GRID:
            axes.set_axis_off()
        else:
            _distribution(axes, example, numbers[name])

    tall = 0.3 + 0.115 * len(example.tokens)
    panels = [
        [kit.Panel(whole, x=None, height=_MAP, fixed=True)],
        [kit.Panel(single, "attention", x=None, height=min(tall, _MAP), fixed=True)],
    ]
    legend = {
        "above the 99th percentile": kit.dot("none", "s", 6.0, markeredgecolor=kit.INK),
        "exceeds all controls": kit.dot(kit.MARK, size=3.0),
    }
    named = "\n".join(lines(_named(example), _LETTERS, most=2))
    number = int(rows["sentences"].iloc[0])
    what = f"Attention from elements to the words that evoke their frames, {number} sentences.\n"
    return kit.page(
        sources,
        _headline(rows),
        kit.Grid([GRID, *numbers], panels),
        legend=legend,
        width=kit.PAGE,
        what=what + named,
    )


def _headline(rows: pd.DataFrame) -> str:
    """How many heads exceed the paper's criterion, and how many all controls."""
    above, exceeding = (int(rows[flag].sum()) for flag in ("above_percentile", "exceeds_controls"))
    return (
        f"Above the paper's threshold: {above} of {len(rows)} heads; above all controls: "
        f"{exceeding or 'none'}"
    )


def _weights(axes: kit.Axes, rows: pd.DataFrame) -> None:
    """Draw the weights of all heads along the links; frame the greatest, mark what exceeds."""
    values = kit.grid(rows, "weight")
    end = kit.end_of_weights(float(rows["uniform"].mean()), values)
    mesh = kit.matrix(axes, values, kit.WEIGHT, end, 0, labels=8)
    for head, layer in rows[rows["above_percentile"]][["head", "layer"]].to_numpy(np.float64):
        corner = (head - 1, layer - 1)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=kit.INK, linewidth=1.2))
    kit.mark(axes, kit.grid(rows, "exceeds_controls") > 0, markersize=3)
    axes.set(xlabel="Head", ylabel="Layer")
    look: dict[str, Any] = {"location": "bottom", "aspect": 18, "ax": axes}
    kit.scale(axes.figure, mesh, "Largest weight of a pair", **look).locator = MaxNLocator(3)


def _named(example: Example) -> str:
    """The sentence of the example; the special tokens at its ends are left out."""
    pieces = [str(token) for token in example.tokens[1:-1]]
    marked = any(piece.startswith(tuple(SPACES)) for piece in pieces)
    sentence = "".join(pieces) if marked else " ".join(pieces).replace(" ##", "")
    sentence = sentence.translate(dict.fromkeys(map(ord, SPACES), " ")).strip()
    if sentence.lower().startswith(PAPER):
        return f"The paper's example: “{sentence}”. {_FRAMED}"
    return f"An example, chosen for its links: “{sentence}”. {_FRAMED}"


def _map(axes: kit.Axes, example: Example, number: int) -> None:
    """Draw one head's full map of the sentence, the linked pairs framed."""
    values = example.maps[number].astype(np.float64)
    kit.draw_map(axes, values, [str(token) for token in example.tokens], 1.0)
    corner = (example.predicate[0] - 0.5, example.element[0] - 0.5)
    width, height = (float(np.ptp(part) + 1) for part in (example.predicate, example.element))
    look: dict[str, Any] = {"edgecolor": kit.MARK, "linewidth": 1}
    axes.add_patch(Rectangle(corner, width, height, fill=False, **look))


def _distribution(axes: kit.Axes, example: Example, number: int) -> None:
    """Draw the attention of the element's word piece that attends most to the predicate."""
    queries, keys = example.element, example.predicate
    values = example.maps[number].astype(np.float64)
    query = int(queries[values[np.ix_(queries, keys)].max(axis=1).argmax()])
    size = len(example.tokens)
    colours = [kit.MARK if place in keys else kit.GREY for place in range(size)]
    axes.barh(range(size), values[query], color=colours, height=0.7)
    axes.set(ylim=(size - 0.5, -0.5), xlim=(0, 1))
    step = -(-size // 14)
    axes.set_yticks(range(0, size, step), [str(one) for one in example.tokens[::step]])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"attention of “{example.tokens[query]}”")
