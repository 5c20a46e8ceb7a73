"""Agreement of rankings, against SciPy, complete enumeration, and data without agreement."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats

from darksecrets.core.stats.ranks import Draws, agreement


def draws_of(layers, *, bootstrap=200, permutations=2000, seed=3):
    return Draws(np.asarray(layers), bootstrap, permutations, seed)


LAYERS = np.repeat(np.arange(1, 4), 4)


def test_it_is_the_mean_of_spearmans_correlation_over_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(6, size=(2, 12)), rng.integers(6, size=(3, 12))
    found = agreement(first, second, draws_of(LAYERS))
    expected = [stats.spearmanr(a, b).statistic for a, b in product(first, second)]
    assert (found.pairs, found.rho) == (6, pytest.approx(np.mean(expected), abs=1e-12))
    found = agreement(second, None, draws_of(LAYERS))
    expected = [stats.spearmanr(a, b).statistic for a, b in combinations(second, 2)]
    assert (found.pairs, found.rho) == (3, pytest.approx(np.mean(expected), abs=1e-12))


def test_intervals_are_percentiles_over_resampled_heads():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 12)), rng.normal(size=(1, 12))
    draws = draws_of(LAYERS, bootstrap=100)
    found = agreement(first, second, draws)
    loop = [
        np.mean([stats.spearmanr(row[drawn], second[0][drawn]).statistic for row in first])
        for drawn in draws.resampled()
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(loop, [2.5, 97.5])))


def test_p_values_are_those_of_all_permutations():
    """Six heads have 36 permutations within two layers; error of 20,000 draws: 0.01."""
    rng, layers = np.random.default_rng(5), np.array([1, 1, 1, 2, 2, 2])
    first, second = rng.normal(size=6), rng.normal(size=6)
    second[3:] += 0.8
    found = agreement(first[None], second[None], draws_of(layers, permutations=20_000))
    inside = [list(order) for order in permutations(range(6)) if {*order[:3]} == {0, 1, 2}]
    drawn = np.array([stats.spearmanr(first, second[order]).statistic for order in inside])
    centre = drawn.mean()
    expected = (np.abs(drawn - centre) >= abs(found.rho - centre) - 1e-9).mean()
    assert found.p == pytest.approx(expected, abs=0.02)


def test_in_a_single_layer_all_permutations_count():
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=(2, 5))
    found = agreement(first[None], second[None], draws_of(np.ones(5, int), permutations=20_000))
    orders = map(list, permutations(range(5)))
    drawn = np.array([stats.spearmanr(first, second[order]).statistic for order in orders])
    expected = (np.abs(drawn) >= abs(found.rho) - 1e-9).mean()
    assert found.p == pytest.approx(expected, abs=0.02)


def test_the_least_p_value_counts_the_ranking_itself():
    """Of 2,000 orders of twelve heads, none is as alike as a ranking is to itself."""
    ranking = np.arange(12.0)
    found = agreement(ranking[None], ranking[None], draws_of(np.zeros(12, int)))
    assert found.p == pytest.approx(1 / 2001)


def test_layers_that_matter_alike_are_no_agreement_of_heads():
    """In both rankings the layer decides, and heads are random."""
    rng, p = np.random.default_rng(2), []
    for _ in range(60):
        first, second = (LAYERS + 0.5 * rng.normal(size=12) for _ in "ab")
        found = agreement(first[None], second[None], draws_of(LAYERS, permutations=300))
        p.append(found.p)
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize("models", [(1, 1), (3, None), (2, 2)])
def test_random_rankings_agree_no_more_often_than_stated(models):
    rng, p = np.random.default_rng(4), []
    for _ in range(150):
        one, other = models
        second = None if other is None else rng.normal(size=(other, 12))
        found = agreement(
            rng.normal(size=(one, 12)), second, draws_of(LAYERS, permutations=300, bootstrap=2)
        )
        p.append(found.p)
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 150)


def test_values_that_hardly_differ_are_ranked_all_the_same():
    values = np.arange(12.0) / 1e6
    assert agreement(values[None], values[None], draws_of(LAYERS)).rho == pytest.approx(1)


def test_equal_values_have_no_correlation():
    found = agreement(np.zeros((1, 12)), np.arange(12.0)[None], draws_of(LAYERS))
    assert found.pairs == 0
    assert np.isnan([found.rho, found.low, found.high, found.p]).all()
