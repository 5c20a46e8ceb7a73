"""Additive predictions against a regression that statsmodels' users know: dummies of each level."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from darksecrets.core.stats.additive import additive_contrasts


def split(size: int, targets: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    cells = [(q, k) for q in range(size) for k in range(size) if (q, k) not in targets]
    return np.array(cells), np.array(targets)


@pytest.mark.parametrize("size", [4, 7])
def test_sums_of_three_effects_are_predicted_exactly(size):
    random = np.random.default_rng(size)
    of_query, of_key = random.random((2, size))
    of_distance = random.random(2 * size)
    cells, targets = split(size, [(0, size - 2), (1, 0)])
    weights, determined = additive_contrasts(cells, targets)
    assert determined.all()

    def values(at):
        q, k = at.T
        return of_query[q] + of_key[k] + of_distance[k - q + size]

    assert weights @ values(cells) == pytest.approx(values(targets), abs=1e-12)


def test_predictions_are_those_of_a_regression_on_dummies():
    size = 6
    cells, targets = split(size, [(0, 3), (2, 5), (4, 1)])

    def dummies(at):
        return np.array(
            [[*np.eye(size)[q], *np.eye(size)[k], *np.eye(2 * size)[k - q + size]] for q, k in at]
        )

    values = np.random.default_rng(1).random(len(cells))
    fit = LinearRegression(fit_intercept=False).fit(dummies(cells), values)
    weights, determined = additive_contrasts(cells, targets)
    assert determined.all()
    assert weights @ values == pytest.approx(fit.predict(dummies(targets)), abs=1e-9)


def test_a_distance_that_no_other_cell_has_is_not_determined():
    _, determined = additive_contrasts(*split(5, [(0, 4), (0, 3)]))
    assert determined.tolist() == [False, True]
