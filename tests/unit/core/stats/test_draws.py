"""What is chosen for no reason is one more draw."""

import numpy as np
import pytest
from scipy import stats

from darksecrets.core.stats.draws import FEWEST, rank_p_value, reach, reach_of_one_more


@pytest.mark.parametrize("draws", [2, 3, 20])
def test_intervals_of_a_further_draw_are_students(draws):
    """Without a variance over examples, they are the prediction intervals of normal draws."""
    rng = np.random.default_rng(draws)
    others, more = rng.normal(size=(draws, 4000)), rng.normal(size=4000)
    half = reach_of_one_more(np.zeros(4000), others)
    expected = stats.t.ppf(0.975, draws - 1) * others.std(axis=0, ddof=1) * np.sqrt(1 + 1 / draws)
    assert half == pytest.approx(expected)
    assert np.mean(np.abs(more - others.mean(axis=0)) > half) == pytest.approx(0.05, abs=0.012)


def test_draws_that_agree_by_chance_take_the_spread_of_other_sizes():
    others = np.array([[1.0, 0.0, 5.0], [1.0, 2.0, 5.0], [1.0, 4.0, 6.0]])
    half = reach_of_one_more(np.zeros(3), others, family=True)
    spread = np.array([(4 + 1 / 3) / 2, 4, (4 + 1 / 3) / 2])
    assert half == pytest.approx(stats.t.ppf(0.975, 2) * np.sqrt(spread * 4 / 3))
    assert reach_of_one_more(np.zeros(3), others)[0] == 0


def test_a_single_draw_tells_nothing_of_others():
    assert np.isnan(reach(np.ones(2), np.ones(2), 1)).all()
    assert np.isnan(reach_of_one_more(np.array(1.0), np.ones(1)))


def test_there_is_a_p_value_only_where_it_can_be_significant():
    others = np.arange(float(FEWEST))
    assert rank_p_value(99, others) < 0.05
    assert rank_p_value(-1, others, lower=True) < 0.05
    assert rank_p_value(5, others) == (1 + FEWEST - 5) / (1 + FEWEST)
    assert np.isnan(rank_p_value(99, others[1:]))
