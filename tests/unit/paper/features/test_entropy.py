"""Entropy of attention against SciPy's, and in cases where it is known."""

import numpy as np
import pytest
import scipy.stats

from darksecrets.paper.features.batches import entropy_sums


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-12)])
def test_entropies_are_scipys_summed_over_queries(precision, tolerance):
    maps = np.random.default_rng(0).dirichlet(np.full(7, 0.2), size=(3, 2, 7)).astype(precision)
    found = entropy_sums(maps)
    assert found.dtype == precision
    assert found == pytest.approx(scipy.stats.entropy(maps, axis=-1).sum(axis=-1), rel=tolerance)
