"""What every head looks at, in one pass over its maps (sections 4.4, 4.5 and 5).

Most measures are the largest weight among some cells of a map, averaged over the examples that
have such cells. The cells of random tokens and pairs, drawn alike, are their controls. Maps and
what is known of their tokens are read a batch at a time, and only sums are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.attention.entropy import entropy_sums
from darksecrets.attention.store import AttentionStore
from darksecrets.features.labels import FEATURES, RELATIONS
from darksecrets.features.tables import STATISTICS
from darksecrets.features.tokens import Tokens
from darksecrets.stats.controls import pairs_at_the_same_distance, tokens_at_likely_places

DIAGONAL = ("previous", "self", "next")

#: Sets of random tokens, or pairs, for every real one.
DRAWS = 10
#: Parts of an example in which a feature is more or less frequent.
PLACES = 10
#: Chance of a token where no token with the feature ever was: drawn if nothing else is left.
_LEAST = 1e-9

Array = npt.NDArray[np.float64]
Single = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]


@dataclass
class Cells:
    """Sets of cells in the maps of a batch; a set has a kind and belongs to one example.

    Attributes:
        examples: Number in the batch, for each call of `add`; so are the others.
        kinds: Number of the feature or relation.
        queries: [sets, cells of a set] rows of the map.
        keys: [sets, cells of a set] columns of the map.
    """

    examples: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    queries: list[Numbers] = field(default_factory=list)
    keys: list[Numbers] = field(default_factory=list)

    def add(self, example: int, kind: int, queries: Numbers, keys: Numbers) -> None:
        """Add sets of equal size; none if they are empty."""
        if keys.size:
            self.examples.append(example)
            self.kinds.append(kind)
            self.queries.append(np.broadcast_to(queries, keys.shape))
            self.keys.append(keys)

    def flat(self) -> tuple[Numbers, Numbers, Numbers]:
        """[cells] example, query and key of every cell, set after set."""
        sizes = [keys.size for keys in self.keys]
        empty = [np.empty(0, dtype=np.int64)]
        queries, keys = (
            np.concatenate(empty + [part.ravel() for part in parts])
            for parts in (self.queries, self.keys)
        )
        return np.repeat(np.array(self.examples, dtype=np.int64), sizes), queries, keys

    def sets(self) -> tuple[Numbers, Numbers]:
        """[sets] kind and number of cells of every set."""
        counts = [len(keys) for keys in self.keys]
        sizes = np.repeat([keys.shape[1] for keys in self.keys], counts).astype(np.int64)
        return np.repeat(np.array(self.kinds, dtype=np.int64), counts), sizes


class Mean:
    """Means, for every kind, of what sets of cells give per layer and head."""

    def __init__(self, kinds: int, *heads: int) -> None:
        self.sums = np.zeros((kinds, *heads))
        self.sets = np.zeros(kinds, dtype=np.int64)

    def add(self, cells: Cells, values: npt.NDArray[np.floating], how: np.ufunc) -> None:
        """Reduce the values of the cells, [cells, ...heads], set by set, and sum them up.

        Args:
            cells: The sets.
            values: Weight of each cell, in the order of `Cells.flat`.
            how: ``np.maximum``, or ``np.add`` for the mean over the cells of a set.
        """
        kinds, sizes = cells.sets()
        if not len(kinds):
            return
        ends = np.cumsum(sizes)
        reduced = how.reduceat(values.astype(np.float64), ends - sizes, axis=0)
        if how is np.add:
            reduced /= sizes.reshape(-1, *[1] * (reduced.ndim - 1))
        of_kind = np.arange(len(self.sets))[:, None] == kinds
        self.sums += np.tensordot(of_kind.astype(np.float64), reduced, axes=1)
        self.sets += of_kind.sum(axis=1)

    def means(self) -> Array:
        """[kinds, ...heads] means; NaN for a kind that no set had."""
        counts = self.sets.reshape(-1, *[1] * (self.sums.ndim - 1))
        with np.errstate(invalid="ignore"):
            result: Array = self.sums / counts
        return result


@dataclass(frozen=True)
class Measures:
    """Tidy tables of one model on one task; ``layer`` and ``head`` count from 1."""

    stripes: pd.DataFrame
    cls_attention: pd.DataFrame
    token_pairs: pd.DataFrame
    equal_words: pd.DataFrame
    head_statistics: pd.DataFrame


def measure(
    store: AttentionStore, tokens: Iterable[Tokens], seed: int, max_bytes: int = 2**22
) -> Measures:
    """Measure every head of a model on a task.

    - ``stripes`` (section 4.4): for a feature, the largest mean weight (over all queries) that a
      token with the feature gets, averaged over the examples with such a token.
    - ``cls_attention`` (4.5): in the last layer, the largest weight that [CLS] gives to a token
      with the feature, averaged likewise.
    - ``token_pairs`` (4.5): the largest weight among the pairs of a relation, averaged likewise;
      ``diagonal`` is the head's own share of attention to a token's neighbours and itself.
    - ``equal_words`` (5): the mean weight between the pieces of words that stand in both
      sentences, averaged over the examples that have some.
    - ``head_statistics`` (Clark et al. 2019): shares of attention, and its entropy in nats, means
      over queries, then over examples. The first token has no previous one and counts as 0.

    The column ``control`` is the same for `DRAWS` random choices per example: for features, as
    many ordinary tokens, drawn in proportion to how often tokens at such a place of an example
    have the feature; for pairs, see `controls.pairs_at_the_same_distance`. They depend on the seed
    and the example, not on the model.

    Args:
        store: Maps of the model.
        tokens: What is known of each example's tokens, in the store's order; gone through twice,
            first to count how likely a feature is at each place.
        seed: Seed of the controls.
        max_bytes: Size of a batch.
    """
    shape = (store.layers, store.heads)
    real = _Sums(*shape)
    control = _Sums(*shape)
    chances = feature_chances(tokens)
    statistics = np.zeros((len(STATISTICS), *shape))
    in_turn = iter(tokens)
    for examples, half in store.batches(max_bytes):
        batch = list(itertools.islice(in_turn, len(examples)))
        maps = half.astype(np.float32)
        columns = column_means(maps)
        statistics += head_statistics(maps, columns, np.stack([t.features for t in batch]))
        real.add(half, columns, real_cells(batch))
        control.add(half, columns, control_cells(batch, chances, seed))
    statistics /= store.examples
    return _tables(real, control, statistics)


def column_means(maps: Single) -> Single:
    """[example, key, layer, head] mean weight that each token gets."""
    length = maps.shape[-1]
    queries = np.full((1, length), 1 / length, dtype=np.float32)
    means: Single = np.ascontiguousarray(np.moveaxis((queries @ maps)[..., 0, :], -1, 1))
    return means


def head_statistics(maps: Single, columns: Single, features: npt.NDArray[np.bool_]) -> Array:
    """[statistic, layer, head] of Clark et al. (2019), summed over the examples of a batch.

    Args:
        maps: [example, layer, head, query, key]
        columns: [example, key, layer, head] mean weight that each token gets.
        features: [example, token, feature]
    """
    length = maps.shape[-1]
    diagonals = [np.diagonal(maps, offset, axis1=-2, axis2=-1) for offset in (-1, 1, 0)]
    beside = [each.sum(axis=(0, -1), dtype=np.float64) / length for each in diagonals]
    kinds = [FEATURES.index(name) for name in STATISTICS if name in FEATURES]
    shares = np.einsum("ejk,ejlh->klh", features[..., kinds], columns, dtype=np.float64)
    entropy = entropy_sums(maps).sum(axis=0) / length
    return np.stack([*beside, *shares, entropy])


def feature_chances(tokens: Iterable[Tokens]) -> Array:
    """How often tokens at a place of an example have a feature, over all examples.

    Returns:
        [features, places] tokens with the feature for each ordinary token there.
    """
    having, ordinary = np.zeros((len(FEATURES), PLACES)), np.zeros(PLACES)
    for one in tokens:
        places = places_of(one.special)
        for feature, has in enumerate(one.features.T):
            having[feature] += np.bincount(places[has], minlength=PLACES)
        ordinary += np.bincount(places[~one.special], minlength=PLACES)
    return having / np.maximum(ordinary, 1)


def places_of(special: npt.NDArray[np.bool_]) -> Numbers:
    """[L] which of `PLACES` equal parts of the example each token is in.

    A special token counts as standing at the ordinary one beside it ([CLS] at the one after it,
    [SEP] at the one before it), because only ordinary tokens are drawn.
    """
    positions = np.arange(len(special)) - special
    positions[0] += 2 * special[0]
    return positions * PLACES // len(special)


@dataclass(frozen=True)
class BatchCells:
    """Cells of a batch: tokens with a feature (the query is [CLS]), related pairs, equal words."""

    features: Cells = field(default_factory=Cells)
    pairs: Cells = field(default_factory=Cells)
    equal: Cells = field(default_factory=Cells)


def real_cells(batch: Sequence[Tokens]) -> BatchCells:
    """Cells of the tokens that have a feature and of the pairs that are related."""
    cells = BatchCells()
    first = np.zeros(1, dtype=np.int64)
    for example, one in enumerate(batch):
        for feature, has in enumerate(one.features.T):
            cells.features.add(example, feature, first, np.flatnonzero(has)[None])
        for relation, pairs in enumerate(one.pairs):
            cells.pairs.add(example, relation, pairs[None, :, 0], pairs[None, :, 1])
        cells.equal.add(example, 0, one.equal[None, :, 0], one.equal[None, :, 1])
    return cells


def control_cells(batch: Sequence[Tokens], chances: Array, seed: int) -> BatchCells:
    """Cells of random tokens and pairs, `DRAWS` sets for every real set."""
    cells = BatchCells()
    first = np.zeros(1, dtype=np.int64)
    for example, one in enumerate(batch):
        rng = np.random.default_rng([seed, one.idx])
        likely = np.where(one.special, 0, np.maximum(chances[:, places_of(one.special)], _LEAST))
        for feature, count in enumerate(one.features.sum(axis=0).tolist()):
            if count:
                drawn = tokens_at_likely_places(count, likely[feature], DRAWS, rng)
                cells.features.add(example, feature, first, drawn)
        for relation, pairs in enumerate(one.pairs):
            drawn = _random_pairs(pairs, one, rng)
            cells.pairs.add(example, relation, drawn[..., 0], drawn[..., 1])
        drawn = _random_pairs(one.equal, one, rng)
        cells.equal.add(example, 0, drawn[..., 0], drawn[..., 1])
    return cells


def _random_pairs(pairs: Numbers, one: Tokens, rng: np.random.Generator) -> Numbers:
    """[draws, pairs, 2] random pairs of the same distances, between the same sentences."""
    drawn = [np.empty((DRAWS, 0, 2), dtype=np.int64)]
    sentences = one.segments[pairs]
    for query, key in np.unique(sentences, axis=0):
        queries, keys = (~one.special & (one.segments == sentence) for sentence in (query, key))
        chosen = pairs[(sentences == (query, key)).all(axis=1)]
        drawn.append(pairs_at_the_same_distance(chosen, queries, DRAWS, rng, keys=keys))
    return np.concatenate(drawn, axis=1)


class _Sums:
    """Means over all batches of what sets of cells give: the real ones, or their controls."""

    def __init__(self, layers: int, heads: int) -> None:
        self.stripes = Mean(len(FEATURES), layers, heads)
        self.from_cls = Mean(len(FEATURES), heads)
        self.pairs = Mean(len(RELATIONS), layers, heads)
        self.equal = Mean(1, layers, heads)

    def add(self, maps: npt.NDArray[np.float16], columns: Single, cells: BatchCells) -> None:
        examples, queries, keys = cells.features.flat()
        self.stripes.add(cells.features, columns[examples, keys], np.maximum)
        last = maps[:, -1]
        self.from_cls.add(cells.features, last[examples, :, queries, keys], np.maximum)
        examples, queries, keys = cells.pairs.flat()
        self.pairs.add(cells.pairs, maps[examples, :, :, queries, keys], np.maximum)
        examples, queries, keys = cells.equal.flat()
        self.equal.add(cells.equal, maps[examples, :, :, queries, keys], np.add)


def _tables(real: _Sums, control: _Sums, statistics: Array) -> Measures:
    diagonal = sum(statistics[STATISTICS.index(name)] for name in DIAGONAL)
    pairs = _tidy("relation", RELATIONS, real.pairs, control.pairs)
    heads = pairs["layer"].to_numpy() - 1, pairs["head"].to_numpy() - 1
    pairs.insert(5, "diagonal", np.asarray(diagonal)[heads])
    kinds, layers, heads_ = np.indices(statistics.shape)
    return Measures(
        stripes=_tidy("feature", FEATURES, real.stripes, control.stripes),
        cls_attention=_tidy("feature", FEATURES, real.from_cls, control.from_cls),
        token_pairs=pairs,
        equal_words=_tidy("", ("",), real.equal, control.equal).drop(columns=""),
        head_statistics=pd.DataFrame(
            {
                "statistic": np.array(STATISTICS)[kinds.ravel()],
                "layer": layers.ravel() + 1,
                "head": heads_.ravel() + 1,
                "value": statistics.ravel(),
            }
        ),
    )


def _tidy(name: str, kinds: Sequence[str], real: Mean, control: Mean) -> pd.DataFrame:
    """A row per kind that some example has, and head."""
    numbers, *heads = np.indices(real.sums.shape)
    table = pd.DataFrame(
        {
            name: np.array(kinds)[numbers.ravel()],
            **dict(
                zip(("layer", "head")[-len(heads) :], (h.ravel() + 1 for h in heads), strict=True)
            ),
            "weight": real.means().ravel(),
            "control": control.means().ravel(),
            "examples": real.sets[numbers.ravel()],
        }
    )
    return table[table["examples"] > 0].reset_index(drop=True)
