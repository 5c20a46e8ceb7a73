"""What would decide what is undecided: what the run lacks, more seeds, or more examples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.seeds import critical_value
from darksecrets.core.words import listed
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.estimates import Estimate, Threshold

A_TASK = "the task "
"""What a number lacks whose task is not in the run, before the task's name."""
SEEDS, EXAMPLES, EITHER = "more seeds", "more examples", "more seeds or examples"
NOTHING = "nothing in a run can decide it"
"""What is said of numbers so near the border that fine-tunings that fail could move them across,
and of explanations of what is not so."""
OF_TEST = "would need more examples, seeds or heads: a p-value does not say which"
"""What is said of claims that a p-value leaves open."""


def needs_in_words(threshold: Threshold, judged: Sequence[tuple[Estimate, Answer]]) -> str:
    """What would decide a statement about known numbers that is undecided, in words.

    Args:
        threshold: What the estimates are compared with.
        judged: The estimates, with what each says.

    Returns:
        Words that name seeds, examples, or each if numbers differ in what they need; empty if no
        number is undecided.
    """
    needs = {_needed(threshold, estimate) for estimate, answer in judged if answer == Answer.OPEN}
    kinds = [kind for kind in (SEEDS, EXAMPLES, EITHER) if kind in needs]
    if kinds:
        return f"would need {' and '.join(kinds)}"
    return NOTHING if NOTHING in needs else ""


def lacks_in_words(estimates: Iterable[Estimate]) -> str:
    """What a run would need so that numbers can decide; empty if all are known."""
    parts = [*dict.fromkeys(filter(None, (each.lacks for each in estimates)))]
    tasks = [part.removeprefix(A_TASK) for part in parts if part.startswith(A_TASK)]
    if len(tasks) > 1:
        others = [part for part in parts if not part.startswith(A_TASK)]
        parts = [f"the tasks {listed(tasks)}", *others]
    return f"would need {', '.join(parts)}" if parts else ""


def joined(parts: Iterable[str]) -> str:
    """What several questions need, each once."""
    return "; ".join(dict.fromkeys(filter(None, parts)))


def _needed(threshold: Threshold, estimate: Estimate) -> str:
    """What would decide about one number.

    More seeds, if the number would be decided by an interval over examples alone: that is how far
    seeds can shrink it. Numbers that do not depend on seeds need examples; of means over seeds
    whose table does not split the variance, either may be what limits them. An interval that is
    one of several is corrected for their number here, too.
    """
    if _interval(threshold, estimate, of_examples=0.0) == Answer.OPEN:
        return NOTHING
    if estimate.seeds is None:
        return EXAMPLES
    if math.isnan(estimate.of_examples):
        return EITHER
    of_many_seeds = _interval(threshold, estimate, estimate.of_examples)
    return EXAMPLES if of_many_seeds == Answer.OPEN else SEEDS


def _interval(threshold: Threshold, estimate: Estimate, of_examples: float) -> Answer:
    """The answer if examples alone had this variance, beside what is allowed for failures."""
    half = critical_value(LEVEL) * math.sqrt(of_examples)
    below, above = estimate.allowed
    low, high = estimate.value - half - below, estimate.value + half + above
    alone = replace(estimate, low=low, high=high, degrees=math.inf)
    return threshold.answer(alone.widen_for(estimate.together))
