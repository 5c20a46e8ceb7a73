"""How many seeds an undecided claim needs: against simulated runs, and what is not said."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claim_cases import CASES
from claim_cases.kovaleva import BEST, UNDECIDABLE
from claim_tables import METRICS, RUN, TASKS, decide, made
from scipy.stats import binom

from darksecrets.claims import deciding
from darksecrets.claims.answers import Answer
from darksecrets.claims.estimates import Estimate, Threshold, difference, over_seeds, spread, total
from darksecrets.claims.needed import (
    NOTHING,
    OF_TEST,
    TOO_MANY,
    examples_in_words,
    seeds_in_words,
)
from darksecrets.claims.registry import Claim, Quantifier, Question
from darksecrets.claims.sources import Run, Tables
from darksecrets.contracts import TABLES
from darksecrets.stats.power import Distance, seeds_needed

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


def about(seeds: int | None) -> str:
    return f"would need about {seeds} seeds, if the difference found is the true one and none fails"


VALUES = np.array([0.3, 2.0, 0.7])


def test_the_number_is_that_of_the_formula_for_this_difference_and_spread():
    found = of_seeds(VALUES, 0.3)
    assert ABOVE.answer(found) == Answer.OPEN
    assert found.between == pytest.approx(VALUES.std(ddof=1))
    assert found.of_examples == pytest.approx(0.09, rel=1e-5)
    needed = seeds_needed(Distance(1.0, VALUES.std(ddof=1), 0.09))
    assert said(found) == about(needed)


@pytest.mark.parametrize("error", [0.01, 0.25])
def test_so_many_seeds_decide_in_four_of_five_runs(error):
    """1,000 simulated claims, decided as a run does: within 4 points of 80%, or a little more."""
    rng, distance, between = np.random.default_rng(0), 1.0, 1.2
    seeds = seeds_needed(Distance(distance, between, error**2))
    assert seeds is not None
    decided = 0
    for _ in range(1000):
        values = rng.normal(distance + rng.normal(0, error), between, seeds)
        decided += ABOVE.answer(of_seeds(values, error)) == Answer.YES
    assert 0.76 < decided / 1000 < 0.86


def test_an_interval_over_all_seeds_gives_a_lower_bound():
    """The parts of its variance are not known: all of it could be of seeds, or of examples."""
    split = of_seeds(VALUES, 0.3)
    whole = replace(split, between=math.nan, of_examples=math.nan)
    words, least = said(split), said(whole)
    assert least.startswith("would need at least ")
    assert least.endswith("and more examples if these limit it; none may fail")
    assert int(least.split()[4]) <= int(words.split()[3])


def test_every_thing_needs_the_most_and_a_refutation_the_fewest():
    small, large = of_seeds(VALUES, 0.1), of_seeds(VALUES - 0.4, 0.1)
    counts = [int(said(each).split()[3]) for each in (small, large)]
    assert counts[0] < counts[1]
    both = [Distance(value, small.between, 0.01) for value in (small.value, large.value)]
    assert said(small, large) == about(seeds_needed(*both))
    assert seeds_needed(*both) > counts[1]
    against = replace(small, value=-small.value, low=-small.high, high=-small.low)
    refuted = seeds_needed(Distance(1.0, small.between, small.of_examples), level=0.05 / 2)
    assert said(against, large) == about(refuted)
    assert said(small, against, quantifier="some") == about(refuted)


def test_nothing_is_said_where_seeds_decide_nothing():
    found = of_seeds(VALUES, 0.3)
    decided = of_seeds(VALUES + 20, 0.3)
    assert said(decided) == ""
    assert said(found, Estimate.missing(("QQP",), "not in this run")) == ""
    assert said(replace(found, seeds=None)) == ""
    assert said(replace(found, seeds=1)) == ""


def test_examples_that_leave_it_undecided_are_named():
    assert said(of_seeds(VALUES, 0.6)) == TOO_MANY
    nothing = of_seeds(np.array([-1.0, 1.0, 0.0]), 0.1)
    assert said(nothing) == TOO_MANY


def test_distances_are_those_to_the_bounds_that_matter():
    assert Threshold(above=2).distances(5) == (3,)
    assert Threshold(below=2).distances(-1) == (3,)
    assert Threshold(near=2, within=1).distances(2.75) == pytest.approx((1.75, 0.25))
    assert Threshold(near=2, within=1).distances(5) == (2,)


def test_differences_and_sums_keep_what_varies():
    """Paired ones as if all varied together; of different examples as squares."""
    one, other = of_seeds(VALUES, 0.3), of_seeds(2 * VALUES, 0.4)
    paired, apart = (difference(one, other, independent=free) for free in (False, True))
    assert paired.between == pytest.approx(one.between + other.between)
    assert paired.of_examples == pytest.approx(0.7**2, rel=1e-5)
    assert apart.between == pytest.approx(math.hypot(one.between, other.between))
    assert apart.of_examples == pytest.approx(0.25, rel=1e-5)
    assert total([one, other]).between == pytest.approx(one.between + other.between)
    assert math.isnan(difference(one, replace(other, between=math.nan), independent=True).between)


# Claims about tables, decided as in a run. The truth is known, and what is said of it is tried.
BETWEEN = 1.0
NEAR = Threshold(near=0, within=1)


def claims_of(
    truths: list[float],
    values: np.ndarray,
    error: float,
    threshold: Threshold = ABOVE,
    quantifier: Quantifier = "every",
) -> deciding.Finding:
    """Decide a claim about the [tasks, seeds] values of a table."""
    names = [f"T{number}" for number in range(len(truths))]
    rows = [
        {"task": task, "seed": seed, "unbiased_gain": value}
        | {"gain_low": value - HALF * error, "gain_high": value + HALF * error}
        for task, of_task in zip(names, values, strict=True)
        for seed, value in enumerate(of_task)
    ]
    ends = [c.name for c in TABLES["survival"].columns if c.interval_of == "unbiased_gain"]
    table = pd.DataFrame(rows).rename(
        columns=dict(zip(("gain_low", "gain_high"), ends, strict=True))
    )
    question = Question(
        "survival", value="unbiased_gain", threshold=threshold, quantifier=quantifier
    )
    claim = Claim("p", "1", "1", "It holds.", "", "", (), (question,), "", "", "")
    seeds = range(values.shape[1])
    run = Run(dict.fromkeys(names, ("accuracy",)), dict.fromkeys(names, seeds))
    return deciding.decide(claim, names, Tables({"survival": table}, TABLES), run)


def drawn(rng: np.random.Generator, truths: list[float], seeds: int, error: float) -> np.ndarray:
    """[tasks, seeds] values; the examples of a task are the same for all of its seeds."""
    means = np.array(truths) + error * rng.normal(size=len(truths))
    return means[:, None] + BETWEEN * rng.normal(size=(len(truths), seeds))


def exactly(truths: list[float]) -> np.ndarray:
    """[tasks, 3] seeds whose mean and deviation are the true ones."""
    return np.array(truths)[:, None] + BETWEEN * np.array([-1.0, 0.0, 1.0])


def number_said(finding: deciding.Finding) -> int | None:
    words = finding.needs.split()
    return int(words[3]) if words[:3] == ["would", "need", "about"] else None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("truths", "error", "threshold", "quantifier", "answer"),
    [
        ([0.8], 0.15, ABOVE, "every", Answer.YES),
        ([0.9, 0.9, 0.9, 0.9], 0.15, ABOVE, "every", Answer.YES),
        ([0.9, 0.9, -0.9], 0.15, ABOVE, "every", Answer.NO),
        ([0.9, -0.9, -0.9], 0.0, ABOVE, "some", Answer.YES),
        ([-0.9, -0.9, -0.9], 0.0, ABOVE, "some", Answer.NO),
        ([0.0], 0.15, NEAR, "every", Answer.YES),
        ([1.9], 0.15, NEAR, "every", Answer.NO),
    ],
)
def test_as_many_seeds_as_said_decide_a_claim(truths, error, threshold, quantifier, answer):
    """Of 100 simulated runs, 80 % less 3.1 standard errors at least; at most nearly all.

    Deviations pooled over tasks have more degrees of freedom than those of one, and failures are
    added up, so that it may be more than 80 %.
    """
    rng, trials = np.random.default_rng(20), 100
    small = claims_of(truths, exactly(truths), error, threshold, quantifier)
    assert small.answer == Answer.OPEN
    seeds = number_said(small)
    assert seeds is not None
    decided = 0
    for _ in range(trials):
        values = drawn(rng, truths, seeds, error)
        decided += claims_of(truths, values, error, threshold, quantifier).answer == answer
    assert 0.67 < decided / trials < 0.97


@pytest.mark.parametrize(("truths", "threshold"), [([0.0], ABOVE), ([1.0], NEAR), ([1, 0], ABOVE)])
def test_no_number_of_seeds_is_promised_for_a_difference_of_zero(truths, threshold):
    found = claims_of(truths, exactly(truths), 0.1, threshold)
    assert (found.answer, found.needs) == (Answer.OPEN, TOO_MANY)


@pytest.mark.thorough
def test_what_is_said_of_differences_that_only_seem_to_be_there_is_conditional():
    """Three seeds of no true difference: a number is a plan, and rarely decides if it is used."""
    rng, decided, numbers = np.random.default_rng(21), 0, []
    for _ in range(100):
        found = claims_of([0.0], drawn(rng, [0.0], 3, 0.1), 0.1)
        seeds = number_said(found)
        if seeds is None:
            assert found.answer != Answer.OPEN or found.needs == TOO_MANY
            continue
        assert found.needs.endswith("if the difference found is the true one and none fails")
        numbers.append(seeds)
        again = claims_of([0.0], drawn(rng, [0.0], seeds, 0.1), 0.1)
        decided += again.answer != Answer.OPEN
    assert decided <= binom.ppf(0.999, len(numbers), 0.05)


@pytest.mark.thorough
def test_seeds_are_not_asked_for_where_examples_are_too_few():
    """Intervals so wide for their examples that all the seeds in the world rarely decide."""
    rng, distance, error = np.random.default_rng(22), 0.8, 0.4
    assert claims_of([distance], exactly([distance]), error).needs == TOO_MANY
    decided = [
        claims_of([distance], drawn(rng, [distance], 100, error), error).answer == Answer.YES
        for _ in range(60)
    ]
    assert np.mean(decided) < 0.72
    enough = claims_of([distance], exactly([distance]), error / 2)
    assert number_said(enough) is not None


@pytest.mark.parametrize(("error", "level"), [(1.0, 1), (1.5, 1), (1.0, 3)])
def test_so_many_times_the_examples_decide_in_four_of_five_runs(error, level):
    """2,000 draws of a difference of 1, with as many times the examples: within 3 points of 80%."""
    found = Estimate(("RTE",), 1.0, 1 - HALF * error, 1 + HALF * error)
    words = examples_in_words(ABOVE, [(found, Answer.OPEN)], "every", level)
    times = float(words.removeprefix("would need about ").split()[0])
    rng, smaller = np.random.default_rng(0), error / math.sqrt(times)
    decided = 0
    for value in rng.normal(1, smaller, 2000):
        drawn = Estimate(("RTE",), value, value - HALF * smaller, value + HALF * smaller)
        decided += ABOVE.answer(drawn.for_one_of(level)) == Answer.YES
    assert 0.77 < decided / 2000 < 0.84


def test_examples_for_all_of_several_or_for_the_first_that_refutes():
    def of(value: float) -> tuple[Estimate, Answer]:
        return Estimate(("RTE",), value, value - 2, value + 2), Answer.OPEN

    def times(*judged: tuple[Estimate, Answer]) -> float:
        words = examples_in_words(ABOVE, judged, "every")
        return float(words.removeprefix("would need about ").split()[0])

    assert times(of(1), of(1)) > times(of(1)), "all together"
    assert times(of(1), of(-1)) == times(of(-1), of(1)), "one that refutes is enough"
    assert times(of(0.5), of(-1)) < times(of(0.5), of(0.5))
    assert "hardly" in examples_in_words(ABOVE, [of(1e-3)], "every")
    assert "hardly" in examples_in_words(ABOVE, [of(0)], "every")


def test_what_a_run_lacks_is_named():
    frames = made("survival", "unbiased_gain", dict.fromkeys(TASKS[:-2], 2.0), **BEST)
    run = replace(RUN, tasks={task: METRICS[task] for task in TASKS[:-1]})
    found = decide("37", frames, run)
    missing = f"the numbers that are missing, the task {TASKS[-1]}"
    assert (found.answer, found.needs) == (Answer.OPEN, f"would need {missing}")
    alone = replace(RUN, seeds={task: [1] for task in TASKS})
    (table,) = CASES["37"][Answer.YES].values()
    found = decide("37", {"survival": table[table["seed"] == 1]}, alone)
    assert found.needs == "would need at least 2 seeds of each task"
    assert decide("25", {}).needs == NOTHING
    assert decide("4", UNDECIDABLE["4"][Answer.OPEN]).needs == NOTHING
    assert decide("11", CASES["11"][Answer.OPEN]).needs == OF_TEST
