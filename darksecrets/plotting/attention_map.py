"""One self-attention map with its tokens (Figures 1, 3): rows attend, columns are attended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from darksecrets.plotting.style import MAP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_LARGEST, _SMALLEST = 7.0, 2.5
"""Sizes of the tokens' letters in points: as large as fits, within these."""


def saturation(weights: npt.NDArray[np.floating]) -> float:
    """The weight drawn darkest: the L-th greatest of an [L, L] map.

    A full column or a full diagonal of L equal weights is then as dark as can be, and a few large
    weights do not make all others invisible.
    """
    cells = np.sort(weights, axis=None)
    return float(cells[-len(weights)])


def draw_map(
    axes: Axes, weights: npt.NDArray[np.floating], tokens: Sequence[str], darkest: float
) -> AxesImage:
    """Draw a map, darker = more attention.

    Args:
        axes: Where to draw; its size in inches decides the size of the letters.
        weights: [query, key] weights, rows sum to 1.
        tokens: [L] word pieces, written along both axes.
        darkest: The weight at the dark end of the colour map, see `saturation`.
    """
    image = axes.imshow(
        weights.astype(np.float32), cmap=MAP, vmin=0, vmax=darkest, interpolation="nearest"
    )
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    size = float(np.clip(0.8 * height / len(tokens), _SMALLEST, _LARGEST))
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=size)
    axes.set_yticks(range(len(tokens)), tokens, fontsize=size)
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(True)
    return image
