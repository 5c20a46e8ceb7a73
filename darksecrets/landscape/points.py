"""Points of interpolations. This module does not need torch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from darksecrets.run.errors import InputError


def check_points(points: Sequence[float]) -> None:
    """Check that points of interpolations ascend from 0 to 1.

    Raises:
        InputError: The points do not ascend from 0 to 1.
    """
    ascending = all(one < other for one, other in itertools.pairwise(points))
    if not ascending or list(points[:1]) != [0] or list(points[-1:]) != [1]:
        raise InputError(
            f"landscape.points: found {list(points)}, expected ascending numbers from 0, what "
            "fine-tuning began with, to 1, what it made, such as [0, 0.5, 1]."
        )
