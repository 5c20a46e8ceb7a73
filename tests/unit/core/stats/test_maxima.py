"""The expected maximum of n runs against all possible draws, one by one."""

import itertools
import math

import numpy as np
import pytest

from darksecrets.core.stats.maxima import chances, expected_maximum, expected_of_chosen


@pytest.mark.parametrize("draws", [1, 2, 3, 4])
def test_mean_and_deviation_are_those_of_all_draws(draws):
    scores = [61.0, 55.5, 70.2, 61.0, 49.0]
    greatest = [max(each) for each in itertools.product(scores, repeat=draws)]
    mean = sum(greatest) / len(greatest)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in greatest) / len(greatest))
    found = expected_maximum(np.array(scores), draws)
    assert [float(each) for each in found] == pytest.approx([mean, deviation], rel=1e-12)
    assert chances(5, draws).sum() == pytest.approx(1)
    both = expected_maximum(np.array([scores, scores[::-1]]), draws)[0]
    assert both == pytest.approx([mean, mean])


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_what_chooses_does_not_score(draws):
    """Of equal scores, each run is chosen as often; drawn one by one."""
    by, scored = [3.0, 1.0, 3.0, 2.0], [10.0, 40.0, 20.0, 30.0]
    total = count = 0.0
    for each in itertools.product(range(4), repeat=draws):
        best = max(by[run] for run in each)
        # the ties that a draw has: all runs of that score are alike, whether drawn or not
        runs = [run for run in range(4) if by[run] == best]
        total += sum(scored[run] for run in runs) / len(runs)
        count += 1
    pair = np.array([by, by[::-1]]), np.array([scored, scored[::-1]])
    found = expected_of_chosen(*pair, [1, draws])
    assert found[0] == pytest.approx(np.mean(scored))
    assert found[1] == pytest.approx(total / count)


def test_choosing_by_chance_gains_nothing():
    """Equal runs whose scores vary: the best of 9 seems better, on other examples it is not."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(70, 2, (2, 2000, 9))
    assert expected_maximum(one, 9)[0].mean() > 71.5
    assert expected_of_chosen(one, other, [9]).mean() == pytest.approx(70, abs=0.2)
