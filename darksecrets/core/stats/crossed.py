"""Means over crossed units (every model saw the same examples, every example all heads).

An interval over examples alone is about the models at hand. With several seeds, what models of
other seeds would add is drawn from Student's t, not from the few seeds; see
`core.stats.seeds`. What is said of a model's heads in common also allows for other heads, in
the same way.

A bootstrap needs more units than a layer has heads, and more than a few dozen if values are skewed.
So correlations over heads, and means over examples that differ much in how far they are from the
others, are drawn from Student's t, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.correlation import ratio
from darksecrets.core.stats.paired import nanmean
from darksecrets.core.stats.resampling import quantiles_of_known, resampled_means, widened
from darksecrets.core.stats.weighted import pearson

FEWEST_UNITS = 4
"""Correlations of fewer units are anywhere between -1 and 1."""

_STRAIGHT = 1e-6  # skewness that changes nothing
_NEAR_ONE = 1 - 1e-12  # greatest correlation that has a finite Fisher's z


def drawn_means(
    values: Floats,
    resamples: int,
    rng: np.random.Generator,
    statistic: Callable[[Floats], Floats] = np.asarray,
) -> Floats:
    """Means over examples and models, or a statistic of them, as other samples would give them.

    Examples are drawn with replacement, the same for all models; `distance_to_new_models` is added.
    With one model, only examples are drawn. What they add is `resampling.widened`: a rare feature
    is in few examples.

    Args:
        values: [models, examples, ...]; NaN where an example has no value, in all models alike.
        resamples: Number of samples.
        rng: Source of randomness.
        statistic: Function of means [samples, ...] to [samples, ...], each sample by itself.

    Returns:
        [resamples, ...]; NaN where a sample has no value.
    """
    models, examples, *shape = values.shape
    columns = np.moveaxis(values, 0, 1).reshape(examples, -1)
    means = resampled_means(columns, resamples, rng).reshape(resamples, models, *shape)
    own = nanmean(values, axis=1)
    known = (~np.isnan(values[0])).sum(axis=0)
    drawn = statistic(widened(means, own, known).mean(axis=1))
    return drawn + distance_to_new_models(statistic(own), resamples, rng)


def distance_to_new_models(own: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """How far the mean over models may be from that over all models that might have been trained.

    Heads can take the place of models.

    For every number, and every linear combination of numbers, the distribution is Student's t with
    the standard error of the models' mean. Percentiles of it and a bootstrap over examples together
    are the Behrens-Fisher interval, which that of `seeds.mean_over_seeds` approximates.

    Args:
        own: [models, ...] numbers of each model.
        resamples: Number of samples.
        rng: Source of randomness.

    Returns:
        [resamples, ...] deviations; 0 with one model, which says nothing of others.
    """
    models = len(own)
    if models == 1:
        return np.zeros((resamples, *own.shape[1:]))
    normal = rng.normal(size=(resamples, models))
    normal -= normal.mean(axis=1, keepdims=True)
    size = np.sqrt(models * rng.chisquare(models - 1, size=(resamples, 1)))
    return np.tensordot(normal / size, own - own[0], axes=1)


def interval_of_mean(values: Floats) -> Floats:
    """Interval of means over examples that may be skewed, as losses are.

    Student's t would miss the mean of skewed values on one side much more often than on the other,
    and a bootstrap of a few dozen examples misses it too often on both. Each mean's t is
    transformed so that its distribution is that of t to second order (Hall 1992, "On the removal of
    skewness by transformation"). If 5 % of the examples have a large loss, 32 examples often have
    none of these: the interval then covers the mean in 74 % of samples, of 100 examples in 94 %.

    Args:
        values: [at least 2 examples, ...] numbers of each example.

    Returns:
        [2, ...] lower and upper ends.
    """
    from scipy import stats

    error, skewness = _error_and_skewness(values)
    greatest = stats.t.ppf(1 - LEVEL / 2, len(values) - 1)
    ends = [_like_skewed(np.full_like(error, t), skewness) for t in (greatest, -greatest)]
    return np.asarray(values.mean(axis=0) - np.stack(ends) * error)


def _error_and_skewness(values: Floats) -> tuple[Floats, Floats]:
    """[...] standard errors of means over [examples, ...], and skewness of these means."""
    centred, spread = values - values.mean(axis=0), np.asarray(values.std(axis=0))
    third = np.asarray((centred**3).mean(axis=0))
    skewness = ratio(third, spread**3) / np.sqrt(len(values))
    return spread / np.sqrt(max(1, len(values) - 1)), skewness


def _like_skewed(t: Floats, skewness: Floats) -> Floats:
    """Student's t, transformed to be distributed as the t of means of this skewness (Hall 1992)."""
    shifted = t - skewness / 6
    curved = np.abs(skewness) > _STRAIGHT
    divisor = np.where(curved, skewness, 1)
    removed = 3 * (np.cbrt(1 + divisor * shifted) - 1) / divisor
    return np.asarray(np.where(curved, removed, shifted))


def drawn_correlations(
    sources: Floats, targets: Floats, resamples: int, rng: np.random.Generator
) -> Floats:
    """Correlations over units, means over models, as other units and models would give them.

    Over units, Fisher's z moves by Student's t. Its standard error is that of the jackknife, which
    holds for skewed values, or that of uncorrelated values, 1 / √(n - 3), if it is greater: where a
    few units are far from all others, a jackknife finds too little of what chance can do. Over
    models, see `distance_to_new_models`. Correlations share their draws, so differences can be
    drawn, too.

    Args:
        sources: [sources, units], for example weights of heads in other encoders.
        targets: [models, units] what they are correlated with.
        resamples: Number of samples.
        rng: Source of randomness.

    Returns:
        [resamples, sources], beyond ±1 where models differ much; NaN for fewer units than
        `FEWEST_UNITS`.
    """
    units = sources.shape[-1]
    if units < FEWEST_UNITS:
        return np.full((resamples, len(sources)), np.nan)
    all_and_one_less = np.concatenate([np.ones((1, units)), 1 - np.eye(units)]).astype(np.int64)
    scores = np.stack([pearson(sources, target)(all_and_one_less) for target in targets], axis=1)
    z = np.arctanh(np.clip(scores, -_NEAR_ONE, _NEAR_ONE))
    influence = (units - 1) * (z[0] - z[1:])
    error = influence.std(axis=0, ddof=1) / np.sqrt(units)
    influence *= ratio(np.maximum(error, 1 / np.sqrt(units - 3)), error)
    unit_draws = np.tanh(z[0] + distance_to_new_models(influence, resamples, rng)).mean(axis=1)
    return np.asarray(unit_draws + distance_to_new_models(scores[0], resamples, rng))


def probability_greatest(drawn: Floats, tolerance: float) -> Floats:
    """How often each candidate has the greatest value by all criteria; tied ones share equally.

    Args:
        drawn: [criteria, resamples, candidates, ...]; NaN for a value that does not exist.
        tolerance: Values this close to the greatest tie with it.

    Returns:
        [candidates, ...] probabilities; their sum is below 1 if criteria disagree.
    """
    known = np.where(np.isnan(drawn), -np.inf, drawn)
    best = (known >= known.max(axis=2, keepdims=True) - tolerance).all(axis=0)
    return (best / np.maximum(best.sum(axis=1, keepdims=True), 1)).mean(axis=0)


def excess_over_rivals(means: Floats, drawn: Floats, tolerance: float) -> Floats:
    """By how much each candidate exceeds the strongest other one, by the criterion least in favour.

    It is above 0 if all differences are, an intersection-union test that needs no correction, and
    below 0 if one of them is. So its ends are the least ones of all differences: lower ends of 95%
    intervals, upper ends of intervals corrected for the number of differences (Bonferroni).
    Candidates that tie have 0 between them, however many there are.

    Args:
        means: [criteria, candidates, ...]; NaN for a value that does not exist.
        drawn: [criteria, resamples, candidates, ...] the means that other samples would give.
        tolerance: Values this close are equal.

    Returns:
        [3, candidates, ...] the difference, its lower and its upper end; NaN without rivals.
    """
    criteria, candidates, *_ = means.shape
    known = (~np.isnan(means)).any(axis=0).reshape(candidates, -1).any(axis=1).sum()
    corrected = LEVEL / 2 / max(1, criteria * (known - 1))
    found = np.full((3, *means.shape[1:]), np.nan)
    for one in range(candidates):
        rest = np.arange(candidates) != one
        apart = means[:, [one]] - means[:, rest]
        sample_draws = drawn[:, :, [one]] - drawn[:, :, rest]
        low, high = quantiles_of_known(np.moveaxis(sample_draws, 1, 0), (LEVEL / 2, 1 - corrected))
        parts = np.stack([apart, np.minimum(low, apart) - tolerance, high + tolerance])
        least = np.where(np.isnan(parts), np.inf, parts).min(axis=(1, 2), initial=np.inf)
        known_by_all = ~np.isnan(means[:, one]).any(axis=0) & np.isfinite(least).all(axis=0)
        found[:, one] = np.where(known_by_all, least, np.nan)
    found[2] = np.maximum(found[2], found[0])
    return found
