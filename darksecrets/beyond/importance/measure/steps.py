"""What takes passes of a model; needs no torch, so that plans can count."""

from __future__ import annotations

STEPS = 10
"""Of these equal steps all but the last remove heads together; then one is removed at a time."""


def pruning_counts(total: int) -> list[int]:
    """Numbers of removed heads at which a model is scored, ascending."""
    steps = [round(total * step / STEPS) for step in range(1, STEPS)]
    return sorted({*(step for step in steps if step), *range(steps[-1] + 1, total + 1)})
