"""Made-up heads on their way through training, of which it is known when they change."""

import numpy as np

from darksecrets.landscape.followed import STATISTICS, Followed
from darksecrets.patterns.classes import PATTERNS

STEPS = np.array([0, 2, 8, 30, 60, 90, 120])
LAYERS, HEADS = 6, 3


def made_up(
    rng: np.random.Generator,
    halfway: np.ndarray | float = 0.5,
    *,
    change: np.ndarray | float = 0.3,
    noise: float = 0.2,
    examples: int = 40,
    steps: np.ndarray = STEPS,
) -> Followed:
    """One model. Heads cover the share s^g of their way in a share s of the training.

    Args:
        rng: Source of randomness.
        halfway: [layers, heads] share of the training after which s^g is one half.
        change: [layers, heads] ‖last − first‖ / ‖first‖.
        noise: Standard deviation of the progress of a single example's map, in the middle.
        examples: Number of examples.
        steps: [snapshots] steps.
    """
    shape = (examples, LAYERS, HEADS)
    shares = (steps / steps[-1])[:, None, None]
    with np.errstate(divide="ignore"):
        mean = shares ** (np.log(0.5) / np.log(np.broadcast_to(halfway, shape[1:])))
    spread = 4 * mean * (1 - mean) * noise
    progress = mean[:, None] + spread[:, None] * rng.normal(size=(len(steps), *shape))
    first = rng.uniform(1, 3, size=(examples, 1, 1)) * np.ones(shape)
    moved = np.broadcast_to(change, shape[1:]) ** 2 * first
    to_start = 1 / np.sqrt(1 + progress**2 * moved / first)
    size = (len(steps), *shape)
    return Followed(
        idx=np.arange(examples),
        steps=steps,
        to_start=to_start,
        to_end=to_start[::-1],
        along=progress * moved,
        first=first,
        values=rng.uniform(size=(len(steps), len(STATISTICS), *shape)),
        patterns=rng.integers(len(PATTERNS), size=size).astype(np.int8),
        weights=steps / steps[-1],
    )
