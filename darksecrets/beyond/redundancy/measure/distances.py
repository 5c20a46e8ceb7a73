"""How redundant heads are: the distance between the attention of every two of them (section 5).

The distance is that of Clark et al. (2019, section 6): the Jensen–Shannon divergence between the
attention of two heads, from the same token. Here it is a mean over the tokens of an example, and
then over examples, in nats: 0 for equal heads, ln 2 for heads that never attend to the same
token.

Its time grows with the square of the number of heads, so it is measured on a sample of the
examples, the same for all models of a task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy import declared
from darksecrets.core.arrays import Floats, Integers, Singles
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.errors import InputError

WORK = 2 * 10**10
"""Most cells of maps to compare, over all pairs of heads: about half a minute of a CPU core."""


_TINY = np.float32(1e-30)  # in place of 0, whose logarithm is infinite


@dataclass(frozen=True)
class Distances:
    """Distances between the heads of one model; heads are numbered from 0, layer by layer.

    Attributes:
        shape: Numbers of layers and of heads per layer.
        idx: [examples] numbers of the sampled examples in the data set.
        pairs: [examples, pairs] distance of every two heads, in the order of `numpy.triu_indices`.
        other_text: [examples] mean over the heads of the distance between a head's map and its map
            of another example with as many tokens; NaN if there is none.
        uniform: [examples] mean over the heads of the distance from uniform attention.
    """

    shape: tuple[int, int]
    idx: Integers
    pairs: Floats
    other_text: Floats
    uniform: Floats

    @classmethod
    def measure(cls, store: AttentionStore, seed: int, work: float = WORK) -> Distances:
        """Measure the distances on a random sample of a store's examples.

        Args:
            store: The maps of one model.
            seed: Seed of the sample.
            work: Most cells of maps to compare, over all pairs of heads and examples; at least two
                examples are taken.

        Raises:
            InputError: The model has one head.
        """
        heads = store.layers * store.heads
        if heads == 1:
            raise InputError(
                f"{store.folder}: this encoder has one head, so there are no distances between "
                "heads. Run only targets without the redundancy of heads."
            )
        chosen = sample(store.lengths, work / math.comb(heads, 2), seed)
        pairs = np.empty((len(chosen), math.comb(heads, 2)))
        other_text, uniform = np.full((2, len(chosen)), np.nan)
        for number, example in enumerate(chosen):
            maps = _weights(store, example)
            length = maps.shape[-1]
            pairs[number] = np.concatenate(list(_pair_divergences(maps)))
            flat = np.repeat(store.uniform(length), store.heads, axis=0)
            uniform[number] = divergence(maps, np.maximum(flat, _TINY)).mean()
            other = _next_of_equal_length(store.lengths, example)
            if other is not None:
                other_text[number] = divergence(maps, _weights(store, other)).mean()
        shape = store.layers, store.heads
        return cls(shape, store.idx[chosen], np.maximum(pairs, 0), other_text, uniform)

    def table(self) -> pd.DataFrame:
        """The mean distance of every two heads.

        Returns:
            Columns ``layer_a``, ``head_a``, ``layer_b``, ``head_b`` (from 1) and ``distance``.
        """
        first, second = np.triu_indices(math.prod(self.shape), 1)
        (layer_a, head_a), (layer_b, head_b) = (
            np.divmod(heads, self.shape[1]) for heads in (first, second)
        )
        return pd.DataFrame(
            {
                "layer_a": layer_a + 1,
                "head_a": head_a + 1,
                "layer_b": layer_b + 1,
                "head_b": head_b + 1,
                "distance": self.pairs.mean(axis=0),
            }
        )

    def mean_by_example(self) -> pd.DataFrame:
        """Mean distance of every kind of pairs, example by example.

        Returns:
            Columns ``idx``, ``pairs`` (the kind) and ``distance``.
        """
        first, second = np.triu_indices(math.prod(self.shape), 1)
        same = first // self.shape[1] == second // self.shape[1]
        kinds = {
            declared.ALL_PAIRS: _mean(self.pairs),
            declared.SAME_LAYER: _mean(self.pairs[:, same]),
            declared.DIFFERENT_LAYERS: _mean(self.pairs[:, ~same]),
            declared.NEAREST: self._nearest(),
            declared.OTHER_TEXT: self.other_text,
            declared.UNIFORM: self.uniform,
        }
        parts = [
            pd.DataFrame({"idx": self.idx, "pairs": kind, "distance": distances})
            for kind, distances in kinds.items()
        ]
        return pd.concat(parts, ignore_index=True)

    def _nearest(self) -> Floats:
        """[examples] mean distance between every head and its nearest.

        The nearest head is the one that is nearest on the other half of the examples, since the
        least of many distances is too small on the examples that it is the least of.
        """
        examples, heads = len(self.pairs), math.prod(self.shape)
        if examples == 1:
            return np.full(examples, np.nan)
        number = np.zeros((heads, heads), dtype=np.int64)
        upper = np.triu_indices(heads, 1)
        number[upper] = number.T[upper] = np.arange(self.pairs.shape[1])
        distances, half = np.empty(examples), np.arange(examples) % 2 == 0
        for choosing, scoring in ((half, ~half), (~half, half)):
            means = self.pairs[choosing].mean(axis=0)[number]
            np.fill_diagonal(means, np.inf)
            nearest = number[np.arange(heads), means.argmin(axis=1)]
            distances[scoring] = self.pairs[scoring][:, nearest].mean(axis=1)
        return distances


def sample(lengths: Integers, cells: float, seed: int) -> Integers:
    """Draw examples whose maps have at most so many cells together, but at least two examples.

    Args:
        lengths: [examples] tokens of each example.
        cells: Most cells of a head's maps, the sum of the squared lengths.
        seed: Seed of the draw.

    Returns:
        Numbers of the examples, in the order in which they were drawn.
    """
    order = np.random.default_rng(seed).permutation(len(lengths))
    taken = int((np.cumsum(lengths[order] ** 2) <= cells).sum())
    return order[: max(2, taken)]


def divergence(first: Singles, second: Singles) -> Floats:
    """Mean Jensen–Shannon divergence in nats between the rows of maps.

    Args:
        first: [..., query, key] weights above 0; rows sum to 1.
        second: Likewise.

    Returns:
        [...], at least 0 up to rounding (about 1e-6).
    """
    length = first.shape[-1]
    flat = [maps.reshape(*maps.shape[:-2], -1) for maps in (first, second)]
    own = sum(np.vecdot(maps, np.log(maps)) for maps in flat)
    both = flat[0] + flat[1]
    return _divergences(own, np.vecdot(both, np.log(both)), length)


def _pair_divergences(maps: Singles) -> Iterator[Floats]:
    """Divergences of every head, [heads, query, key], from all heads after it."""
    heads, length = maps.shape[:2]
    flat = maps.reshape(heads, -1)
    own = np.vecdot(flat, np.log(flat))
    sums, logarithms = np.empty((2, *flat.shape), dtype=np.float32)
    for head in range(heads):
        rest = heads - head - 1
        both = np.add(flat[head + 1 :], flat[head], out=sums[:rest])
        cross = np.vecdot(both, np.log(both, out=logarithms[:rest]))
        yield _divergences(own[head] + own[head + 1 :], cross, length)


def _divergences(own: Singles, both: Singles, length: int) -> Floats:
    """Mean over queries of the divergences, from sums of w ln w.

    Args:
        own: Sums over two maps' weights.
        both: Sums over the weights of the sum of the maps, w = p + q.
        length: Number of queries, each of which has weights that sum to 1.
    """
    return (own.astype(np.float64) - both) / (2 * length) + math.log(2)


def _weights(store: AttentionStore, example: int) -> Singles:
    """[heads of all layers, query, key] maps of an example, above 0; rows sum to 1."""
    maps = store.maps(example).astype(np.float32)
    maps = maps.reshape(-1, *maps.shape[-2:])
    maps /= maps.sum(axis=-1, keepdims=True)
    return np.maximum(maps, _TINY, out=maps)


def _next_of_equal_length(lengths: Integers, example: int) -> int | None:
    """The next example with as many tokens; after the last of them, the first."""
    (equal,) = np.nonzero(lengths == lengths[example])
    following = int(equal[(np.searchsorted(equal, example) + 1) % len(equal)])
    return None if following == example else following


def _mean(distances: Floats) -> Floats:
    """[examples] mean over pairs; NaN if there are none."""
    if not distances.size:
        return np.full(len(distances), np.nan)
    return np.asarray(distances.mean(axis=1))
