"""What undecided claims need: seeds, examples, or what the run lacks."""

from dataclasses import replace

import numpy as np
import pytest
from claim_cases import CASES
from claim_tables import OPEN, RUN, decide

from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.estimates import Estimate, Threshold, average_over_seeds, spread
from darksecrets.pages.claims.needed import NOTHING, OF_TEST, needs_in_words

ABOVE = Threshold(above=0)


def of_seeds(*values: float, half: float) -> Estimate:
    """The mean of values of seeds, each ± half over the same examples."""
    parts = [Estimate(("RTE",), each, each - half, each + half) for each in values]
    return average_over_seeds(parts, spread([values]))


def needed(*estimates: Estimate, threshold: Threshold = ABOVE) -> str:
    return needs_in_words(threshold, [(each, threshold.answer(each)) for each in estimates])


def test_seeds_are_needed_where_an_interval_over_examples_alone_would_decide():
    assert needed(of_seeds(1, 5, half=1)) == "would need more seeds"
    assert needed(of_seeds(2.9, 3.1, half=4)) == "would need more examples"


@pytest.mark.parametrize(
    ("values", "half", "together"),
    [((1, 5), 1.0, 1), ((1, 5), 1.0, 3), ((2.9, 3.1), 4.0, 1), ((2.99, 3.01), 2.8, 3)],
)
def test_what_is_said_to_be_needed_decides(values, half, together):
    """With many of what is named the claim is decided, and with many of the other it is not.

    In the last case the interval excludes 0 and, corrected for three, includes it.
    """
    said = needed(of_seeds(*values, half=half).widen_for(together))
    mean, deviation = np.mean(values), np.std(values, ddof=1)
    many = mean + deviation * np.tile([-1, 1], 500)
    more_seeds = of_seeds(*many, half=half).widen_for(together)
    more_examples = of_seeds(*values, half=half / 100).widen_for(together)
    decided = {
        "would need more seeds": ABOVE.answer(more_seeds) != Answer.OPEN,
        "would need more examples": ABOVE.answer(more_examples) != Answer.OPEN,
    }
    assert [words for words, yes in decided.items() if yes] == [said]


def test_numbers_without_seeds_need_examples():
    assert needed(Estimate((), 1, -1, 3)) == "would need more examples"
    assert needed(Estimate((), 1, -1, 3, seeds=3)) == "would need more seeds or examples"
    assert needed(Estimate((), 1, 0.5, 3)) == "", "it is decided"


def test_different_numbers_need_different_things():
    said = needed(of_seeds(1, 5, half=1), of_seeds(2.9, 3.1, half=4))
    assert said == "would need more seeds and more examples"


def test_nothing_decides_what_failing_models_could_move_across_the_border():
    """Seeds at hand never show a failure that one in ten has; see `failures`."""
    near = Estimate((), 0.5, -2, 3, seeds=3, of_examples=0.1, allowed=(1.0, 0.0))
    assert needed(near) == NOTHING
    assert needed(near, of_seeds(1, 5, half=1)) == "would need more seeds"
    below = replace(near, value=-0.5, low=-3, high=2, allowed=(0.0, 1.0))
    assert needed(below, threshold=Threshold(below=0)) == NOTHING


def test_what_is_allowed_for_failing_models_is_corrected_too():
    """1.96 to 2.39 standard errors, and 0.45 to 0.55 beside a number of 0.5."""
    near = Estimate((), 0.5, -2, 3, seeds=3, of_examples=0.1, allowed=(0.45, 0.0))
    assert needed(near) == "would need more examples"
    assert needed(near.widen_for(3)) == NOTHING


def test_a_p_value_does_not_say_what_it_needs():
    assert decide("11", CASES["11"][OPEN]).needs == OF_TEST


def test_a_run_without_tasks_or_seeds_needs_these():
    few = replace(RUN, tasks={"RTE": ["accuracy"]})
    found = decide("23", CASES["23"][Answer.YES], few)
    assert found.needs.startswith("would need the tasks MRPC, STS-B")
    one = replace(RUN, seeds={task: [1] for task in RUN.tasks})
    frames = {name: frame[frame["seed"] == 1] for name, frame in CASES["37"][OPEN].items()}
    assert decide("37", frames, one).needs == "would need at least 2 seeds of each task"
