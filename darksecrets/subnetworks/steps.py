"""How many models a search and its comparisons run; needs no torch, so that plans can count."""

from __future__ import annotations

TENTHS = 10


def shares_left() -> list[float]:
    """Shares of the weights that magnitude pruning leaves: 0.9, 0.8 and so on."""
    return [1 - step / TENTHS for step in range(1, TENTHS)]


def most_steps(layers: int) -> int:
    """Steps that a search tries, at most: in tenths of the heads, in twentieths, single MLPs."""
    return min(TENTHS, layers) + 2 * TENTHS + layers
