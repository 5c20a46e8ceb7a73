"""Trials of the types of heads: heads whose attention is just at a type's threshold."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from adversarial.trials import NULL, ONE_END, POWER, Size, Statements, Trial
from darksecrets.beyond.redundancy.declared import TYPES
from darksecrets.beyond.redundancy.measure.head_types import THRESHOLDS, MapStatistics, Typed, types

_EXAMPLES, _LAYERS, _HEADS = 30, 3, 4


def of_heads(size: Size, folder: Path) -> Iterator[Trial]:
    """Means at the threshold, of examples that differ evenly or in one direction; and above it."""
    limits = np.array(list(THRESHOLDS.values()))[:, None, None]
    shape = _EXAMPLES, len(TYPES), _LAYERS, _HEADS
    for kind, truth, lift in (
        ("at the threshold", NULL, 0.0),
        ("at the threshold, skewed", NULL, 0.0),
        ("above the threshold by half of a standard deviation", POWER, 0.05),
    ):
        rng, made = np.random.default_rng(51), Statements()
        for draw in range(size.sweeps):
            skewed = kind.endswith("skewed")
            noise = (rng.gamma(36, size=shape) - 36) / 6 if skewed else rng.normal(size=shape)
            values = limits + lift + 0.1 * noise
            uniform = np.full((*shape[:-1], 1), 0.05)
            found = MapStatistics(np.arange(_EXAMPLES), values, uniform)
            table = types({("t", "pretrained"): Typed.of(found, 1000, draw)})
            sure = table["probability"] > 1 - ONE_END
            made.each("head_types: probability above 0.975", sure, ONE_END)
            if truth == NULL:
                never = table["probability"] < ONE_END
                made.each("head_types: probability below 0.025", never, ONE_END)
        yield from made.trials(kind, truth)
