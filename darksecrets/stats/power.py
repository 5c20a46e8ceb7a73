"""How many fine-tuning seeds would decide whether a difference is on one side of a threshold.

The mean over n seeds has the variance e + s²/n: that of the examples, which more seeds do not
reduce, and that between seeds. It decides if its distance from the threshold is more than the
critical value c (`darksecrets.stats.seeds`) times the standard error that is found. With a true
distance d and a true deviation σ, the mean is normal and, independently, (n − 1) s² / σ² is χ² with
n − 1 degrees of freedom; so the probability of a decision is the mean over that distribution of

    Φ((d − c(s²) √(e + s²/n)) / √(e + σ²/n)).

For e = 0 this is the noncentral t distribution: the power of the one-sample (paired) t test.

A number of seeds planned from a difference that was found says what it would take if the true
difference were that one. It is no evidence, and as uncertain as the difference and the few seeds
that it was found with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from darksecrets.stats import LEVEL

POWER = 0.8
"""Probability with which the seeds would decide."""

_MIDDLES = (np.arange(1000) + 0.5) / 1000  # of the parts that a distribution is cut into

MOST = 1000
"""More seeds than this are not counted."""


@cache
def power(
    seeds: int, distance: float, between: float, of_examples: float = 0.0, level: float = LEVEL
) -> float:
    """Probability that so many seeds put the interval on the true side of the threshold.

    Args:
        seeds: Number of seeds, 2 at least.
        distance: True distance of the mean from the threshold, not negative.
        between: Standard deviation between seeds.
        of_examples: Variance of the mean that comes from the examples.
        level: Share of the distribution outside of the interval, both sides together.
    """
    from scipy.stats import chi2, nct, norm, t

    of_seeds = between**2 / seeds
    error = math.sqrt(of_examples + of_seeds)
    if error == 0:
        return float(distance > 0)
    normal, student = (float(t.isf(level / 2, degrees)) for degrees in (math.inf, seeds - 1))
    if of_examples == 0:
        return float(nct.sf(student, seeds - 1, distance / error))
    found = of_seeds * chi2.ppf(_MIDDLES, seeds - 1) / (seeds - 1)
    critical = (of_examples * normal + found * student) / (of_examples + found)
    reach = critical * np.sqrt(of_examples + found)
    return float(norm.cdf((distance - reach) / error).mean())


@dataclass(frozen=True)
class Distance:
    """How far the mean of seeds is from a bound that its interval must not include.

    Attributes:
        distance: Distance of the mean from the bound, if it is that of the seeds at hand.
        between: Standard deviation between seeds.
        of_examples: Variance of the mean that comes from the examples.
    """

    distance: float
    between: float
    of_examples: float = 0.0


def seeds_needed(*distances: Distance, level: float = LEVEL) -> int | None:
    """The fewest seeds that decide about all distances with probability `POWER`; see `power`.

    Of several, the probabilities to fail are added up, which holds for any dependence between them:
    a few that are each decided with probability `POWER` are not decided together with it.

    Args:
        distances: What has to be decided, one at least.
        level: Share of the distribution outside of the interval, both sides together.

    Returns:
        None if `MOST` seeds do not: more examples are needed, or a difference is tiny.
    """

    def enough(seeds: int) -> bool:
        fails = (
            1 - power(seeds, each.distance, each.between, each.of_examples, level)
            for each in distances
        )
        return 1 - sum(fails) >= POWER

    few, many = 1, MOST
    if not enough(many):
        return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many
