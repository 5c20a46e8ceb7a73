"""One self-attention map with its tokens (Figures 1, 3): rows are queries, columns are keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from darksecrets.core.plotting.colours import MAP
from darksecrets.core.plotting.style import SIZE, ticks
from darksecrets.core.plotting.user_text import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

PALE = 4.0
"""How many times uniform attention the dark end of a figure's colour map is at least."""
HALF = 0.44
"""Half of a small map's side, where 1 is the distance between two of them."""
SPACES = "▁Ġ"
"""What tokenizers other than BERT's write for the space before a word."""
_LINE = 1.05
"""Least distance between the middles of two tokens, relative to their size."""


def saturation(weights: npt.NDArray[np.floating]) -> float:
    """The weight at the dark end of the colour map: the L-th greatest of an [L, L] map.

    A full column or diagonal of L equal weights is then drawn darkest, and a few large weights do
    not make all others invisible.
    """
    cells = np.sort(weights, axis=None)
    return float(cells[-len(weights)])


def darkest(weights: npt.NDArray[np.floating]) -> float:
    """The weight at the dark end of a figure's colour map: `saturation`, or more.

    It is at least `PALE` times uniform attention, so that a nearly uniform map is pale.
    """
    return max(saturation(weights), PALE / len(weights))


def draw_map(
    axes: Axes,
    weights: npt.NDArray[np.floating],
    tokens: Sequence[str],
    darkest: float,
    letters: int | None = None,
) -> AxesImage:
    """Draw a map, darker = more attention.

    Args:
        axes: Where to draw; its size determines how many tokens are written.
        weights: [query, key] weights, rows sum to 1.
        tokens: [L] word pieces, written along both axes; see `written`.
        darkest: The weight at the dark end of the colour map, see `saturation`.
        letters: Letters of the longest token that is written in full; all tokens are if None.
    """
    image = axes.imshow(
        weights.astype(np.float32), cmap=MAP, vmin=0, vmax=darkest, interpolation="nearest"
    )
    box = axes.get_window_extent()
    cell = min(box.width, box.height) / axes.figure.dpi * 72 / len(tokens)
    places = written(weights, apart=math.ceil(_LINE * SIZE / cell))
    read = [tokens[place].lstrip(SPACES) or tokens[place] for place in places]
    names = [_shortened(drawable(token), letters) for token in read]
    axes.set_xticks(places, names, rotation=90, fontsize=SIZE)
    axes.set_yticks(places, names, fontsize=SIZE)
    axes.tick_params(length=0 if len(places) == len(tokens) else 1.5, pad=1)
    axes.spines[:].set_visible(True)
    return image


def draw_small_maps(axes: Axes, maps: npt.NDArray[np.floating]) -> None:
    """Draw the maps of all heads, small; layers from the top, heads from the left, both from 1.

    Args:
        axes: Where to draw.
        maps: [layer, head, query, key]; the scale of each map ends at `darkest`.
    """
    layers, heads = maps.shape[:2]
    for layer, head in np.ndindex(layers, heads):
        weights = maps[layer, head].astype(np.float32)
        middle = np.array([head + 1.0, layer + 1.0])
        (left, top), (right, bottom) = middle - HALF, middle + HALF
        axes.imshow(
            weights,
            cmap=MAP,
            vmin=0,
            vmax=darkest(weights),
            interpolation="nearest",
            extent=(left, right, bottom, top),
        )
    axes.set(xlim=(0.5, heads + 0.5), ylim=(layers + 0.5, 0.5))
    axes.set(xticks=ticks(heads, 16), yticks=ticks(layers, 24))


def _shortened(token: str, letters: int | None) -> str:
    """A token, or its beginning if it is too long."""
    if letters is None or len(token) <= letters:
        return token
    return f"{token[: letters - 1]}…"


def written(weights: npt.NDArray[np.floating], apart: int) -> list[int]:
    """Places of the tokens to write, from 0, any two of them at least ``apart``.

    All tokens if ``apart`` is 1; else those that get most attention, as far as there is room.

    Args:
        weights: [query, key] weights.
        apart: Least distance between two tokens.
    """
    chosen: list[int] = []
    for place in np.argsort(-weights.astype(np.float64).sum(axis=0), kind="stable").tolist():
        if all(abs(place - other) >= apart for other in chosen):
            chosen.append(place)
    return sorted(chosen)
