"""Maps of examples of equal length, with what measures of heads need of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Flags, Floats, Halves, Singles
from darksecrets.core.attention.store import Maps, Reach, any_window
from darksecrets.paper.features.cells import BatchCells, Cells, real_cells
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.tables import SHARES
from darksecrets.paper.features.tokens import Tokens

Float = TypeVar("Float", np.float32, np.float64)


def entropy_sums(maps: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Entropy of every query's attention in nats, summed over the queries.

    Args:
        maps: [..., query, key] weights, rows sum to 1; float32 or float64.

    Returns:
        [...], in the precision of ``maps``.
    """
    logarithms = np.log(np.maximum(maps, np.finfo(np.float32).tiny))
    return -np.einsum("...ij,...ij->...", maps, logarithms)


def column_means(maps: Singles, reach: Reach | None = None) -> Singles:
    """Mean weight that each token receives from the queries that can attend to it.

    Args:
        maps: [example, layer, head, query, key].
        reach: [layer, query, key] which keys a query can attend to; None for all.

    Returns:
        [example, key, layer, head].
    """
    length = maps.shape[-1]
    queries = np.full((1, length), 1 / length, dtype=np.float32)
    means: Singles = np.ascontiguousarray(np.moveaxis((queries @ maps)[..., 0, :], -1, 1))
    if reach is not None:
        means *= (length / reach.sum(axis=1)).T[:, :, None]
    return means


@dataclass(frozen=True)
class Batch:
    """Maps of some examples of equal length, and what the measures need of them.

    Attributes:
        half: [example, layer, head, query, key] maps, as stored in half precision.
        maps: The same in float32.
        columns: [example, key, layer, head] mean weight that each token receives.
        features: [example, token, feature] which tokens have a feature.
        cells: The cells that measures use: the real ones, or their controls.
        local: Whether the model has layers with local attention.
        reach: [layer, query, key] which keys a query can attend to; None if all can attend to all.
    """

    half: Halves
    maps: Singles
    columns: Singles
    features: Flags
    cells: BatchCells
    local: bool = False
    reach: Reach | None = None

    @property
    def heads(self) -> tuple[int, int]:
        """Number of layers, and of heads per layer."""
        return self.maps.shape[1], self.maps.shape[2]

    @cached_property
    def statistics(self) -> Floats:
        """The statistics of every map, see `statistics_of`."""
        return statistics_of(self)

    def weights(self, cells: Cells, first_layer: int = 0) -> Halves:
        """[cells, layer, head] weights from a layer on; NaN where a layer cannot reach the cell."""
        examples, queries, keys = cells.flat()
        weights = self.half[:, first_layer:][examples, :, :, queries, keys]
        if self.reach is not None:
            weights[~self.reach[first_layer:, queries, keys].T] = np.nan
        return weights


def statistics_of(batch: Batch) -> Floats:
    """Shares of attention, and its entropy in nats, means over the queries of a map.

    The first token has no previous token; its share for it is 0. In layers with local attention,
    the share of a feature is a mean over the queries that can reach a token with it. There, the
    greatest entropy is less, so it is added: the mean logarithm of the number of keys in reach.

    Returns:
        [example, statistic, layer, head] in the order of `STATISTICS`, of which the last is there
        with local attention only.
    """
    maps, length = batch.maps, batch.maps.shape[-1]
    diagonals = [np.diagonal(maps, offset, axis1=-2, axis2=-1) for offset in (-1, 1, 0)]
    beside = [each.sum(axis=-1, dtype=np.float64) / length for each in diagonals]
    kinds = [FEATURES.index(name) for name in SHARES if name in FEATURES]
    features = batch.features[..., kinds]
    if batch.reach is None:
        shares = np.einsum("ejk,ejlh->kelh", features, batch.columns, dtype=np.float64)
    else:
        shares = _shares_in_reach(maps, features, batch.reach)
    values = [*beside, *shares, entropy_sums(maps) / length]
    if batch.local:
        in_reach = np.full((1, length), length) if batch.reach is None else batch.reach.sum(axis=-1)
        greatest = np.log(in_reach).mean(axis=-1)[:, None]
        values.append(np.broadcast_to(greatest, values[0].shape))
    return np.stack(values, axis=1).astype(np.float64)


def _shares_in_reach(maps: Singles, features: Flags, reach: Reach) -> Floats:
    """Shares of attention, means over the queries that can reach a token with the feature.

    Args:
        maps: [example, layer, head, query, key].
        features: [example, token, feature].
        reach: [layer, query, key].

    Returns:
        [feature, example, layer, head].
    """
    received = maps.sum(axis=-2, dtype=np.float64)
    sums = np.einsum("ejf,elhj->felh", features, received)
    reached = np.einsum("lij,ejf->feli", reach.astype(np.float32), features) > 0
    queries = np.maximum(reached.sum(axis=-1), 1)  # a feature that is absent has no weight, either
    return sums / queries[..., None]


def batches(
    maps: Maps, tokens: Iterable[Tokens], max_bytes: int = 2**22
) -> Iterator[tuple[list[Tokens], Batch]]:
    """The tokens of some examples, and what measures need of them, batch by batch.

    Args:
        maps: Maps of a model.
        tokens: The tokens of each example, in the order of the maps.
        max_bytes: Largest size of a batch of maps.
    """
    in_turn = iter(tokens)
    for examples, half in maps.batches(max_bytes):
        some = list(itertools.islice(in_turn, len(examples)))
        yield some, _batch(maps, half, some)


def _batch(source: Maps, half: Halves, tokens: Sequence[Tokens]) -> Batch:
    maps, reach = half.astype(np.float32), source.reach(half.shape[-1])
    return Batch(
        half=half,
        maps=maps,
        columns=column_means(maps, reach),
        features=np.stack([one.features for one in tokens]),
        cells=real_cells(tokens),
        local=any_window(source.windows),
        reach=reach,
    )


def uniform_batch(batch: Batch) -> Batch:
    """The same examples under uniform attention to the tokens in reach.

    Heads are alike, so there is one; and one layer, unless layers differ in their reach.
    """
    examples, length = len(batch.half), batch.half.shape[-1]
    reach = np.ones((1, length, length), np.bool_) if batch.reach is None else batch.reach
    rows = (reach / reach.sum(axis=-1, keepdims=True)).astype(np.float32)
    maps = np.broadcast_to(rows[:, None], (examples, len(reach), 1, length, length))
    columns = column_means(maps, batch.reach)
    return replace(batch, half=maps, maps=maps, columns=columns)  # type: ignore[arg-type]
