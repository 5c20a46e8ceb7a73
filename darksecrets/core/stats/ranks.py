"""Whether two rankings of the same heads agree: rank correlations, and the overlap of their ends.

Heads of one layer are alike. Agreement of rankings may therefore only mean that the same layers
matter. So heads are permuted within their layers: that tells what heads add to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats.correlation import standardized
from darksecrets.core.stats.resampling import interval

Indices = Integers

_TIE = 1e-9  # rounding of a mean of products of standardized ranks


@dataclass(frozen=True)
class Agreement:
    """Mean rank correlation over pairs of rankings.

    Attributes:
        pairs: Number of pairs whose rankings both vary.
        rho: Mean of Spearman's correlation; like all others, NaN without such a pair.
        low: Lower end of its interval: a percentile bootstrap over heads.
        high: Upper end of it.
        p: Two-sided p-value, heads permuted within their layers; the deviation is from the mean of
            these permutations, which is what layers explain.
    """

    pairs: int
    rho: float
    low: float
    high: float
    p: float

    @property
    def columns(self) -> dict[str, float]:
        """The numbers, by the names of columns that tables of rank correlations share."""
        return {
            "spearman": self.rho,
            "ci_low": self.low,
            "ci_high": self.high,
            "p_value": self.p,
        }


@dataclass(frozen=True)
class Draws:
    """Random samples of the heads, shared by all comparisons of one set of heads.

    Attributes:
        layers: [heads] the layer of each, in ascending order.
        bootstrap: Number of bootstrap samples.
        permutations: Number of permutations.
        seed: Seed of both.
    """

    layers: Indices
    bootstrap: int
    permutations: int
    seed: int

    def resampled(self) -> Indices:
        """[bootstrap, heads] heads drawn with replacement."""
        return _resampled_heads(len(self.layers), self.bootstrap, self.seed)

    def permuted(self, *, stream: int = 0) -> Indices:
        """[permutations, heads] heads in random order within each layer.

        Args:
            stream: Different streams are independent of each other.
        """
        layers = tuple(self.layers.tolist())
        return _permuted_heads(layers, self.permutations, (self.seed, stream))


# Many comparisons share their draws, which take longer than all else.
@lru_cache(maxsize=8)
def _resampled_heads(heads: int, bootstrap: int, seed: int) -> Indices:
    return np.random.default_rng(seed).integers(heads, size=(bootstrap, heads))


@lru_cache(maxsize=8)
def _permuted_heads(layers: tuple[int, ...], permutations: int, seed: tuple[int, int]) -> Indices:
    keys = np.random.default_rng(seed).random((permutations, len(layers)))
    return np.argsort(keys + np.array(layers), axis=1)


def agreement(first: Floats, second: Floats | None, draws: Draws) -> Agreement:
    """Compare the rankings of two groups of models, or of the models of one group.

    Args:
        first: [models, heads] values to rank, heads in the order of ``draws.layers``.
        second: [models, heads] likewise, each compared with each of ``first``; None compares all
            pairs of ``first``.
        draws: Random samples of the heads.
    """
    groups = [first] if second is None else [first, second]
    groups = [values[np.ptp(values, axis=1) > 0] for values in groups]
    sizes = [len(values) for values in groups]
    pairs = sizes[0] * (sizes[0] - 1) // 2 if second is None else sizes[0] * sizes[1]
    if not pairs:
        return Agreement(0, *[np.nan] * 4)
    ranks = [_ranks(values) for values in groups]
    rho = float(_mean_products(*map(list, ranks)))
    low, high = map(float, interval(_resampled(groups, draws.resampled())))
    return Agreement(pairs, rho, low, high, _p_value(ranks, rho, draws))


def rank_correlations(first: Floats, second: Floats) -> Floats:
    """[...] Spearman's correlations of rows, [..., heads]; 0 where a row is constant."""
    return _mean_products([_ranks(first)], [_ranks(second)])


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    return standardized(rankdata(values, axis=-1))


def _mean_products(first: list[Floats], second: list[Floats] | None = None) -> Floats:
    """[...] mean correlation over pairs, from standardized ranks [..., heads] of each model."""
    total = np.sum(first, axis=0)
    if second is not None:
        both = (total * np.sum(second, axis=0)).mean(axis=-1)
        return np.asarray(both / (len(first) * len(second)))
    squares = np.sum([(ranks**2).mean(axis=-1) for ranks in first], axis=0)
    return np.asarray(((total**2).mean(axis=-1) - squares) / (len(first) * (len(first) - 1)))


def _resampled(groups: list[Floats], drawn: Indices) -> Floats:
    """[draws] mean correlation over pairs on resampled heads."""
    return _mean_products(*[[_ranks(row[drawn]) for row in values] for values in groups])


def _p_value(ranks: list[Floats], rho: float, draws: Draws) -> float:
    """Permute the heads of the second group together, or of all models but one, each on its own."""
    if len(ranks) == 2:
        order = draws.permuted()
        drawn = _mean_products([ranks[0].mean(axis=0)], [ranks[1].mean(axis=0)[order]])
    else:
        moved = [
            row[draws.permuted(stream=number)] for number, row in enumerate(ranks[0][1:], start=1)
        ]
        drawn = _mean_products([np.broadcast_to(ranks[0][0], moved[0].shape), *moved])
    # Permuting within layers leaves the correlation of the layers' means.
    means = [[_layer_means(row, draws.layers) for row in group_ranks] for group_ranks in ranks]
    expected = float(_mean_products(*means))
    extreme = np.abs(drawn - expected) >= abs(rho - expected) - _TIE
    return float((1 + extreme.sum()) / (1 + len(drawn)))


def _layer_means(ranks: Floats, layers: Indices) -> Floats:
    """[heads] the mean of each head's layer."""
    _, layer = np.unique(layers, return_inverse=True)
    means: Floats = np.bincount(layer, ranks) / np.bincount(layer)
    return means[layer]
