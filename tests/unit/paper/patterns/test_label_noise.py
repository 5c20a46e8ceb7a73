"""Labels drawn again, and the intervals that allow for them."""

import numpy as np
import pandas as pd
import pytest
from labelled import NAMES, predictions

from darksecrets.paper.patterns import quality, shares
from darksecrets.paper.patterns.classes import FEATURES
from darksecrets.paper.patterns.label_noise import (
    AGREEMENT,
    LabelNoise,
    accuracy,
    count_cells,
    widest,
)
from darksecrets.paper.patterns.tables import AGAIN

COUNT = len(NAMES)


def passes(maps=600, differ=0.1, seed=0, encoders=("m", "n"), easy="n"):
    """Two passes as the table has them: of one encoder they never differ."""
    rng = np.random.default_rng(seed)
    table = predictions(maps, seed, classifier=AGAIN)
    table["encoder"] = np.array(encoders)[np.arange(maps) % len(encoders)]
    wrong = (rng.random(maps) < differ) & (table["encoder"] != easy).to_numpy()
    places = table["label"].map(NAMES.index).to_numpy()
    others = np.where(wrong, (places + rng.integers(1, COUNT, maps)) % COUNT, places)
    return table.assign(predicted=np.array(NAMES)[others])


@pytest.mark.parametrize("agreement", [0.3, 0.6, 0.75, 0.95, 1.0])
def test_two_labellings_of_this_accuracy_agree_as_often(agreement):
    rng = np.random.default_rng(1)
    right = accuracy(agreement)
    errors = [
        np.where(rng.random(200_000) < right, 0, rng.integers(1, COUNT, 200_000)) for _ in range(2)
    ]
    assert np.mean(errors[0] == errors[1]) == pytest.approx(agreement, abs=0.005)


def test_labels_drawn_twice_differ_as_often_as_the_independent_labelling():
    noise = LabelNoise.of(passes(), "lenient")
    table = passes()
    labels = table["label"].map(NAMES.index).to_numpy()
    drawn = noise.draw(labels, table["encoder"].to_numpy(), 2000, np.random.default_rng(2))
    pairs = np.mean(drawn[:1000] == drawn[1000:], axis=0)
    assert pairs.mean() == pytest.approx(AGREEMENT, abs=0.05)
    easy = (table["encoder"] == "n").to_numpy()
    assert pairs[easy].mean() > 0.9, "maps on which passes never differ are seldom drawn again"
    assert pairs[~easy].mean() < 0.7


def test_labels_are_drawn_with_the_rates():
    noise = LabelNoise.of(passes(), "lenient")
    np.testing.assert_allclose(noise.rates.sum(axis=2), 1)
    for name, place in (("m", 0), ("n", 1), ("unknown", 2)):
        for label in range(COUNT):
            labels = np.full(20_000, label)
            encoders = np.full(20_000, name)
            (drawn,) = noise.draw(labels, encoders, 1, np.random.default_rng(label))
            found = np.bincount(drawn, minlength=COUNT) / len(drawn)
            np.testing.assert_allclose(found, noise.rates[place, label], atol=0.015)


def test_without_a_second_pass_all_confusions_are_equally_probable():
    noise = LabelNoise.of(predictions(), "lenient")
    right = accuracy(AGREEMENT)
    expected = np.full((COUNT, COUNT), (1 - right) / (COUNT - 1))
    np.fill_diagonal(expected, right)
    np.testing.assert_allclose(noise.rates, expected[None])


def test_passes_that_never_differ_are_still_not_taken_for_the_truth():
    noise = LabelNoise.of(passes(differ=0.0), "lenient")
    assert np.isfinite(noise.rates).all()
    assert (np.diagonal(noise.rates[-1]) < 1).all()


def test_cells_are_counted_as_in_a_loop():
    rng = np.random.default_rng(3)
    cells, weights = rng.integers(7, size=(5, 30)), rng.integers(4, size=(5, 30))
    expected = np.zeros((5, 7))
    for resample in range(5):
        for cell, weight in zip(cells[resample], weights[resample], strict=True):
            expected[resample, cell] += weight
    np.testing.assert_array_equal(count_cells(cells, weights, 7), expected)


