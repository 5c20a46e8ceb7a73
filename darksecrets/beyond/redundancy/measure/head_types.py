"""Types of heads after Clark et al. (2019, sections 3 and 6): what gets most of their attention.

A head is of a type if a mean over the queries of an example, and then over examples, is above a
threshold. The thresholds are those of the released code. That of broad attention is an entropy of
3.8 nats, for texts of at most 128 tokens; uniform attention in a text of 44 tokens has no more.
So there is a type that does not depend on lengths, too: the entropy is divided by the greatest
that the text allows, and so is the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy import declared
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.attention.store import Maps
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import identify
from darksecrets.core.stats.paired import FEWEST
from darksecrets.core.stats.resampling import interval, resampled_means, widened
from darksecrets.paper.features import example_store
from darksecrets.paper.features.batches import batches, uniform_batch
from darksecrets.paper.features.tables import STATISTICS
from darksecrets.paper.features.tokens import Tokens

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
