"""Lengths as in GLUE, for benchmarks without real data."""

from __future__ import annotations

import numpy as np

#: Mean and standard deviation of the logarithm of the number of word pieces, and the share of
#: examples: sentence pairs as in MRPC and RTE, single sentences as in SST-2 (measured).
LENGTHS = ((3.92, 0.28, 2 / 3), (3.06, 0.48, 1 / 3))
SHORTEST, LONGEST = 5, 128


def glue_lengths(examples: int, seed: int = 0) -> list[int]:
    """Draw numbers of tokens, sorted."""
    rng = np.random.default_rng(seed)
    means, deviations, shares = (np.array(column) for column in zip(*LENGTHS, strict=True))
    kind = rng.choice(len(LENGTHS), size=examples, p=shares)
    lengths = np.exp(rng.normal(means[kind], deviations[kind]))
    return sorted(np.clip(lengths.round(), SHORTEST, LONGEST).astype(int).tolist())
