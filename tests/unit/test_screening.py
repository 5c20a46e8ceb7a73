"""Which pairs are recomputed, on numbers made by hand."""

import numpy as np
import pytest

from darksecrets.ablation import screening
from darksecrets.ablation.screening import Bounds, margins, ties

FIRST = np.array([1, 0, 1])  # three sets; the second begins at the lowest layer


def test_margin_is_between_the_two_largest():
    logits = np.array([[3.0, 1.0, 2.5], [-1.0, -4.0, -4.0], [2.0, 2.0, 0.0]])
    assert margins(logits).tolist() == [0.5, 3.0, 0.0]
    assert ties(np.array([[1.0, 1.0 + 9e-6], [1.0, 1.0 + 2e-5], [50.0, 50.0 + 2e-4]])).tolist() == [
        True,
        False,
        True,  # rounding grows with the logits
    ]
    assert ties(np.array([[np.nan, 1.0]])).all()


def test_bounds_follow_the_largest_error_of_each_layer(monkeypatch):
    monkeypatch.setattr(screening, "ENOUGH", 2)
    bounds = Bounds(FIRST, layers=2, examples=4)
    assert np.isinf(bounds.limits).all(), "nothing is known yet"
    exact = np.full((3, 4, 2), np.nan)
    screened = np.tile([0.0, 1.0], (3, 4, 1))
    exact[1, :2] = screened[1, :2] + [[0.1, -0.2], [0.3, 0.3]]  # errors of differences: 0.3, 0
    exact[0, :2] = screened[0, :2] + [[0.0, 0.05], [0.01, 0.0]]
    bounds.see(screened, exact)
    assert bounds.errors == pytest.approx([0.3, 0.05])
    assert bounds.limits == pytest.approx([0.6, 0.1])
    screened[1, :, 1] = [0.59, 0.61, -0.59, -0.61]
    screened[2, :, 1] = [0.09, 0.11, -0.09, -0.11]
    assert bounds.unsure(screened)[1:].tolist() == [[True, False, True, False]] * 2


def test_a_lower_layer_has_at_least_the_bound_of_those_above(monkeypatch):
    monkeypatch.setattr(screening, "ENOUGH", 1)
    bounds = Bounds(FIRST, layers=2, examples=1)
    exact = np.array([[[0.4, 0.0]], [[0.1, 0.0]], [[np.nan, np.nan]]])
    bounds.see(np.zeros((3, 1, 2)), exact)
    assert bounds.limits == pytest.approx([0.8, 0.8])


def test_what_is_not_a_number_is_never_sure():
    bounds = Bounds(np.array([0]), layers=1, examples=1)
    bounds.see(np.zeros((1, 1, 2)), np.zeros((1, 1, 2)))
    assert bounds.unsure(np.full((1, 1, 2), np.nan)).all()


def test_the_sample_is_the_same_every_time_and_large_enough():
    first = np.repeat([0, 1, 2], 13)
    one, two = (Bounds(first, layers=3, examples=2000) for _ in range(2))
    assert np.array_equal(one.sample, two.sample)
    counts = [int(one.sample[first == layer].sum()) for layer in range(3)]
    assert all(200 < count < 330 for count in counts)  # 1 % of 26000
    few = Bounds(first, layers=3, examples=40)
    assert all(30 < few.sample[first == layer].sum() < 80 for layer in range(3))  # 50
    assert Bounds(np.array([0]), layers=1, examples=5).sample.all()
