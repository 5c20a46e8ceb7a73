"""Every metric of the registry against scikit-learn, plain and resampled, with edge cases."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics

from darksecrets.core.data.metrics import METRICS, fitting
from darksecrets.core.stats.permutation import classes_permutation, sign_permutation

REFERENCES = {
    "accuracy": sklearn.metrics.accuracy_score,
    "balanced_accuracy": sklearn.metrics.balanced_accuracy_score,
    "matthews_corrcoef": sklearn.metrics.matthews_corrcoef,
    "pearson": lambda y, x: scipy.stats.pearsonr(x, y).statistic,
    "spearman": lambda y, x: scipy.stats.spearmanr(x, y).statistic,
    "r2": sklearn.metrics.r2_score,
}
for score in ("precision", "recall", "f1"):
    function = getattr(sklearn.metrics, f"{score}_score")
    REFERENCES[score] = lambda y, x, f=function: f(y, x, zero_division=0)
    for average in ("macro", "micro", "weighted"):
        REFERENCES[f"{score}_{average}"] = lambda y, x, f=function, a=average: f(
            y, x, average=a, zero_division=0
        )
OF_CLASSES = [name for name, metric in METRICS.items() if metric.counted]
OF_NUMBERS = [name for name, metric in METRICS.items() if not metric.counted]


def reference(name, labels, predictions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that are absent, as the edge cases intend
        return REFERENCES[name](labels, predictions)


def drawn(classes, sets=4, examples=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, examples)
    shape = (sets, examples)
    return np.where(rng.random(shape) < 0.6, labels, rng.integers(0, classes, shape)), labels


def test_names_are_those_of_scikit_learn():
    ours = {"pearson", "spearman"}  # not among its scorers
    known = {*sklearn.metrics.get_scorer_names()}
    assert set(METRICS) - ours <= known
    assert all(metric.name == name for name, metric in METRICS.items())
    titles = [metric.title for metric in METRICS.values()]
    assert len(set(titles)) == len(titles)


def fits(*classes):
    """Every metric with every number of classes that it fits."""
    return [(name, number) for number in classes for name in fitting(number)]


@pytest.mark.parametrize(("name", "classes"), fits(2, 3, 5, 20))
def test_scores_of_classes_are_scikit_learns(name, classes):
    predictions, labels = drawn(classes)
    for row in predictions:
        assert METRICS[name].plain(row, labels) == pytest.approx(
            reference(name, labels, row), abs=1e-12
        )


EDGES = {
    "a class is never predicted": ([0, 0, 1, 1, 0, 1], [0, 1, 2, 1, 0, 2]),
    "a class is absent": ([0, 1, 2, 0, 2, 1], [0, 1, 1, 0, 0, 1]),
    "one class is predicted": ([1, 1, 1, 1], [0, 1, 2, 1]),
    "one label": ([0, 1, 2, 1], [1, 1, 1, 1]),
    "one of both": ([1, 1, 1], [1, 1, 1]),
    "the first class of both": ([0, 0, 0], [0, 0, 0]),
    "all wrong": ([1, 2, 0], [0, 1, 2]),
}


@pytest.mark.parametrize("name", [name for name in OF_CLASSES if METRICS[name].kind == "classes"])
@pytest.mark.parametrize(("predictions", "labels"), EDGES.values(), ids=EDGES)
def test_edge_cases_of_classes_are_scikit_learns(name, predictions, labels):
    found = METRICS[name].plain(np.array(predictions), np.array(labels))
    assert found == pytest.approx(reference(name, labels, predictions), abs=1e-12)


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "matthews_corrcoef"])
@pytest.mark.parametrize(
    "pair", [*itertools.product(itertools.product((0, 1), repeat=3), repeat=2)]
)
def test_every_outcome_of_three_examples_of_two_classes(name, pair):
    predictions, labels = map(np.array, pair)
    found = METRICS[name].plain(predictions, labels)
    assert found == pytest.approx(reference(name, labels, predictions), abs=1e-12)


@pytest.mark.parametrize(("name", "classes"), fits(2, 5))
def test_resampled_scores_of_classes_are_those_of_the_examples_drawn(name, classes):
    predictions, labels = drawn(classes, sets=3, examples=9)  # so few that classes are missing
    rng = np.random.default_rng(1)
    weights = rng.multinomial(9, np.full(9, 1 / 9), size=40)
    weights[0] = 9 * (np.arange(9) == 4)  # one example only
    found = METRICS[name].weighted(predictions, labels)(weights)
    for scores, counts in zip(found, weights, strict=True):
        chosen = np.repeat(np.arange(9), counts)
        for value, row in zip(scores, predictions, strict=True):
            expected = reference(name, labels[chosen], row[chosen])
            assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_scores_of_numbers_are_those_of_the_libraries(name):
    rng = np.random.default_rng(2)
    labels = np.round(rng.uniform(0, 5, 50), 1)
    predictions = labels + rng.normal(size=(3, 50))
    for row in predictions:
        found = METRICS[name].plain(row, labels)
        assert found == pytest.approx(reference(name, labels, row), abs=1e-10)
    weights = rng.multinomial(50, np.full(50, 1 / 50), size=20)
    for scores, counts in zip(
        METRICS[name].weighted(predictions, labels)(weights), weights, strict=True
    ):
        chosen = np.repeat(np.arange(50), counts)
        expected = [reference(name, labels[chosen], row[chosen]) for row in predictions]
        assert scores == pytest.approx(expected, abs=1e-9)


def test_r2_of_a_resample_whose_labels_are_equal_is_0():
    weights = np.zeros((1, 4), dtype=np.int64)
    weights[0, 2] = 4
    labels = np.array([0.1, 0.2, 0.3, 0.4])
    assert (METRICS["r2"].weighted(labels[None] + 0.1, labels)(weights) == 0).all()


# --- Paired tests -----------------------------------------------------------------------------


def every_swap(name, first, second, labels):
    """The exact p-value: the metric's difference under all swaps of the two predictions."""
    apart = np.flatnonzero(first != second)
    observed = abs(reference(name, labels, second) - reference(name, labels, first))
    extreme = 0
    for swaps in itertools.product((False, True), repeat=len(apart)):
        one, other = first.copy(), second.copy()
        chosen = apart[list(swaps)]
        one[chosen], other[chosen] = second[chosen], first[chosen]
        extreme += (
            abs(reference(name, labels, other) - reference(name, labels, one)) >= observed - 1e-12
        )
    return extreme / 2 ** len(apart)


