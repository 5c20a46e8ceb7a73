"""A look at text: all heads on each example, some maps with their tokens, statistics of heads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from darksecrets.attention.store import AttentionStore
from darksecrets.features.tables import ENTROPIES, HEAD_STATISTICS, SHARES, STATISTICS
from darksecrets.patterns.tables import PATTERN_MAPS
from darksecrets.plotting.attention_map import draw_map, saturation
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import Row, head_grid, largest, maps_of
from darksecrets.plotting.style import (
    MAP,
    PAGE,
    PATTERNS,
    SMALL,
    colour_bar,
    label_run,
    new_figure,
    style,
    ticks,
)
from darksecrets.plotting.user_text import lines
from darksecrets.text.tables import EXAMPLES, SHOWN

Maps = npt.NDArray[np.floating]

_HALF = 0.44
"""Half of a small map's side, where 1 is the distance between two of them."""
_TOKEN = 0.11
"""Inches along the axes of a large map for each token."""
_SMALLEST, _LARGEST = 2.0, 10.0
"""Inches of a large map's side, unless there are so many maps that they must be smaller."""
_AREA = 500.0
"""Square inches of all large maps of an example."""
_HOW = "Attention weight (darker = greater)"


def heads_figure(
    maps: Maps, patterns: pd.DataFrame, sentences: Sequence[str], run_label: str
) -> Figure:
    """Draw every head's map of an example, small, in a frame of its pattern's colour.

    Rows of a map are queries, columns are keys; its scale ends at its L-th greatest weight.

    Args:
        maps: [layer, head, query, key].
        patterns: ``layer``, ``head`` (from 1) and ``pattern`` of every map.
        sentences: The sentences of the example, for the title.
        run_label: The run and its model in a few words, for the small print.
    """
    layers, heads = maps.shape[:2]
    side = PAGE / max(heads, 6)
    with style():
        figure = new_figure(PAGE, side * layers + 0.9)
        axes = figure.add_subplot(label="heads")
        for layer, head in np.ndindex(layers, heads):
            weights = maps[layer, head].astype(np.float32)
            middle = np.array([head + 1.0, layer + 1.0])
            (left, top), (right, bottom) = middle - _HALF, middle + _HALF
            axes.imshow(
                weights,
                cmap=MAP,
                vmin=0,
                vmax=saturation(weights),
                interpolation="nearest",
                extent=(left, right, bottom, top),
            )
        for row in patterns.to_dict("records"):
            corner = (row["head"] - _HALF, row["layer"] - _HALF)
            colour = PATTERNS[row["pattern"]]
            axes.add_patch(
                Rectangle(corner, 2 * _HALF, 2 * _HALF, fill=False, ec=colour, linewidth=1.2)
            )
        axes.set(xlim=(0.5, heads + 0.5), ylim=(layers + 0.5, 0.5), xlabel="Head", ylabel="Layer")
        axes.set(xticks=ticks(heads, 16), yticks=ticks(layers, 24))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        _title(figure, sentences)
        _scale(figure, [axes])
        _legend(axes, patterns)
        label_run(figure, f"{run_label} · a map's rows attend to its columns")
    return figure


def maps_figure(
    maps: Maps,
    shown: pd.DataFrame,
    tokens: Sequence[str],
    sentences: Sequence[str],
    run_label: str,
) -> Figure:
    """Draw some maps of an example large, with tokens along both axes.

    Args:
        maps: [layer, head, query, key].
        shown: A row per map to draw: ``layer``, ``head`` (from 1), ``pattern``, ``probability``.
        tokens: [L] the tokens.
        sentences: The sentences of the example, for the title.
        run_label: The run and its model in a few words, for the small print.
    """
    down, across, width, height = layout(len(shown), len(tokens))
    with style():
        figure = new_figure(width, height)
        places = figure.subplots(down, across, squeeze=False).ravel()
        for axes, row in zip(places, shown.to_dict("records"), strict=False):
            weights = maps[row["layer"] - 1, row["head"] - 1]
            axes.set_label(f"{row['layer']} {row['head']}")
            draw_map(axes, weights, tokens, saturation(weights))
            axes.set_title(
                f"Layer {row['layer']}, head {row['head']}\n"
                f"{row['pattern']} ({row['probability']:.0%} certain)"
            )
        for axes in places[len(shown) :]:
            axes.set_axis_off()
        _scale(figure, list(places))
        _title(figure, sentences)
        label_run(figure, f"{run_label} · rows attend to columns")
    return figure


