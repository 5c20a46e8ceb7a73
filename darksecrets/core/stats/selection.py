"""The gain of the best of many candidates, on held-out examples.

The greatest of many gains is positive even if all true gains are 0. So one random half of the
examples chooses a candidate and the other half scores it, many times and in both directions, and
the mean over these halves is the estimate.

**Its standard error.** Let x be the gains of the candidates on all examples, with covariance V over
samples of examples. A random half has the gains x + e, the other half x - e, where e also has
covariance V (the delete-half jackknife), and both are nearly normal. The half x + e chooses
candidate k with probability p_k(x). The mean gain of the chosen ones on the other half is, by
Stein's identity E[e f(e)] = V E[f'(e)],

    G(x) = E[x_k - e_k] = p(x)'x - tr(V H(x)),        H = dp / dx.

The heads that the halves chose have a mean true gain of p(x)'m, if the true gains are m. By Stein's
identity once more, now over samples x, G is an unbiased estimate of it; and by the identity of
second order (Bellec and Zhang 2021, Annals of Statistics 49, "Second-order Stein"), its mean
squared error is

    E[(G - p'm)^2] = E[p'Vp + tr(V H V H)].

This is exact for normal gains, whatever the true gains and the correlations of the candidates.
The first term is the variance that the mixture of chosen candidates would have if it were fixed.
The second is what the choice adds, because a new sample would have led to other choices.

Both are computed from the same halves: V is the mean of e e', and V H is the mean of e c', where c
marks the candidate chosen (Stein's identity again). The trace of the product of two such means
leaves out products of a split with itself, so it has no bias. Percentiles over halves instead take
every half for an estimate of its own, although their mean varies much less where they choose
different candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.stats import LEVEL

_ROUNDING = 1e-12  # gains closer than this count as equal


@dataclass(frozen=True)
class BestGain:
    """Gain of the best candidate, on held-out examples.

    Attributes:
        mean: Mean gain of the chosen candidates. It estimates the mean of their true gains.
        low: Lower end of the interval of these true gains, ``mean`` -/+ 1.96 standard errors.
        high: Its upper end.
        chosen: [candidates] share of the halves that chose each.
    """

    mean: float
    low: float
    high: float
    chosen: Floats


def best_gain(ones: Floats, others: Floats) -> BestGain:
    """Choose the best candidate on each half of the examples and score it on the other half.

    Args:
        ones: [splits, candidates] gains on one half of the examples; at least two splits.
        others: [splits, candidates] gains on the other half. If candidates tie on a half, they are
            chosen in equal parts.
    """
    by_ones, by_others = _chosen(ones), _chosen(others)
    gains = ((by_ones * others).sum(axis=1) + (by_others * ones).sum(axis=1)) / 2
    chosen = (by_ones + by_others).mean(axis=0) / 2
    error = _standard_error(chosen, (by_ones - by_others) / 2, (ones - others) / 2)
    mean, reach = float(gains.mean()), _normal(1 - LEVEL / 2) * error
    return BestGain(mean, mean - reach, mean + reach, chosen)


def _chosen(gains: Floats) -> Floats:
    """[splits, candidates] 1 for the best candidate of each split, in parts if several tie."""
    best = gains >= gains.max(axis=1, keepdims=True) - _ROUNDING
    return best / best.sum(axis=1, keepdims=True)


def _standard_error(chosen: Floats, choices: Floats, deviations: Floats) -> float:
    """Standard error of the mean gain; the module explains the formula.

    Args:
        chosen: [candidates] p, the shares.
        choices: [splits, candidates] c, half the difference of both halves' choices.
        deviations: [splits, candidates] e, half the difference of both halves' gains.
    """
    splits = len(deviations)
    products = choices.T @ deviations
    with_itself = ((choices * deviations).sum(axis=1) ** 2).sum()
    added = ((products * products.T).sum() - with_itself) / (splits * (splits - 1))
    fixed = np.mean((deviations @ chosen) ** 2)
    return float(np.sqrt(fixed + max(added, 0.0)))  # the trace is not negative, its estimate may be


def _normal(share: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(share))
