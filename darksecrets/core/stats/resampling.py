"""Bootstrap weights, means and percentile intervals, and random halves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.units import count_units

Counts = Integers
Groups = Integers

_BLOCK = 2**22  # largest number of elements in a block of draws

# Two functions draw bootstrap weights from the same distribution, but from different random
# streams. Both are needed, because published intervals depend on the stream.


def blocks(draws: int, width: int) -> Iterator[int]:
    """Numbers of draws, each of this width, that make up all of them in bounded memory."""
    size = max(1, _BLOCK // max(1, width))
    return (min(size, draws - start) for start in range(0, draws, size))


def bootstrap_weights(resamples: int, examples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Draw examples with replacement, one by one, in blocks of bounded memory.

    Args:
        resamples: Number of bootstrap samples.
        examples: Size of the sample.
        rng: Source of randomness.

    Yields:
        [at most ``resamples``, examples] how often each example is drawn; rows sum to ``examples``.
    """
    for rows in blocks(resamples, examples):
        drawn: Counts = rng.integers(examples, size=(rows, examples))
        drawn += examples * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * examples)
        yield counts.reshape(rows, examples)


def multinomial_weights(resamples: int, counts: Counts, rng: np.random.Generator) -> Counts:
    """Draw whole bootstrap samples; equal observations are counted in cells.

    Args:
        resamples: Number of bootstrap samples.
        counts: [cells] observations in each cell: all ones, or the cells of a contingency table.
        rng: Source of randomness.

    Returns:
        [resamples, cells] how often observations of each cell are drawn; rows sum to the number
        of observations.
    """
    total = int(counts.sum())
    return rng.multinomial(total, counts / total, size=resamples)


def cluster_weights(resamples: int, clusters: Values, rng: np.random.Generator) -> Counts:
    """Draw whole clusters with replacement, for observations that depend on each other.

    Args:
        resamples: Number of bootstrap samples.
        clusters: [observations] cluster of each observation.
        rng: Source of randomness.

    Returns:
        [resamples, observations] how often each observation is drawn.
    """
    names, cluster = np.unique(clusters, return_inverse=True)
    return multinomial_weights(resamples, np.ones(len(names), np.int64), rng)[:, cluster]


def interval(resampled: Floats, level: float = LEVEL) -> Floats:
    """Percentile interval over the first axis, as [2, ...]: lower and upper end.

    Args:
        resampled: [resamples, ...] a statistic of each bootstrap sample.
        level: Share of the resamples outside the interval, both sides together.
    """
    return np.quantile(resampled, (level / 2, 1 - level / 2), axis=0)


def feasible(ends: npt.ArrayLike, lowest: float, highest: float) -> Floats:
    """Clip the ends of intervals to the values that the quantity can have.

    Intervals from Student's distribution, such as those over two seeds, may end beyond them: at 167
    points of accuracy. The clipped interval covers the truth as often. It leaves out the same
    thresholds, as long as these are values that the quantity can have: so no decision changes.

    Args:
        ends: [2, ...] lower and upper ends; NaN stays.
        lowest: Smallest possible value: of a difference of two scores from 0 to 100, -100.
        highest: Largest possible value.
    """
    return np.clip(np.asarray(ends, dtype=np.float64), lowest, highest)


def interval_of_known(resampled: Floats) -> Floats:
    """Percentile interval of values, ignoring NaN; NaN where all values are NaN."""
    return quantiles_of_known(resampled, (LEVEL / 2, 1 - LEVEL / 2))


def quantiles_of_known(values: Floats, shares: Sequence[float]) -> Floats:
    """[shares, ...] quantiles over the first axis, ignoring NaN; NaN where all values are NaN."""
    missing = np.isnan(values)
    if not missing.any():
        return np.quantile(values, shares, axis=0)
    found = np.full((len(shares), *values.shape[1:]), np.nan)
    some = ~missing.all(axis=0)
    found[:, some] = np.nanquantile(values[:, some], shares, axis=0)
    return found


def widened(ends: Floats, estimate: Floats, units: Integers) -> Floats:
    """Percentile intervals of means, as wide as Student's t makes those of so few units.

    A bootstrap takes the spread of the units for that of all, √(n / (n - 1)) too small, and its
    percentiles are those of a normal distribution: with 60 units it leaves the truth out in 6 to 7
    per cent (Hesterberg 2015, "What teachers should know about the bootstrap", section 3.2).

    Args:
        ends: [2, ...] lower and upper ends.
        estimate: [...] what they are the interval of.
        units: [...] numbers of units; with fewer than 2, the ends stay.
    """
    from scipy import stats

    free = np.maximum(units, 2) - 1
    student = stats.t.ppf(1 - LEVEL / 2, free) / stats.norm.ppf(1 - LEVEL / 2)
    factor = np.where(units < 2, 1.0, student * np.sqrt((free + 1) / free))
    return estimate + factor * (ends - estimate)


def resampled_means(
    values: Floats, resamples: int, rng: np.random.Generator, *, groups: Groups | None = None
) -> Floats:
    """Means over units that are drawn with replacement.

    Args:
        values: [units, columns]; NaN if a unit has no value.
        resamples: Number of bootstrap samples; all columns share them.
        rng: Source of randomness.
        groups: [units] number of the group of each unit, if units of a group depend on each other:
            they are drawn together.

    Returns:
        [resamples, columns]; NaN where a sample has no value.
    """
    known = ~np.isnan(values)
    sums = group_sums(np.where(known, values, 0), groups)
    counts = group_sums(known.astype(np.float64), groups)
    parts = []
    for weights in bootstrap_weights(resamples, len(sums), rng):
        drawn = weights.astype(np.float64)
        with np.errstate(invalid="ignore"):
            parts.append((drawn @ sums) / (drawn @ counts))
    return np.concatenate(parts)


def group_sums(values: Floats, groups: Groups | None) -> Floats:
    """[groups, columns] sums over the units of each group; without groups, the values."""
    if groups is None:
        return values
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums


def halves(splits: int, examples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Split examples into random halves, in blocks of bounded memory.

    Args:
        splits: Number of splits.
        examples: Number of examples; if it is odd, the half marked 0 has one more.
        rng: Source of randomness.

    Yields:
        [at most ``splits``, examples] 1 for one half, 0 for the other.
    """
    pattern = np.arange(examples) % 2
    for rows in blocks(splits, examples):
        yield rng.permuted(np.tile(pattern, (rows, 1)), axis=1)


def halves_of_units(splits: int, units: Integers, rng: np.random.Generator) -> Iterator[Counts]:
    """The same, with all examples of a unit in one half.

    Args:
        splits: Number of splits.
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        rng: Source of randomness.

    Yields:
        [at most ``splits``, examples] 1 for one half, 0 for the other.
    """
    for of_units in halves(splits, count_units(units), rng):
        yield of_units[:, units]


def stratified_halves(strata: Values, rng: np.random.Generator) -> Counts:
    """Split examples once into random halves that have equally many of every stratum.

    Args:
        strata: [examples] the stratum of each example: its label, or the same for all.
        rng: Source of randomness.

    Returns:
        [examples] 0 or 1; the halves differ by at most one example, in total and in every stratum.
    """
    drawn = rng.permutation(len(strata))
    by_stratum = drawn[np.argsort(strata[drawn], kind="stable")]
    half: Counts = np.empty(len(strata), dtype=np.int64)
    half[by_stratum] = np.arange(len(strata)) % 2
    return half