@pytest.mark.parametrize(("name", "classes"), [("matthews_corrcoef", 2), ("f1_macro", 3)])
def test_the_permutation_test_of_classes_is_that_over_all_swaps(name, classes):
    predictions, labels = drawn(classes, sets=2, examples=14, seed=3)
    keep = np.flatnonzero(predictions[0] != predictions[1])[7:]
    predictions[1, keep] = predictions[0, keep]  # at most 7 to swap
    exact = every_swap(name, *predictions, labels)
    score, rng = METRICS[name].counted, np.random.default_rng(0)
    found = classes_permutation(predictions, labels, score, 20_000, rng)
    assert found[0] == 1
    assert found[1] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_the_test_of_r2_is_scipys_permutation_test_of_the_paired_errors():
    rng = np.random.default_rng(5)
    labels = rng.normal(size=40)
    predictions = labels + np.array([[0.6], [0.9]]) * rng.normal(size=(2, 40))
    errors = (predictions - labels) ** 2
    found = sign_permutation(errors - errors[0], 20_000, np.random.default_rng(0))
    expected = scipy.stats.permutation_test(
        (errors[1], errors[0]),
        lambda a, b, axis=-1: np.mean(a - b, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).pvalue
    assert found[0] == 1
    assert found[1] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("name", "classes"), [("matthews_corrcoef", 2), ("f1_macro", 5)])
def test_the_level_of_the_permutation_test_of_classes_on_null_data(name, classes):
    """With exchangeable predictions, at most 5 % of the tests reject (3 standard errors)."""
    labels = np.random.default_rng(6).integers(0, classes, 60)
    rng, tests = np.random.default_rng(7), 400
    noise = rng.integers(0, classes, (tests + 1, 60))
    predictions = np.where(rng.random((tests + 1, 60)) < 0.6, labels, noise)
    p = [
        classes_permutation(
            np.stack([predictions[i], predictions[i + 1]]), labels, METRICS[name].counted, 199, rng
        )[1]
        for i in range(tests)
    ]
    assert 0.02 < np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tests)


def test_the_level_of_the_test_of_r2_on_null_data():
    rng, tests = np.random.default_rng(8), 1000
    changes = rng.standard_t(3, size=(tests, 50))  # symmetric, with heavy tails
    p = np.concatenate([sign_permutation(block, 199, rng) for block in np.split(changes, 20)])
    assert 0.03 < np.mean(p <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tests)
