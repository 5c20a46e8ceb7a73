"""Figure 3: heads that attend along frame-semantic links (section 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from darksecrets.framenet.example import PAPER, Example
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
    wrapped,
)
from darksecrets.plotting.user_text import drawable, lines
from darksecrets.run.columns import RANDOM
from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import intersection_union

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLUMNS = (
    *("direction", "layer", "head", "weight", "sentences", "above_percentile"),
    *("over_control", "over_control_p", "over_unlinked", "over_unlinked_p"),
    *("excess", "stands_out"),
)
NAMES = {
    ELEMENT_TO_PREDICATE: "element →\npredicate",
    DIRECTIONS[1]: "predicate →\nelement",
}
PANELS = {
    "weight": "along the links",
    "over_control": "over same distance",
    "over_unlinked": "over other words",
    "excess": "net of words, distance",
}
"""Titles of the heatmaps; all but the first are differences to a control, on one scale."""
_SPACES = "▁", "Ġ"
_LETTERS = 100  # in a line as wide as the page
_LINE = 0.1
"""Height of a token of the example, in inches."""


def figure3(
    table: pd.DataFrame, example: Example, run_label: str, by_chance: pd.DataFrame | None = None
) -> Figure:
    """Draw the weight of every head, how far it exceeds its controls, and maps on one sentence.

    There is a row of heatmaps for each direction, with layer 1 at the top. Heads above the 99th
    percentile are framed. A ring marks those that exceed both controls that are drawn, a dot those
    that exceed all four. Below, for each head of the example, are its map and what the two linked
    words attend to.

    Args:
        table: ``framenet_heads.csv``.
        example: The maps saved with the table.
        run_label: The run, its model and its data in a few words, for the small print.
        by_chance: The same table of an encoder with random weights: how many of its heads would be
            marked is written above the figure.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    check_columns(table, COLUMNS, "framenet_heads.csv")
    table = table.assign(both=exceeds_both(table))
    size = _LINE * len(example.tokens)
    heights = [max(size, 1.0), max(size, 0.8), max(size, 0.8)]
    with style():
        parts = [3.1, sum(heights) + 2.0]
        figure = new_figure(PAGE, sum(parts))
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=parts)[:, 0]
        _heads(above, table)
        above.suptitle(wrapped(_title(table, by_chance), PAGE), fontsize="medium")
        named = "\n".join(lines(_named(example), _LETTERS, most=2))
        below.suptitle(named, fontsize="medium", parse_math=False)
        panels = below.subplots(
            3, len(example.heads), squeeze=False, height_ratios=heights, sharey="row"
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


def exceeds_both(table: pd.DataFrame) -> pd.Series:
    """Whether each head exceeds the same distance and the same word from other words.

    The larger of both p-values counts; they are corrected over all heads and both directions. No
    head does if there are no sentences with other words.

    Args:
        table: Rows of one model in ``framenet_heads.csv``.
    """
    p = intersection_union(table[["over_control_p", "over_unlinked_p"]].to_numpy(np.float64).T)
    known = bool(table["over_unlinked"].notna().all())
    return pd.Series(known & (benjamini_hochberg(p) < LEVEL), index=table.index)


def _heads(figure: SubFigure, table: pd.DataFrame) -> None:
    """Draw the heatmaps of layers × heads: a row per direction, weight and differences as columns.

    The colours of differences end at the greatest positive one: what a head lacks compared with a
    control says nothing of links, and may be much more.
    """
    panels = figure.subplots(len(DIRECTIONS), len(PANELS), sharex=True, sharey=True)
    differences = table[[name for name in PANELS if name != "weight"]]
    end = float(differences.max().max())
    lowest = float(differences.min().min())
    end = end if end > 0 else max(abs(lowest), 1e-6)
    for row, direction in zip(panels, DIRECTIONS, strict=True):
        rows = table[table["direction"] == direction]
        for axes, (column, title) in zip(row, PANELS.items(), strict=True):
            axes.set_label(f"{column} {direction}")
            axes.set_title(title if direction == DIRECTIONS[0] else "")
            if rows[column].isna().any():
                axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=GREY)
                continue
            low, high, cmap = -end, end, CHANGE
            if column == "weight":
                low, high, cmap = 0.0, float(table["weight"].max()), WEIGHT
            heatmap(axes, grid(rows, column), cmap=cmap, vmin=low, vmax=high)
            _mark(axes, rows, frames=column == "weight")
            axes.set_xlabel("" if direction == DIRECTIONS[0] else "Head")
            axes.set_ylabel(f"{NAMES[direction]}\nLayer" if column == "weight" else "")
    bars: tuple[tuple[Any, Axes, dict[str, Any]], ...] = (
        (panels[:, :1], panels[0, 0], {"label": "Greatest weight of a pair", "aspect": 18}),
        (panels[:, 1:], panels[0, 1], {"label": "Weight more than the control", "aspect": 60}),
    )
    for under, first, look in bars:
        meshes = [part for part in first.collections if isinstance(part, QuadMesh)]
        extend = "min" if first is panels[0, 1] and lowest < -end else "neither"
        bar = colour_bar(
            figure, meshes[0], ax=under, location="bottom", pad=0.02, extend=extend, **look
        )
        bar.locator = MaxNLocator(look["aspect"] // 6)


def _title(table: pd.DataFrame, by_chance: pd.DataFrame | None) -> str:
    """What marks mean, and how many heads with random weights would be marked."""
    ring, dot = "exceeds both controls", "all four"
    if by_chance is not None and len(by_chance):
        rings, dots = int(exceeds_both(by_chance).sum()), int(by_chance["stands_out"].sum())
        ring += f" (with random weights {rings} of {len(by_chance)})"
        dot += f" ({dots})"
    number = int(table["sentences"].iloc[0])
    return f"{number} sentences. Frame: above 99th percentile. Ring: {ring}. Dot: {dot}."


def _named(example: Example) -> str:
    """The sentence of the example; the special tokens at its ends are left out."""
    pieces = [str(token) for token in example.tokens[1:-1]]
    marked = any(piece.startswith(_SPACES) for piece in pieces)  # tokenizers other than BERT's
    sentence = "".join(pieces) if marked else " ".join(pieces).replace(" ##", "")
    sentence = sentence.translate(dict.fromkeys(map(ord, _SPACES), " ")).strip()
    if sentence.lower().startswith(PAPER):
        return f"The paper's example: “{sentence}”"
    return f"Example, chosen for the attention along its links: “{sentence}”"


def _mark(axes: Axes, rows: pd.DataFrame, *, frames: bool) -> None:
    """Frame the heads above the percentile; put a ring or a dot on those that exceed controls."""
    framed = rows[rows["above_percentile"]] if frames else rows[:0]
    for head, layer in framed[["head", "layer"]].to_numpy(np.float64):
        corner = (head - 0.5, layer - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=INK, linewidth=1.2))
    out, both = grid(rows, "stands_out") > 0, grid(rows, "both") > 0
    layers, heads = np.nonzero(both & ~out)
    ring: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": MARK}
    axes.plot(heads + 1, layers + 1, "o", markersize=3, markeredgewidth=0.8, **ring)
    mark_heads(axes, out, size=3)


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
    names = [drawable(token) for token in example.tokens]
    plain: dict[str, Any] = {"fontsize": SMALL, "parse_math": False}
    axes.set_xticks(range(size), names, rotation=90, **plain)
    axes.set_yticks(range(size), names, **plain)
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
    names = [drawable(token) for token in example.tokens]
    axes.set_yticks(range(size), names, fontsize=SMALL, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"attention of “{names[query]}”", parse_math=False)
