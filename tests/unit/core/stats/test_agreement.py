"""Agreement of raters against scikit-learn, by hand and in loops."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from darksecrets.core.stats.agreement import cohens_kappa, fleiss_kappa


@pytest.fixture
def raters():
    """Labels of four pairs of raters with decreasing agreement."""
    rng = np.random.default_rng(3)
    first = rng.choice(5, size=(4, 120), p=[0.4, 0.2, 0.2, 0.15, 0.05])
    copied = rng.random((4, 120)) < np.array([[0.9], [0.6], [0.3], [0.0]])
    return first, np.where(copied, first, rng.choice(5, size=(4, 120)))


def test_kappa_of_many_tables_is_scikit_learns_of_each(raters):
    tables = np.stack(
        [confusion_matrix(*pair, labels=range(5)) for pair in zip(*raters, strict=True)]
    )
    expected = [cohen_kappa_score(*pair) for pair in zip(*raters, strict=True)]
    assert cohens_kappa(tables) == pytest.approx(expected, abs=1e-12)
    assert expected[0] > expected[1] > expected[2] > expected[3]


def test_fleiss_kappa_is_that_of_a_loop_over_pairs_of_raters():
    """Fleiss (1971): pairs of raters that agree, beside those of the classes' shares."""
    rng = np.random.default_rng(4)
    for raters, items, classes in ((2, 7, 2), (5, 30, 3), (4, 12, 4)):
        labels = rng.integers(0, classes, (raters, items))
        counts = np.stack([(labels == one).sum(axis=0) for one in range(classes)], axis=1)
        pairs = list(itertools.combinations(range(raters), 2))
        observed = np.mean([(labels[a] == labels[b]).mean() for a, b in pairs])
        expected = sum((labels == one).mean() ** 2 for one in range(classes))
        kappa = (observed - expected) / (1 - expected)
        assert fleiss_kappa(counts) == pytest.approx(kappa)
    assert fleiss_kappa(np.stack([counts, counts[::-1]])) == pytest.approx([kappa, kappa])


def test_fleiss_kappa_is_undefined_for_one_rater_or_one_class():
    assert np.isnan(fleiss_kappa(np.array([[1, 0], [0, 1]])))
    assert np.isnan(fleiss_kappa(np.array([[3, 0], [3, 0]])))
