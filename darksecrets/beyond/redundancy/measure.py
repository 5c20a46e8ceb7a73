"""Types of heads, and distances between them, from the maps of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy import declared
from darksecrets.core.arrays import Flags, Floats, Integers, Singles
from darksecrets.core.attention.store import AttentionStore, Maps
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import identify
from darksecrets.core.stats.paired import FEWEST
from darksecrets.core.stats.resampling import interval, resampled_means, widened
from darksecrets.paper.features import example_store
from darksecrets.paper.features.batches import batches, uniform_batch
from darksecrets.paper.features.tables import STATISTICS
from darksecrets.paper.features.tokens import Tokens

# Types of heads after Clark et al. (2019, sections 3 and 6): what gets most of their attention.
#
# A head is of a type if a mean over the queries of an example, and then over examples, is above a
# threshold. The thresholds are those of the released code. That of broad attention is an entropy of
# 3.8 nats, for texts of at most 128 tokens; uniform attention in a text of 44 tokens has no more.
# So there is a type that does not depend on lengths, too: the entropy is divided by the greatest
# that the text allows, and so is the threshold.

BESIDE, SPECIAL = 0.5, 0.6
"""Share of attention to the next or previous token, and to [CLS], [SEP] or punctuation."""
ENTROPY, LONGEST = 3.8, 128
"""Entropy of broad attention in nats, and the number of tokens of the texts of Clark et al."""

THRESHOLDS = dict(
    zip(
        declared.TYPES,
        (BESIDE, BESIDE, ENTROPY, ENTROPY / math.log(LONGEST), SPECIAL, SPECIAL, SPECIAL),
        strict=True,
    )
)


@dataclass(frozen=True)
class MapStatistics:
    """What decides the types of a model's heads, example by example.

    Attributes:
        idx: [examples] the data set's number of each example.
        values: [examples, types, layers, heads] in the order of `TYPES`.
        uniform: [examples, types, layers, 1] the same under uniform attention.
    """

    idx: Integers
    values: Floats
    uniform: Floats

    @classmethod
    def of(cls, idx: list[int], statistics: Floats, uniform: Floats) -> MapStatistics:
        """Choose what decides the types of a batch of examples.

        Args:
            idx: Their numbers.
            statistics: [example, statistic, layer, head] see `batches.statistics_of`.
            uniform: The same under uniform attention; one head, and one layer if all are alike.
        """
        number, shape = STATISTICS.index("entropy"), (*statistics.shape[:-1], 1)
        uniform = np.broadcast_to(uniform, shape)  # short texts have no local layers
        type_rows = []
        for values in (statistics, uniform):
            named = dict(zip(STATISTICS, np.moveaxis(values, 1, 0), strict=False))
            named[declared.BROAD] = values[:, number]
            named[declared.BROAD_FOR_LENGTH] = values[:, number] / uniform[:, number]
            type_rows.append(np.stack([named[name] for name in declared.TYPES], axis=1))
        return cls(np.array(idx), *type_rows)

    @classmethod
    def joined(cls, parts: Sequence[MapStatistics]) -> MapStatistics:
        """The examples of all parts, in their order."""
        return cls(
            np.concatenate([part.idx for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.uniform for part in parts]),
        )

    def save(self, path: Path) -> None:
        """See `example_store.write`."""
        example_store.write(path, vars(self))

    @classmethod
    def load(cls, path: Path) -> MapStatistics:
        """See `example_store.read`."""
        names = ("idx", "values", "uniform")
        found = example_store.read(path, "statistics of maps", "measure_redundancy", *names)
        return cls(*(found[name] for name in names))


@dataclass(frozen=True)
class Typed:
    """The types of a model's heads.

    Attributes:
        examples: Number of examples.
        mean: [types, layers, heads] means over examples.
        uniform: The same under uniform attention.
        ends: [2, types, layers, heads] intervals of the means; NaN with fewer than 6 examples.
        drawn: [resamples, types, layers, heads] whether a head is of a type in bootstrap samples.
    """

    examples: int
    mean: Floats
    uniform: Floats
    ends: Floats
    drawn: Flags

    @classmethod
    def of(cls, found: MapStatistics, resamples: int, seed: int) -> Typed:
        """Draw the bootstrap samples; all heads share them.

        Args:
            found: The statistics of the model's maps.
            resamples: Number of samples.
            seed: Seed of the samples.
        """
        mean, examples = found.values.mean(axis=0), len(found.values)
        rng = np.random.default_rng(seed)
        means = resampled_means(found.values.reshape(examples, -1), resamples, rng)
        drawn = widened(means.reshape(-1, *mean.shape), mean, np.array(examples))
        uniform = np.broadcast_to(found.uniform.mean(axis=0), mean.shape)
        ends = (
            np.maximum(interval(drawn), 0)
            if examples >= FEWEST
            else np.full((2, *mean.shape), np.nan)
        )
        return cls(examples, mean, uniform, ends, exceed_thresholds(drawn))

    @property
    def is_of_type(self) -> Flags:
        """[types, layers, heads] whether a head is of a type."""
        return exceed_thresholds(self.mean)

    @property
    def main(self) -> Integers:
        """[layers, heads] number of the main type of a head in `MAIN_TYPES`."""
        exclusive = self.is_of_type[
            [declared.TYPES.index(name) for name in declared.MAIN_TYPES[:-1]]
        ]
        last = len(exclusive) - 1 - exclusive[::-1].argmax(axis=0)
        return np.where(exclusive.any(axis=0), last, len(exclusive))


def exceed_thresholds(values: Floats) -> Flags:
    """[..., types, layers, heads] whether means are above the thresholds of their types."""
    thresholds = np.array(list(THRESHOLDS.values()))
    return values > thresholds[:, None, None]


Models = Mapping[tuple[str, str], Typed]
"""By task and model, such as ``pretrained`` or ``finetuned/seed-1``."""


def types(models: Models) -> pd.DataFrame:
    """The table `head_types`."""
    parts = [identify(_types(found), *name) for name, found in models.items()]
    return pd.concat(parts, ignore_index=True)


def _types(found: Typed) -> pd.DataFrame:
    """The rows of one model."""
    kinds, layers, heads = np.indices(found.mean.shape).reshape(3, -1)
    probability = np.where(np.isnan(found.ends[0]), np.nan, found.drawn.mean(axis=0))
    main = np.array([declared.TYPES.index(name) for name in declared.MAIN_TYPES[:-1]] + [-1])[
        found.main
    ]
    names = np.array(declared.TYPES)[kinds]
    return pd.DataFrame(
        {
            "type": names,
            "layer": layers + 1,
            "head": heads + 1,
            "value": found.mean.ravel(),
            "ci_low": found.ends[0].ravel(),
            "ci_high": found.ends[1].ravel(),
            "uniform": found.uniform.ravel(),
            "threshold": [THRESHOLDS[name] for name in names],
            "of_type": found.is_of_type.ravel(),
            "probability": probability.ravel(),
            "main": main[layers, heads] == kinds,
        },
        columns=[
            name for name in declared.HEAD_TYPES.names if name not in ("task", "state", "seed")
        ],
    )


def counts(models: Models) -> pd.DataFrame:
    """The table `head_type_counts`."""
    random = {task: found for (task, model), found in models.items() if _state(model) == RANDOM}
    parts = [
        identify(_counts(found, random[task]), task, model)
        for (task, model), found in models.items()
    ]
    return pd.concat(parts, ignore_index=True)[list(declared.HEAD_TYPE_COUNTS.names)]


def _counts(found: Typed, random: Typed) -> pd.DataFrame:
    """The rows of one model, beside the encoder with random weights."""
    heads, control = _count_by_layer(found.is_of_type), _count_by_layer(random.is_of_type)
    ends = interval(_count_by_layer(found.drawn).astype(np.float64))
    if found.examples < FEWEST:
        ends[:] = np.nan
    layers, each = found.mean.shape[1:]
    kinds, places = np.indices(heads.shape).reshape(2, -1)
    numbers = [None if place == layers else place + 1 for place in places]
    return pd.DataFrame(
        {
            "layer": pd.array(numbers, dtype="Int64"),
            "type": np.array([*declared.TYPES, declared.NO_TYPE])[kinds],
            "heads": heads.ravel(),
            "ci_low": ends[0].ravel(),
            "ci_high": ends[1].ravel(),
            "random": control.ravel(),
            "of": np.where(places == layers, layers * each, each),
        }
    )


def _count_by_layer(flags: Flags) -> Integers:
    """[..., types + 1, layers + 1] heads of a type, last of none; last, in all layers."""
    exclusive = [declared.TYPES.index(name) for name in declared.MAIN_TYPES[:-1]]
    none = ~flags[..., exclusive, :, :].any(axis=-3, keepdims=True)
    layer_counts = np.concatenate([flags, none], axis=-3).sum(axis=-1)
    everywhere = layer_counts.sum(axis=-1, keepdims=True)
    return np.concatenate([layer_counts, everywhere], axis=-1)


def _state(model: str) -> str:
    """State of a model, such as ``finetuned`` of ``finetuned/seed-1``."""
    return model.partition("/")[0]


# How redundant heads are: the distance between the attention of every two of them (section 5).
#
# The distance is that of Clark et al. (2019, section 6): the Jensen–Shannon divergence between the
# attention of two heads, from the same token. Here it is a mean over the tokens of an example, and
# then over examples, in nats: 0 for equal heads, ln 2 for heads that never attend to the same
# token.
#
# Its time grows with the square of the number of heads, so it is measured on a sample of the
# examples, the same for all models of a task.

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


# What a task's models need for their types of heads, and for distances between heads.


def measure_statistics(
    maps: Maps, tokens: Iterable[Tokens], max_bytes: int = 2**22
) -> MapStatistics:
    """Measure what decides the types of a model's heads.

    Args:
        maps: Maps of the model.
        tokens: The tokens of each example, in the order of the maps.
        max_bytes: Largest size of a batch of maps.
    """
    parts = [
        MapStatistics.of(
            [one.idx for one in some], batch.statistics, uniform_batch(batch).statistics
        )
        for some, batch in batches(maps, tokens, max_bytes)
    ]
    return MapStatistics.joined(parts)
