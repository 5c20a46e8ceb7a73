"""Means over crossed units (every model saw the same examples, every example all heads).

An interval over examples alone is about the models at hand. With several seeds, what models of
other seeds would add is drawn from Student's t, not from the few seeds; see
`darksecrets.stats.seeds`. What is said of a model's heads in common also allows for other heads, in
the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from darksecrets.stats.paired import mean_of_known
from darksecrets.stats.resampling import resampled_means

Floats = npt.NDArray[np.float64]


def drawn_means(
    values: Floats,
    resamples: int,
    rng: np.random.Generator,
    statistic: Callable[[Floats], Floats] = np.asarray,
) -> Floats:
    """Means over examples and models, or a statistic of them, as other samples would give them.

    Examples are drawn with replacement, the same for all models; `of_new_models` is added. With one
    model, only examples are drawn.

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
    own = statistic(mean_of_known(values, axis=1))
    return statistic(means.mean(axis=1)) + of_new_models(own, resamples, rng)


def of_new_models(own: Floats, resamples: int, rng: np.random.Generator) -> Floats:
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
    deviations: Floats = np.tensordot(normal / size, own - own[0], axes=1)
    return deviations


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
    result: Floats = (best / np.maximum(best.sum(axis=1, keepdims=True), 1)).mean(axis=0)
    return result
