"""One self-attention map with its tokens (Figures 1, 3): rows are queries, columns are keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from darksecrets.plotting.style import MAP
from darksecrets.plotting.user_text import as_written, drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_LARGEST, _SMALLEST = 7.0, 2.5
"""Limits of the tokens' font size in points; within them, as large as fits."""


def saturation(weights: npt.NDArray[np.floating]) -> float:
    """The weight at the dark end of the colour map: the L-th greatest of an [L, L] map.

    A full column or diagonal of L equal weights is then drawn darkest, and a few large weights do
    not make all others invisible.
    """
    cells = np.sort(weights, axis=None)
    return float(cells[-len(weights)])


def draw_map(
    axes: Axes, weights: npt.NDArray[np.floating], tokens: Sequence[str], darkest: float
) -> AxesImage:
    """Draw a map, darker = more attention.

    Args:
        axes: Where to draw; its size determines the font size.
        weights: [query, key] weights, rows sum to 1.
        tokens: [L] word pieces, written along both axes.
        darkest: The weight at the dark end of the colour map, see `saturation`.
    """
    image = axes.imshow(
        weights.astype(np.float32), cmap=MAP, vmin=0, vmax=darkest, interpolation="nearest"
    )
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    size = float(np.clip(0.8 * height / len(tokens), _SMALLEST, _LARGEST))
    names = [drawable(token) for token in tokens]
    axes.set_xticks(range(len(tokens)), names, rotation=90, fontsize=size)
    axes.set_yticks(range(len(tokens)), names, fontsize=size)
    as_written([*axes.get_xticklabels(), *axes.get_yticklabels()])
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(True)
    return image
