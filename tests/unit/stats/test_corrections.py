"""Corrections against their definitions, and on null data."""

import numpy as np
import pytest

from darksecrets.stats.corrections import benjamini_hochberg, family_p_values
from darksecrets.stats.permutation import upper_p_values


def test_corrections_against_their_definitions() -> None:
    rng = np.random.default_rng(7)
    drawn = rng.normal(size=(200, 2, 4))
    drawn[0, 0, 1] = 5.0
    p, family = upper_p_values(drawn), family_p_values(drawn)
    q = benjamini_hochberg(p)
    order = np.argsort(p.ravel())
    sorted_p, running = p.ravel()[order], 1.0
    for rank in range(8, 0, -1):  # Benjamini and Hochberg's step-up
        running = min(running, sorted_p[rank - 1] * 8 / rank)
        assert q.ravel()[order[rank - 1]] == pytest.approx(running)
    scores = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    for layer, head in np.ndindex(2, 4):
        count = sum(draw.max() >= scores[0, layer, head] for draw in scores)
        assert family[layer, head] == pytest.approx(count / 200)
    assert (q >= p).all()
    assert (family >= p).all()
    assert family[0, 1] == p[0, 1] == 1 / 200


def test_a_statistic_with_constant_draws_is_not_significant() -> None:
    drawn = np.random.default_rng(8).normal(size=(100, 1, 2))
    drawn[:, 0, 0] = 0.25
    p, family = upper_p_values(drawn), family_p_values(drawn)
    assert p[0, 0] == family[0, 0] == 1
    assert np.isfinite(family).all()


def test_the_family_wise_error_on_null_data_is_at_most_5_percent():
    """Statistics of a family are correlated, like those of heads."""
    rng = np.random.default_rng(9)
    found = np.zeros((600, 2), dtype=bool)
    for trial in range(600):
        drawn = rng.normal(size=(100, 8)) + rng.normal(size=(100, 1))
        q = benjamini_hochberg(upper_p_values(drawn))
        found[trial] = (q <= 0.05).any(), (family_p_values(drawn) <= 0.05).any()
    assert (found.mean(axis=0) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 600)).all()
    assert found[:, 1].any()
