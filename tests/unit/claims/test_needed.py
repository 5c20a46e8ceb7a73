"""How many seeds an undecided claim needs: against simulated runs, and what is not said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from darksecrets.claims.answers import Answer
from darksecrets.claims.estimates import Estimate, Threshold, difference, over_seeds, spread, total
from darksecrets.claims.needed import TOO_MANY, seeds_in_words
from darksecrets.stats.power import seeds_needed

ABOVE = Threshold(above=0)
HALF = 1.959964  # half-width of an interval over examples, in standard errors


def of_seeds(values: np.ndarray, error: float) -> Estimate:
    """The mean over seeds, each with an interval over examples."""
    parts = [
        Estimate(("RTE",), value, value - HALF * error, value + HALF * error, seeds=1)
        for value in values
    ]
    return over_seeds(parts, spread([values.tolist()]))


def said(*estimates: Estimate, quantifier: str = "every", threshold: Threshold = ABOVE) -> str:
    return seeds_in_words(threshold, [(e, threshold.answer(e)) for e in estimates], quantifier)


VALUES = np.array([0.3, 2.0, 0.7])


def test_the_number_is_that_of_the_formula_for_this_difference_and_spread() -> None:
    found = of_seeds(VALUES, 0.3)
    assert ABOVE.answer(found) == Answer.OPEN
    assert found.between == pytest.approx(VALUES.std(ddof=1))
    assert found.of_examples == pytest.approx(0.09, rel=1e-5)
    needed = seeds_needed(1.0, VALUES.std(ddof=1), 0.09)
    assert said(found) == f"would need about {needed} seeds"


@pytest.mark.parametrize("error", [0.01, 0.25])
def test_so_many_seeds_decide_in_four_of_five_runs(error: float) -> None:
    """1,000 simulated claims, decided as a run does: within 4 points of 80%, or a little more."""
    rng, distance, between = np.random.default_rng(0), 1.0, 1.2
    seeds = seeds_needed(distance, between, error**2)
    assert seeds is not None
    decided = 0
    for _ in range(1000):
        values = rng.normal(distance + rng.normal(0, error), between, seeds)
        decided += ABOVE.answer(of_seeds(values, error)) == Answer.YES
    assert 0.76 < decided / 1000 < 0.86


def test_an_interval_over_all_seeds_gives_a_lower_bound() -> None:
    """The parts of its variance are not known: all of it could be of seeds."""
    split = of_seeds(VALUES, 0.3)
    whole = replace(split, between=math.nan, of_examples=math.nan)
    words, least = said(split), said(whole)
    assert least.startswith("would need at least ")
    assert int(least.split()[4]) <= int(words.split()[3])


def test_every_thing_needs_the_most_and_a_refutation_the_fewest() -> None:
    small, large = of_seeds(VALUES, 0.1), of_seeds(VALUES - 0.4, 0.1)
    counts = [int(said(each).split()[3]) for each in (small, large)]
    assert counts[0] < counts[1]
    assert said(small, large) == f"would need about {counts[1]} seeds"
    against = replace(small, value=-small.value, low=-small.high, high=-small.low)
    refuted = seeds_needed(1.0, small.between, small.of_examples, 0.05 / 2)
    assert said(against, large) == f"would need about {refuted} seeds"
    assert said(small, against, quantifier="some") == f"would need about {refuted} seeds"


def test_nothing_is_said_where_seeds_decide_nothing() -> None:
    found = of_seeds(VALUES, 0.3)
    decided = of_seeds(VALUES + 20, 0.3)
    assert said(decided) == ""
    assert said(found, Estimate.missing(("QQP",), "not in this run")) == ""
    assert said(replace(found, seeds=None)) == ""
    assert said(replace(found, seeds=1)) == ""
    assert said(found, threshold=Threshold(probable=True)) == ""


def test_examples_that_leave_it_undecided_are_named() -> None:
    assert said(of_seeds(VALUES, 0.6)) == TOO_MANY
    nothing = of_seeds(np.array([-1.0, 1.0, 0.0]), 0.1)
    assert said(nothing) == TOO_MANY


def test_a_distance_is_that_to_the_nearest_bound() -> None:
    assert Threshold(above=2).distance(5) == 3
    assert Threshold(below=2).distance(-1) == 3
    assert Threshold(near=2, within=1).distance(2.75) == pytest.approx(0.25)
    assert Threshold(near=2, within=1).distance(5) == 2


def test_differences_and_sums_keep_what_varies() -> None:
    """Paired ones as if all varied together; of different examples as squares."""
    one, other = of_seeds(VALUES, 0.3), of_seeds(2 * VALUES, 0.4)
    paired, apart = (difference(one, other, independent=free) for free in (False, True))
    assert paired.between == pytest.approx(one.between + other.between)
    assert paired.of_examples == pytest.approx(0.7**2, rel=1e-5)
    assert apart.between == pytest.approx(math.hypot(one.between, other.between))
    assert apart.of_examples == pytest.approx(0.25, rel=1e-5)
    assert total([one, other]).between == pytest.approx(one.between + other.between)
    assert math.isnan(difference(one, replace(other, between=math.nan), independent=True).between)
