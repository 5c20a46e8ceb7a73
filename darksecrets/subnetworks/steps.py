"""How many models a search and its comparisons run; needs no torch, so that plans can count."""

from __future__ import annotations

TENTHS = 10


def most_steps(layers: int) -> int:
    """Steps that a search tries, at most: in tenths of the heads, in twentieths, single MLPs."""
    return min(TENTHS, layers) + 2 * TENTHS + layers
