"""Pictures of the labelling page: the map to label, and a schematic example of every class."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from darksecrets.plotting.attention_map import draw_map, saturation
from darksecrets.plotting.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]

_WIDTH, _RESOLUTION = 5.2, 220
"""Width of a map in inches, and its pixels per inch: twice those of the page, for sharp text."""

# [CLS] and two sentences of four words, each with its [SEP].
_FIRST, _SECOND = slice(1, 6), slice(6, 11)
_LENGTH = 11

_drawing = threading.Lock()  # matplotlib's settings are global


def picture_of_map(weights: npt.NDArray[np.float16], tokens: Sequence[str]) -> bytes:
    """Draw a map with its tokens, as PNG.

    Args:
        weights: [query, key].
        tokens: [L] word pieces.
    """
    values = weights.astype(np.float32)
    return _png(lambda axes: draw_map(axes, values, tokens, saturation(values)), _WIDTH)


@functools.cache
def picture_of_example(pattern: str) -> bytes:
    """Draw the schematic example of a class, without tokens, as PNG."""
    weights = example(pattern)
    return _png(lambda axes: draw_map(axes, weights, [""] * _LENGTH, saturation(weights)), 1.0)


def example(pattern: str) -> Array:
    """A synthetic map that illustrates a class, [query, key]."""
    weights = np.full((_LENGTH, _LENGTH), 0.02)
    if pattern in ("vertical", "vertical+diagonal"):
        weights[:, [5, 10]] += [0.5, 0.9] if pattern == "vertical" else [0.0, 0.9]
    if pattern in ("diagonal", "vertical+diagonal"):
        weights += np.eye(_LENGTH, k=-1) + 0.15 * np.eye(_LENGTH)
        weights[0, 0] += 1
    if pattern == "block":
        for sentence in (_FIRST, _SECOND):
            weights[sentence, sentence] += 0.4
        weights[0, 0] += 1
    if pattern == "heterogeneous":
        rng = np.random.default_rng(5)
        weights += rng.gamma(0.25, size=weights.shape)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _png(draw: Callable[[Axes], object], width: float) -> bytes:
    """Draw a square of ``width`` inches; labels outside it enlarge the picture."""
    with _drawing, style():
        figure = Figure(figsize=(width, width))
        draw(figure.add_axes((0, 0, 1, 1)))
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_RESOLUTION, bbox_inches="tight", pad_inches=0.03)
    return buffer.getvalue()
