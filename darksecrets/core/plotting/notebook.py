"""Maps of attention for a notebook, which shows the figure that a cell ends with."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from darksecrets.core.plotting.attention_map import darkest, draw_map, draw_small_maps
from darksecrets.core.plotting.style import HEADLINE, SIZE, style
from darksecrets.core.plotting.user_text import as_written
from darksecrets.core.run.errors import InputError

_TOKEN, _LEAST, _MOST = 0.16, 2.4, 9.0
"""Inches for each token of a map, and of the smallest and largest map."""
_HEAD = 0.75
"""Inches for each head, where all are drawn."""


class NotebookFigure(Figure):
    """A figure that a notebook shows without any setting."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with style():
            self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()


def plot_map(weights: npt.ArrayLike, tokens: Sequence[str] = (), title: str = "") -> Figure:
    """Draw one map; rows attend to columns, darker is more.

    Args:
        weights: [query, key] weights, an array or a tensor; rows sum to 1.
        tokens: [L] word pieces; without any, places are numbered from 1.
        title: What is drawn.

    Raises:
        InputError: The weights are no square, or tokens are more or fewer.
    """
    cells = np.asarray(weights, dtype=np.float32)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise InputError(f"weights have the shape {cells.shape}; one map is [query, key].")
    names = list(tokens) or [str(place) for place in range(1, len(cells) + 1)]
    if len(names) != len(cells):
        raise InputError(f"{len(names)} tokens for a map of {len(cells)}.")
    side = min(max(_TOKEN * len(cells), _LEAST), _MOST)
    with style():
        figure = NotebookFigure(figsize=(side + 0.8, side + 0.9), layout="constrained")
        axes = figure.add_subplot()
        draw_map(axes, cells, names, darkest(cells))
        axes.set_title(title, fontsize=HEADLINE)
        axes.set_xlabel("is attended to", fontsize=SIZE)
        axes.set_ylabel("attends", fontsize=SIZE)
        as_written(figure)
    return figure


def all_heads_figure(maps: npt.NDArray[np.floating], title: str) -> Figure:
    """Draw the maps of all heads, small; layers from the top, heads from the left.

    Args:
        maps: [layer, head, query, key].
        title: What is drawn.
    """
    layers, heads = maps.shape[:2]
    with style():
        figure = NotebookFigure(
            figsize=(_HEAD * heads + 0.6, _HEAD * layers + 0.8), layout="constrained"
        )
        axes = figure.add_subplot()
        draw_small_maps(axes, maps)
        axes.set(xlabel="Head", ylabel="Layer")
        axes.set_title(title, fontsize=HEADLINE, wrap=True)
        as_written(figure)
    return figure
