"""Lengths as in GLUE, and attention maps like BERT's, for benchmarks without real data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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


def peaked_maps(
    length: int, layers: int, heads: int, rng: np.random.Generator
) -> npt.NDArray[np.float16]:
    """Make maps, [layer, head, query, key], of the kinds that section 4.1 describes.

    Every head mixes a diagonal, vertical stripes on the first and last token, and noise, with its
    own weights. They were chosen so that entropy, largest weights, share of tiny weights, and
    compressibility are close to those of a BERT encoder on MRPC.
    """
    shape = (layers, heads, 1, 1)
    offset = np.subtract.outer(np.arange(length), np.arange(length))
    distance = np.minimum(np.abs(offset + rng.integers(-1, 2, shape)), 4)
    stripes = np.isin(np.arange(length), (0, length - 1))
    noise = rng.normal(size=(layers, heads, length, length)) * rng.uniform(0.5, 2.5, shape)
    scores = noise - distance * rng.exponential(0.7, shape) + stripes * rng.exponential(2, shape)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16)
