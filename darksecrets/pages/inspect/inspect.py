"""A look at text: all heads on each example, some maps with their tokens, statistics of heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.patches import Patch, Rectangle

from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.plotting import kit
from darksecrets.core.plotting.user_text import lines
from darksecrets.pages.inspect.tables import EXAMPLES, SHOWN
from darksecrets.paper.features.tables import ENTROPIES, HEAD_STATISTICS, SHARES, STATISTICS
from darksecrets.paper.patterns.tables import PATTERN_MAPS

Maps = npt.NDArray[np.floating]

_TOKEN = 0.12
"""Inches along the axes of a large map for each token."""
_SMALLEST, _LARGEST = 2.0, 10.0
"""Inches of a large map's side, unless there are so many maps that they must be smaller."""
_AREA = 500.0
"""Square inches of all large maps of an example."""
_BAR = kit.Bar("Attention weight (darker = greater)", below=True, finish=kit.name_ends)


def draw(sources: kit.Sources) -> dict[str, kit.Figure]:
    """Draw all figures: ``statistics``; ``heads-<n>`` and ``maps-<n>`` of the n-th example."""
    examples = sources.table(EXAMPLES).set_index("idx")
    shown, patterns = sources.table(SHOWN), sources.table(PATTERN_MAPS)
    store = AttentionStore.open(sources.file("store"))
    rows = {int(idx): row for row, idx in enumerate(store.idx)}
    figures = {"statistics": statistics_figure(sources, sources.table(HEAD_STATISTICS))}
    for idx in sorted(set(shown["idx"].tolist())):
        row, example, large = rows[idx], examples.loc[idx], shown[shown["idx"] == idx]
        maps, tokens = store.maps(row), store.tokens(row)
        sentences = [text for text in (example["sentence1"], example["sentence2"]) if text]
        cut = f" · {example['cut']} tokens at the end are cut off" if example["cut"] else ""
        own = replace(sources, label=sources.label + cut)
        example_patterns = patterns[patterns["idx"] == idx]
        figures[f"heads-{idx + 1}"] = heads_figure(own, maps, example_patterns, sentences)
        figures[f"maps-{idx + 1}"] = maps_figure(own, maps, large, tokens, sentences)
    return figures


def heads_figure(
    sources: kit.Sources, maps: Maps, patterns: pd.DataFrame, sentences: Sequence[str]
) -> kit.Figure:
    """Draw every head's map of an example, small, in a frame of its pattern's colour.

    Rows of a map are queries, columns are keys; its scale ends at its L-th greatest weight.

    Args:
        sources: For the label.
        maps: [layer, head, query, key].
        patterns: ``layer``, ``head`` (from 1) and ``pattern`` of every map.
        sentences: The sentences of the example, for the title.
    """
    layers, heads = maps.shape[:2]

    def small(axes: kit.Axes, _: str) -> kit.ScalarMappable:
        kit.draw_small_maps(axes, maps)
        for row in patterns.to_dict("records"):
            corner = (row["head"] - kit.HALF, row["layer"] - kit.HALF)
            frame: dict[str, Any] = {
                "fill": False,
                "ec": kit.PATTERNS[row["pattern"]],
                "linewidth": 1.2,
            }
            axes.add_patch(Rectangle(corner, 2 * kit.HALF, 2 * kit.HALF, **frame))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        return kit.ScalarMappable(cmap=kit.MAP)

    counts = patterns["pattern"].value_counts()
    legend = {
        f"{name} ({counts.get(name, 0)})": Patch(fill=False, ec=colour, linewidth=1.2)
        for name, colour in kit.PATTERNS.items()
    }
    height = kit.PAGE / max(heads, 6) * layers + 0.3
    panels = kit.Panel(small, "heads", x="Head", y="Layer", height=height, fixed=True, bar=_BAR)
    note = " · a map's rows attend to its columns"
    grids, headline = kit.Grid([""], panels), _headline(sentences, kit.PAGE)
    return kit.page(sources, headline, grids, legend=legend, width=kit.PAGE, note=note)


