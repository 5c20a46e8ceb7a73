"""The correction against its definition."""

import numpy as np
import pytest

from darksecrets.core.stats.corrections import benjamini_hochberg


def test_the_false_discovery_rate_against_its_definition():
    p = np.random.default_rng(7).random((2, 4)) ** 3
    q = benjamini_hochberg(p)
    order = np.argsort(p.ravel())
    sorted_p, running = p.ravel()[order], 1.0
    for rank in range(8, 0, -1):  # Benjamini and Hochberg's step-up
        running = min(running, sorted_p[rank - 1] * 8 / rank)
        assert q.ravel()[order[rank - 1]] == pytest.approx(running)
    assert (q >= p).all()
