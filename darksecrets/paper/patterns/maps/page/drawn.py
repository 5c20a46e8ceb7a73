"""What the labelling page draws: the map to label, and a schematic example of every class."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from darksecrets.core.arrays import Floats, Reals
from darksecrets.core.plotting.attention_map import saturation
from darksecrets.core.plotting.colours import MAP
from darksecrets.paper.patterns.classes import kinds

# [CLS] and two sentences of four words, each with its [SEP].
_FIRST, _SECOND = slice(1, 6), slice(6, 11)
_LENGTH = 11


def drawn(weights: Reals, tokens: Sequence[str], segments: str, special: str) -> dict[str, Any]:
    """A map as the page draws it.

    Args:
        weights: [query, key].
        tokens: [L] word pieces.
        segments: A digit per token, the sentence.
        special: A digit per token, 1 for special tokens.

    Returns:
        ``levels``, see `levels`; ``tokens``; ``kinds``, a letter per token; and ``second``, the
        place where the second sentence starts, -1 if there is none.
    """
    return {
        "levels": levels(weights),
        "tokens": list(tokens),
        "kinds": kinds(tokens, special),
        "second": segments.find("1"),
    }


def levels(weights: Reals) -> str:
    """The place of every cell, row by row, in the colours: a byte each, in base 64.

    The scale is that of all drawings of maps, see `core.plotting.attention_map.saturation`.
    """
    values = weights.astype(np.float64)
    shares = np.clip(values / saturation(values), 0, 1)
    return base64.b64encode(np.rint(255 * shares).astype(np.uint8).tobytes()).decode()


def colours() -> str:
    """The colours of maps from pale to dark: 256 times red, green and blue, in base 64."""
    import matplotlib

    shades = matplotlib.colormaps[MAP](np.arange(256), bytes=True)[:, :3]
    return base64.b64encode(shades.tobytes()).decode()


def example(pattern: str) -> Floats:
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