def maps_figure(
    sources: kit.Sources,
    maps: Maps,
    shown: pd.DataFrame,
    tokens: Sequence[str],
    sentences: Sequence[str],
) -> kit.Figure:
    """Draw some maps of an example large, with tokens along both axes.

    Args:
        sources: For the label.
        maps: [layer, head, query, key].
        shown: A row per map to draw: ``layer``, ``head`` (from 1), ``pattern``, ``probability``.
        tokens: [L] the tokens.
        sentences: The sentences of the example, for the title.
    """
    _, across, width, side = layout(len(shown), len(tokens))
    rows = {f"{row['layer']} {row['head']}": row for row in shown.to_dict("records")}

    def large(axes: kit.Axes, name: str) -> kit.ScalarMappable:
        weights = maps[rows[name]["layer"] - 1, rows[name]["head"] - 1]
        kit.draw_map(axes, weights, tokens, kit.darkest(weights))
        return kit.ScalarMappable(cmap=kit.MAP)

    def title(name: str) -> str:
        row = rows[name]
        what = f"{row['pattern']} ({row['probability']:.0%} certain)"
        return f"Layer {row['layer']}, head {row['head']}\n{what}"

    height = side + 0.6
    panel = kit.Panel(large, x="attended to", y="attends", height=height, fixed=True, bar=_BAR)
    grids = kit.Grid(list(rows), panel, most=across, title=title)
    return kit.page(sources, _headline(sentences, width), grids, width=width)


def layout(maps: int, tokens: int) -> tuple[int, int, float, float]:
    """Rows and columns of large maps of so many tokens; width of the figure, side of a map."""
    side = min(max(_TOKEN * tokens, _SMALLEST), _LARGEST, math.sqrt(_AREA / maps))
    across = min(maps, max(3 if 3 * side <= kit.PAGE else 2, math.ceil(math.sqrt(maps / 2))))
    return math.ceil(maps / across), across, max(3.4, across * (side + 0.6)), side


def statistics_figure(sources: kit.Sources, table: pd.DataFrame) -> kit.Figure:
    """Draw where each head's attention goes, mean over the examples: a heatmap per statistic.

    Args:
        sources: For the label.
        table: ``task`` (only one), ``statistic``, ``layer``, ``head`` (from 1), ``value``. Text
            that was not parsed has no ``punctuation``; only encoders with local attention have
            ``greatest entropy``. Shares have one scale, and entropies another.
    """
    parts = {kind: table[table["statistic"] == kind] for kind in STATISTICS}
    values = {kind: kit.grid(rows, "value") for kind, rows in parts.items() if len(rows)}

    limits = {
        kind: kit.largest(*(values[each] for each in group if each in values))
        for group in (SHARES, ENTROPIES)
        for kind in group
    }

    def heads(axes: kit.Axes, _: str, kind: str) -> kit.QuadMesh:
        return kit.matrix(axes, values[kind], kit.WEIGHT, limits[kind], 0)

    panels = []
    for group, bar in ((SHARES, kit.Bar("Share")), (ENTROPIES, kit.Bar("nats"))):
        names = {
            kind: kind if "[" in kind else kind.capitalize() for kind in group if kind in values
        }
        look: dict[str, Any] = {"height": 1.0, "bar": bar}
        panels += kit.rows(heads, names, "Head" if group is ENTROPIES else "", "{}\nLayer", **look)
    note = "" if "punctuation" in values else " · punctuation unknown: the text was not parsed"
    headline, grids = "Where the attention of heads goes", kit.Grid([""], panels)
    return kit.page(sources, headline, grids, note=f" · darker = greater{note}")


def _headline(sentences: Sequence[str], width: float) -> str:
    """The sentences above a figure of this width; the rest of long ones is on the axes."""
    letters = int(width * 72 / (0.66 * 7))
    return "\n".join(line for sentence in sentences for line in lines(sentence, letters))