def layout(maps: int, tokens: int) -> tuple[int, int, float, float]:
    """Rows and columns of large maps of so many tokens; width and height of the figure, inches."""
    side = min(max(_TOKEN * tokens, _SMALLEST), _LARGEST, math.sqrt(_AREA / maps))
    across = min(maps, max(3 if 3 * side <= PAGE else 2, math.ceil(math.sqrt(maps / 2))))
    down = math.ceil(maps / across)
    return down, across, max(3.4, across * (side + 0.5)), down * (side + 0.75) + 0.8


def statistics_figure(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw where each head's attention goes, mean over the examples: a heatmap per statistic.

    Args:
        table: ``task`` (only one), ``statistic``, ``layer``, ``head`` (from 1), ``value``. Text
            that was not parsed has no ``punctuation``; only encoders with local attention have
            ``greatest entropy``. Shares have one scale, and entropies another.
        run_label: The run and its model in a few words, for the small print.
    """
    (name,) = table["task"].unique()
    parts = {kind: table[table["statistic"] == kind] for kind in STATISTICS}
    values = {kind: maps_of(rows, [name], "value") for kind, rows in parts.items() if len(rows)}
    rows = []
    for group, scale in ((SHARES, "Share"), (ENTROPIES, "nats")):
        found = {kind: values[kind] for kind in group if kind in values}
        limit = largest(*found.values())
        for kind, maps in found.items():
            label = kind if kind.startswith("[") else kind.capitalize()
            rows.append(Row(label, {"Text": maps[name]}, scale, limit))
    parsed = "punctuation" in values
    note = "" if parsed else " · punctuation unknown: the text was not parsed"
    return head_grid(rows, ["Text"], f"{run_label} · darker = greater{note}")


def draw(sources: Sources) -> dict[str, Figure]:
    """Draw all figures: ``statistics``; ``heads-<n>`` and ``maps-<n>`` of the n-th example."""
    examples = sources.table(EXAMPLES, "examples").set_index("idx")
    shown, patterns = sources.table(SHOWN, "shown"), sources.table(PATTERN_MAPS, "patterns")
    statistics = sources.table(HEAD_STATISTICS)
    store = AttentionStore.open(sources.file("store"))
    rows = {int(idx): row for row, idx in enumerate(store.idx)}
    figures = {"statistics": statistics_figure(statistics, sources.label)}
    for idx in sorted(set(shown["idx"].tolist())):
        row, example, large = rows[idx], examples.loc[idx], shown[shown["idx"] == idx]
        maps, tokens = store.maps(row), store.tokens(row)
        sentences = [text for text in (example["sentence1"], example["sentence2"]) if text]
        label = sources.label
        if example["cut"]:
            label += f" · {example['cut']} tokens at the end are cut off"
        of_example = patterns[patterns["idx"] == idx]
        figures[f"heads-{idx + 1}"] = heads_figure(maps, of_example, sentences, label)
        figures[f"maps-{idx + 1}"] = maps_figure(maps, large, tokens, sentences, label)
    return figures


def _title(figure: Figure, sentences: Sequence[str]) -> None:
    """Write the sentences above; the rest of long ones is on the axes."""
    letters = int(figure.get_figwidth() * 72 / (0.6 * 7))
    text = "\n".join(line for sentence in sentences for line in lines(sentence, letters))
    figure.suptitle(text, x=0.01, ha="left", fontsize=7)


def _legend(axes: Axes, patterns: pd.DataFrame) -> None:
    """What the colours of the frames mean, and how many maps have each."""
    counts = patterns["pattern"].value_counts()
    entries = [
        Patch(fill=False, ec=colour, linewidth=1.2, label=f"{name} ({counts.get(name, 0)})")
        for name, colour in PATTERNS.items()
    ]
    place = (0.5, 1.0)
    axes.legend(handles=entries, loc="lower center", bbox_to_anchor=place, ncols=len(entries))


def _scale(figure: Figure, axes: list[Axes]) -> None:
    """The colours of all maps, from weight 0 to the end of each map's own scale."""
    mappable = ScalarMappable(cmap=MAP)
    bar = colour_bar(figure, mappable, _HOW, ax=axes, location="bottom", shrink=0.5, aspect=50)
    bar.set_ticks([0, 1], labels=["0", "L-th greatest of the map"])
    bar.ax.tick_params(labelsize=SMALL)
