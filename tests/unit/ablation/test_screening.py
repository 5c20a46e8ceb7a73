"""Which pairs are recomputed, on numbers made by hand."""

import numpy as np
import pytest

from darksecrets.ablation import screening
from darksecrets.ablation.backends import Block
from darksecrets.ablation.screening import Bounds, Screening
from darksecrets.ablation.ties import margins, ties

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


def test_the_sample_is_the_same_every_time_and_of_a_known_size():
    first = np.repeat([2, 0, 1], 13)
    one, two = (Bounds(first, layers=3, examples=2000) for _ in range(2))
    assert np.array_equal(one.sample, two.sample)

    def sizes(examples):
        sample = Bounds(first, layers=3, examples=examples).sample
        return [int(sample[first == layer].sum()) for layer in range(3)]

    assert sizes(2000) == [130] * 3  # 0.5 % of 26000
    assert sizes(800) == [52] * 3
    assert sizes(40) == [30] * 3
    assert sizes(2) == [26] * 3  # all
    drawn = one.sample[first == 1]
    assert (drawn.sum(axis=1) > 0).all(), "from every set"
    assert drawn.any(axis=0)[:1000].any()
    assert drawn.any(axis=0)[1000:].any()


class Known:
    """A shared backend with given logits."""

    def __init__(self, logits, screened=None):
        self.exact, self.screened, self.asked = logits, screened, []

    def in_both(self, rows, choose):
        pairs = choose(self.screened[:, rows], list(range(len(rows))))
        exact = np.where(pairs[..., None], self.exact[:, rows], np.nan)
        return Block(self.screened[:, rows], exact)

    def logits(self, rows, pairs):
        self.asked += [(number, rows[place]) for number, place in np.argwhere(pairs).tolist()]
        return np.where(pairs[..., None], self.exact[:, rows], np.nan)


def test_a_bound_that_a_later_example_raises_sends_back_to_earlier_ones(monkeypatch):
    monkeypatch.setattr(screening, "ENOUGH", 1)
    screened = np.zeros((1, 4, 2))
    screened[0, :, 1] = [0.5, 9.0, 0.15, 2.5]
    errors = np.array([0.3, 0.0, 0.4, 0.0])
    shared = Known(screened - np.stack([np.zeros((1, 4)), errors[None]], axis=-1))
    backend = Screening.__new__(Screening)
    backend.shared = shared
    bounds = backend.bounds = Bounds(np.array([0]), layers=1, examples=4)
    exact = np.full((1, 4, 2), np.nan)
    seen = np.full((1, 4, 2), np.nan)
    seen[0, 1] = screened[0, 1] - [0.0, 0.1]
    backend.resume(Block(screened, seen))  # a bound of 0.2: example 2 alone is unsure
    assert bounds.unsure(screened).tolist() == [[False, False, True, False]]
    backend.settle([[0, 1], [2, 3]], Block(screened, exact))
    assert shared.asked == [(0, 2), (0, 0)], "an error of 0.4 makes 0.5 unsure, and no more 2.5"
    assert bounds.limits == pytest.approx([0.8])
    assert exact[0, 2] == pytest.approx([0.0, -0.25])
    assert exact[0, 0] == pytest.approx([0.0, 0.2])
    assert np.isnan(exact[0, [1, 3]]).all()
