"""Shares over clusters: beside a jackknife, SciPy's Wilson interval, and simulations."""

import numpy as np
import pytest
from scipy.stats import binomtest, t

from darksecrets.core.stats.ratios import ratio, share


def drawn(rng, clusters, rate, *, dependent):
    """Clusters of 0 to 6 observations; if they depend, all of a cluster have the property."""
    sizes = rng.integers(0, 7, size=clusters)
    each = rng.random(clusters) < rate
    return (sizes * each if dependent else rng.binomial(sizes, rate)).astype(float), sizes * 1.0


def test_the_standard_error_is_nearly_that_of_a_jackknife():
    rng = np.random.default_rng(1)
    hits, sizes = drawn(rng, 400, 0.4, dependent=True)
    found = ratio(hits, sizes)
    left = [(hits.sum() - hits[i]) / (sizes.sum() - sizes[i]) for i in range(400) if sizes[i] > 0]
    n = len(left)
    error = np.sqrt((n - 1) / n * np.sum((np.array(left) - np.mean(left)) ** 2))
    assert found.value == pytest.approx(hits.sum() / sizes.sum())
    half = t.ppf(0.975, n - 1) * error
    assert found.high - found.value == pytest.approx(half, rel=0.01)
    assert found.value - found.low == pytest.approx(half, rel=0.01)


def test_the_interval_of_few_dependent_clusters_is_wilsons_with_an_effective_size():
    """Kish's effective number of observations, and Student's t of the clusters, by loops."""
    hits, sizes = np.array([3.0, 0.0, 4.0, 2.0, 1.0]), np.array([4.0, 3.0, 4.0, 5.0, 6.0])
    found = share(hits, sizes)
    p = sum(hits) / sum(sizes)
    squares = sum((hit - p * size) ** 2 for hit, size in zip(hits, sizes, strict=True))
    error = np.sqrt(5 / 4 * squares) / sum(sizes)
    n = min(sum(sizes), p * (1 - p) / error**2)
    assert n < sum(sizes), "clusters of dependent observations"
    z = t.ppf(0.975, 4)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert [found.value, found.low, found.high] == pytest.approx([p, centre - half, centre + half])


@pytest.mark.parametrize("count", [0, 30, 997, 1000])
def test_single_observations_have_wilsons_interval(count):
    hits = np.repeat([1.0, 0.0], [count, 1000 - count])
    found = share(hits, np.ones(1000))
    expected = binomtest(count, 1000).proportion_ci(method="wilson")
    assert [found.low, found.high] == pytest.approx([*expected], rel=0.01, abs=1e-9)


def test_columns_are_independent_of_each_other():
    rng = np.random.default_rng(2)
    pairs = [drawn(rng, 30, rate, dependent=False) for rate in (0.2, 0.9, 0.5)]
    together = share(*(np.stack(part, axis=1) for part in zip(*pairs, strict=True)))
    for number, (hits, sizes) in enumerate(pairs):
        alone = share(hits, sizes)
        for name in ("value", "low", "high"):
            assert getattr(together, name)[number] == pytest.approx(getattr(alone, name))


def test_what_is_not_known_is_nan():
    none = share(np.zeros(3), np.zeros(3))
    assert np.isnan([none.value, none.low, none.high]).all()
    alone = share(np.array([2.0, 0.0]), np.array([2.0, 0.0]))
    assert alone.value == 1
    assert np.isnan([alone.low, alone.high]).all()
    few = share(np.array([9.0, 8.0]), np.array([9.0, 8.0]))
    assert few.low < 0.5, "two examples say little, however many maps they have"
    assert few.high == pytest.approx(1)


@pytest.mark.parametrize("dependent", [True, False])
@pytest.mark.parametrize(("clusters", "rate"), [(15, 0.5), (15, 0.9), (60, 0.97), (60, 0.3)])
def test_intervals_cover_the_share(clusters, rate, dependent):
    rng = np.random.default_rng(3)
    sets = [drawn(rng, clusters, rate, dependent=dependent) for _ in range(1500)]
    hits, sizes = (np.stack(part, axis=1) for part in zip(*sets, strict=True))
    found = share(hits, sizes)
    covered = (found.low <= rate) & (rate <= found.high)
    assert covered.mean() > 0.93, "1500 draws: a standard error of 0.006"


def test_two_clusters_have_one_degree_of_freedom():
    hits, sizes = np.array([3.0, 1.0]), np.array([4.0, 6.0])
    found = ratio(hits, sizes)
    p = 4 / 10
    error = np.sqrt(2 * ((3 - 4 * p) ** 2 + (1 - 6 * p) ** 2)) / 10
    half = t.ppf(0.975, 1) * error
    assert [found.low, found.high] == pytest.approx([p - half, p + half])
