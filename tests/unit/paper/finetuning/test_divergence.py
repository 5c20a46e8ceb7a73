"""Where a training diverged, against a plain loop that reads every loss at once."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from glue import TASKS

from darksecrets.paper.finetuning import divergence
from darksecrets.paper.finetuning.divergence import LossWatch

LIMIT = 10 * math.log(2)


def first_too_large(losses: list[float]) -> int | None:
    """The first step, from 1, whose loss or whose average so far says that training diverged."""
    average = losses[0]
    for step, loss in enumerate(losses, start=1):
        if math.isnan(loss) or math.isinf(loss):
            return step
        average = 0.9 * average + 0.1 * loss
        if average > LIMIT:
            return step
    return None


def found_by_watch(losses: list[float], every: int) -> Any:
    watch = LossWatch.start(TASKS["MRPC"], np.array([0, 1]))
    for step, loss in enumerate(losses, start=1):
        watch.add(step, 0.1 * step, torch.tensor(loss, dtype=torch.float64))
        found = watch.read() if step % every == 0 or step == len(losses) else None
        if found:
            return found
    return None


RNG = np.random.default_rng(0)
CALM = RNG.uniform(0.1, 1.0, 70).tolist()
CASES = {
    "calm": CALM,
    "nan": [*CALM[:33], math.nan, *CALM[33:]],
    "infinite at first": [math.inf, *CALM],
    "rising": (1.1 ** np.arange(70)).tolist(),
    "one outlier that counts": [*CALM[:20], 500.0, *CALM[20:]],
    "one outlier that does not": [*CALM[:20], 50.0, *CALM[20:]],
    "too large, and not finite later": [*CALM[:5], *[1e3] * 9, math.nan],
}


@pytest.mark.parametrize("every", [1, 7, 50, 1000])
@pytest.mark.parametrize("case", CASES)
def test_the_step_is_the_same_however_seldom_losses_are_read(case, every):
    expected, found = first_too_large(CASES[case]), found_by_watch(CASES[case], every)
    assert (found and found.step) == expected
    assert found is None or found.rate == pytest.approx(0.1 * expected)
    assert not [name for name in ("calm", "one outlier that does not") if name == case and found]


def test_losses_are_due_after_fifty_steps_and_read_once():
    watch = LossWatch(LIMIT)
    for step in range(1, divergence.READ_EVERY):
        watch.add(step, 0.1, torch.tensor(0.5))
        assert not watch.is_due
    watch.add(divergence.READ_EVERY, 0.1, torch.tensor(0.5))
    assert watch.is_due
    assert watch.read() is None
    assert not watch.is_due
    assert watch.read() is None


def test_a_regression_is_measured_by_its_labels():
    watch = LossWatch.start(TASKS["STS-B"], np.array([1.0, 3.0]))
    assert watch.limit == pytest.approx(10 * 5.0)
