"""Points at which a loss surface is computed. This module does not need torch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darksecrets.run.errors import InputError

Floats = npt.NDArray[np.float64]

LEAST = 5
"""Points of an axis, at least."""


def check_grid(points: int) -> None:
    """Check that a grid has a middle, where the fine-tuned model is.

    Raises:
        InputError: It has an even number of points.
    """
    if points % 2 == 0:
        raise InputError(
            f"landscape.surface.grid: found {points}, expected an odd number, so that the "
            f"fine-tuned model is a point of the grid. Set {points - 1} or {points + 1}."
        )


def between(points: int) -> Floats:
    """Evenly spaced shares that include 0 and 1, and go beyond both by about a sixth."""
    beyond = max(1, round((points - 1) / 7))
    inner = points - 1 - 2 * beyond
    return (np.arange(points) - beyond) / inner


def around(points: int, radius: float) -> Floats:
    """Evenly spaced points from −radius to radius; the middle one is 0."""
    half = (points - 1) // 2
    return radius * (np.arange(points) - half) / half


def along(points: int) -> Floats:
    """Evenly spaced shares from −0.5 to 1.5, twice as dense as `around`; 0 and 1 are among them."""
    half = points - 1
    return (np.arange(2 * half + 1) - half // 2) / half