def test_undoing_the_errors_of_labels_gives_the_true_confusions():
    noise = LabelNoise.of(passes(), "lenient")
    rng = np.random.default_rng(7)
    truth = rng.uniform(5, 50, size=(3, 2, COUNT, COUNT))
    rates = noise.rates[:2]
    labelled = np.einsum("ety,rtep->reyp", rates, np.swapaxes(truth, 1, 2))
    found = noise.undo(labelled, np.array(noise.encoders))
    np.testing.assert_allclose(found, truth)
    few = noise.undo(np.eye(COUNT)[None] * 10, np.array(["m"]))
    assert few.min() == 0
    assert few.sum() == pytest.approx(10 * COUNT)


def test_the_widest_ends_ignore_what_is_unknown():
    first, second = np.array([[1.0, np.nan], [4.0, 2.0]]), np.array([[2.0, 0.0], [5.0, np.nan]])
    np.testing.assert_array_equal(widest(first, second), [[1, 0], [5, 2]])


def test_counts_of_labels_drawn_again_are_those_of_a_loop():
    known = pd.concat([predictions(40, repetitions=2), passes(40)], ignore_index=True)
    labelled = shares.Labelled.of(FEATURES, known, "example", "lenient")
    noise = LabelNoise.of(known, "lenient")
    weights = np.random.default_rng(4).integers(3, size=(6, 40))
    found = labelled.redrawn_counts(1, weights, noise, np.random.default_rng(5))
    labels = labelled.table["label"].map(NAMES.index).to_numpy()
    encoders = labelled.table["encoder"].to_numpy()
    drawn = noise.draw(labels, encoders, 6, np.random.default_rng(5))
    for resample in range(6):
        expected = np.zeros((COUNT, COUNT))
        for row in range(40):
            place = drawn[resample, row], labelled.predicted[1, row]
            expected[place] += weights[resample, row] + 1e-6
        np.testing.assert_allclose(found.numbers[resample, 0, 0], expected)


def test_scores_keep_their_values_and_their_intervals_widen():
    table = pd.concat([predictions(300), passes(300)], ignore_index=True)
    wide = quality.scores(table, 300, seed=0)
    rows = wide[(wide["classifier"] == FEATURES) & (wide["metric"] == "accuracy")]
    own = table[table["classifier"] == FEATURES]
    assert rows["score"].iloc[0] == pytest.approx(100 * (own["label"] == own["predicted"]).mean())
    plain = np.quantile(
        [
            (own["label"] == own["predicted"]).sample(frac=1, replace=True, random_state=n).mean()
            for n in range(500)
        ],
        [0.025, 0.975],
    )
    assert rows["ci_low"].iloc[0] < 100 * plain[0] - 3
    assert rows["ci_high"].iloc[0] > 100 * plain[1] + 3
    again = wide[(wide["classifier"] == AGAIN) & (wide["metric"] == "accuracy")].iloc[0]
    assert again["ci_high"] - again["ci_low"] < 10, "the second labelling is itself a comparison"


@pytest.mark.slow
@pytest.mark.parametrize("learns_errors", [True, False])
@pytest.mark.parametrize("agreement", [0.75, 0.85, 1.0])
def test_intervals_cover_the_accuracy_against_the_truth(agreement, learns_errors):
    """Adversaries: labels of two labellings that agree so often; a classifier that learns them."""
    rng = np.random.default_rng(6)
    covered = []
    for _ in range(40):
        truth = rng.integers(COUNT, size=200)
        right = accuracy(agreement)

        def altered(places, kept):
            others = (places + rng.integers(1, COUNT, len(places))) % COUNT
            return np.where(rng.random(len(places)) < kept, places, others)

        labels, second = altered(truth, right), altered(truth, right)
        predicted = altered(labels if learns_errors else truth, 0.8)
        own = predictions(200).assign(example=np.arange(200), encoder="m")
        names = np.array(NAMES)
        own = own.assign(label=names[labels], predicted=names[predicted])
        again = own.assign(classifier=AGAIN, predicted=names[second])
        table = quality.scores(pd.concat([own, again], ignore_index=True), 100, seed=0)
        row = table[(table["classifier"] == FEATURES) & (table["metric"] == "accuracy")].iloc[0]
        covered.append(row["ci_low"] <= 100 * np.mean(predicted == truth) <= row["ci_high"])
    assert np.mean(covered) >= 0.9
