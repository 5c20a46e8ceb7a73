"""What would decide what is undecided: seeds, examples, or what the run lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from darksecrets.claims.answers import Answer
from darksecrets.claims.estimates import Estimate, Threshold
from darksecrets.stats import LEVEL
from darksecrets.stats.power import MOST, POWER, Distance, seeds_needed

TOO_MANY = "more seeds alone would hardly decide it"
"""What is said if no number of seeds that is counted would."""
NOTHING = "nothing in a run can decide it"
"""What is said of claims that no number decides."""
OF_TEST = "would need more examples, seeds or heads: a p-value does not say how many"
"""What is said of claims that a p-value leaves open."""

Judged = Sequence[tuple[Estimate, Answer]]


def seeds_in_words(
    threshold: Threshold, judged: Judged, quantifier: str, comparisons: int = 1
) -> str:
    """How many seeds would decide a statement that is undecided, in words.

    A statement about every thing holds once all undecided ones are decided together; if some seem
    to be on the other side, the first that is decided refutes it, at a level corrected for their
    number. Of a statement about some thing, the reverse is true.

    Args:
        threshold: What the estimates are compared with.
        judged: The estimates, with what each says.
        quantifier: For which of them the statement is made.
        comparisons: Of how many things the one estimate is the greatest or least.

    Returns:
        Empty if seeds have nothing to do with it, or too little is known of their differences: an
        estimate is missing, or from one seed.
    """
    if not all(one.is_known for one, _ in judged):
        return ""
    undecided = [one for one, answer in judged if answer == Answer.OPEN]
    if not undecided or any(one.seeds is None or one.seeds < 2 for one in undecided):
        return ""
    alone = Answer.YES if quantifier == "some" else Answer.NO
    single = [one for one in undecided if _of_value(threshold, one) == alone]
    level = LEVEL / max(comparisons, len(judged) if single else 1)
    together = [[one] for one in single] or [undecided]
    found = [_seeds(threshold, ones, level) for ones in together]
    counts = [count for count in found if count is not None]
    if not counts:
        return TOO_MANY
    count = min(counts)
    if all(_is_split(one) for one in single or undecided):
        condition = "if the difference found is the true one and none fails"
        return f"would need about {count} seeds, {condition}"
    return f"would need at least {count} seeds, and more examples if these limit it; none may fail"


def examples_in_words(
    threshold: Threshold, judged: Judged, quantifier: str, comparisons: int = 1
) -> str:
    """How many times as many examples would decide a statement about known numbers, in words.

    As `seeds_in_words`, for numbers that do not depend on seeds: intervals shrink as 1 / √n.
    """
    from scipy.stats import norm

    undecided = [one for one, answer in judged if answer == Answer.OPEN]
    if not undecided or not all(one.is_known for one, _ in judged):
        return ""
    alone = Answer.YES if quantifier == "some" else Answer.NO
    single = [one for one in undecided if _of_value(threshold, one) == alone]
    level = LEVEL / max(comparisons, len(judged) if single else 1)
    usual, reach = norm.isf(LEVEL / 2), norm.isf(level / 2)

    def times(estimate: Estimate, fails: float) -> float:
        half = max(estimate.high - estimate.value, estimate.value - estimate.low)
        distance = min(_distances(threshold, estimate))
        ratio = half / usual * (reach + norm.isf(fails)) / distance if distance else math.inf
        return max(1.0, float(ratio**2))

    together = [[one] for one in single] or [undecided]
    count = min(max(times(one, (1 - POWER) / len(ones)) for one in ones) for ones in together)
    if count > MOST:
        return "more examples alone would hardly decide it"
    return (
        f"would need about {math.ceil(10 * count) / 10:g} times as many examples, or whatever else "
        "the interval is over, if the difference found is the true one"
    )


def lacks_in_words(estimates: Iterable[Estimate]) -> str:
    """What a run would need so that numbers can decide; empty if all are known."""
    parts = dict.fromkeys(filter(None, (each.lacks for each in estimates)))
    return f"would need {', '.join(parts)}" if parts else ""


def joined(parts: Iterable[str]) -> str:
    """What several questions need, each once."""
    return "; ".join(dict.fromkeys(filter(None, parts)))


def _of_value(threshold: Threshold, estimate: Estimate) -> Answer:
    """What an estimate would say if it were certain."""
    return threshold.answer(replace(estimate, low=estimate.value, high=estimate.value))


def _is_split(estimate: Estimate) -> bool:
    """Whether it is known how much of the variance is of seeds, how much of examples."""
    return not math.isnan(estimate.between)


def _seeds(threshold: Threshold, estimates: Sequence[Estimate], level: float) -> int | None:
    """Seeds that decide about some estimates together, more than they have; None if none do."""
    distances = [
        replace(_variances(one), distance=distance)
        for one in estimates
        for distance in _distances(threshold, one)
    ]
    count = seeds_needed(*distances, level=level)
    return None if count is None else max(count, *(1 + (one.seeds or 0) for one in estimates))


def _distances(threshold: Threshold, estimate: Estimate) -> tuple[float, ...]:
    """How far all that is allowed for is from the bounds; 0 if it is on both sides of one."""
    below, above = estimate.allowed
    ends = [replace(estimate, value=estimate.value + by) for by in (-below, above)]
    if len({_of_value(threshold, end) for end in ends}) > 1:
        return (0.0,)
    distances = (threshold.distances(end.value) for end in ends)
    return tuple(map(min, zip(*distances, strict=True)))


def _variances(estimate: Estimate) -> Distance:
    """What varies, at a distance of 0.

    If the variance is not split, all of it is taken to be of seeds: the fewest that could do.
    """
    from scipy.stats import t

    if _is_split(estimate):
        return Distance(0.0, estimate.between, estimate.of_examples)
    assert estimate.seeds is not None
    below, above = estimate.allowed
    half = min(estimate.high - above - estimate.value, estimate.value - estimate.low - below)
    student = float(t.isf(LEVEL / 2, estimate.seeds - 1))
    return Distance(0.0, half / student * math.sqrt(estimate.seeds))
