"""Agreement of raters against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, f1_score

from darksecrets.stats.agreement import cohens_kappa, positive_agreement


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


def test_kappa_by_hand():
    # Observed 3/4; expected 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert cohens_kappa(np.array([[1, 1], [0, 2]])) == pytest.approx(0.5)
    assert cohens_kappa(np.full((5, 5), 4)) == pytest.approx(0)
    assert np.isnan(cohens_kappa(np.array([[3, 0], [0, 0]])))


def test_kappa_of_raters_who_guess_is_around_0():
    shares = np.outer([0.7, 0.2, 0.1], [0.5, 0.3, 0.2]).ravel()
    tables = np.random.default_rng(4).multinomial(200, shares, size=2000).reshape(-1, 3, 3)
    kappas = cohens_kappa(tables)
    assert abs(kappas.mean()) < 5 * kappas.std() / np.sqrt(2000)


def test_positive_agreement_is_the_f1_of_one_rater_as_truth(raters):
    one, other = (labels[1] for labels in raters)
    found = positive_agreement(confusion_matrix(one, other, labels=range(6)))
    expected = f1_score(one, other, labels=range(5), average=None)
    assert found[:5] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(found[5])  # neither rater used it
