import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from labelled import NAMES, make_labelled_maps, predictions, save
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.resampling import cluster_weights
from darksecrets.paper.patterns import tables
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps import labelled_maps
from darksecrets.paper.patterns.network import cnn, crossvalidation, quality, teaching
from darksecrets.paper.patterns.network.kinds import MAP_KINDS, members
from darksecrets.paper.patterns.tables import CNN, FEATURES

COUNT = len(NAMES)


@pytest.fixture(scope="module")
def separable(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled") / "set"
    return labelled_maps.load([save(make_labelled_maps(PATTERNS, 12), folder)])


def test_folds_share_no_example_and_are_stratified(separable):
    numbers = crossvalidation.folds(separable, 3, seed=0)
    assert set(numbers) == {1, 2, 3}
    for number in (1, 2, 3):
        inside, outside = (separable.groups[numbers == number], separable.groups[numbers != number])
        assert not set(inside) & set(outside)
        counts = pd.Series(separable.labels)[numbers == number].value_counts()
        assert set(counts.index) == set(PATTERNS)
        assert counts.between(2, 6).all()
    assert (crossvalidation.folds(separable, 3, seed=0) == numbers).all()


class AlwaysBlock(torch.nn.Module):
    """A network, or a regression, that always says block."""

    def forward(self, inputs):
        outputs = torch.zeros(len(inputs), len(MAP_KINDS))
        outputs[:, MAP_KINDS.index(("block", "block"))] = 3
        return outputs


TRAINING = cnn.Training(1, seed=5, drawn=2)


@pytest.fixture
def trainings(monkeypatch):
    """What the network was trained with, each time: rows and settings; then, the regression."""
    seen, others = [], []

    def spy(prepared, rows, drawn, training):
        seen.append((rows, training))
        return AlwaysBlock()

    def spy_on_regression(prepared, rows):
        others.append((rows, prepared))
        return AlwaysBlock()

    monkeypatch.setattr(teaching, "train_network", spy)
    monkeypatch.setattr(teaching, "train_regression", spy_on_regression)
    return seen, others


def test_every_map_is_classified_by_what_was_not_trained_on_its_example(separable, trainings):
    found = crossvalidation.cross_validate(separable, 3, cnn.Training(1, seed=5, drawn=2))
    maps = len(separable.table)
    assert set(found["left_out"]) == {tables.EXAMPLE}  # all maps are of one encoder
    networks, others = trainings
    assert [training.seed for _, training in networks] == [5, 5, 5]
    assert len(others) == 3
    numbers = crossvalidation.folds(separable, 3, seed=5)
    for place, (rows, _) in enumerate([*networks, *others]):
        assert rows.tolist() == np.flatnonzero(numbers != place % 3 + 1).tolist()
    rows = found.groupby(["classifier", "definition"]).size().to_dict()
    assert rows == {
        (name, definition): maps for name in (FEATURES, CNN) for definition in ("lenient", "strict")
    }
    network = found[found["classifier"] == CNN]
    assert set(network["predicted"]) == {"block"}
    by_map = dict(zip(separable.table["map"], numbers, strict=True))
    assert (found["fold"] == found["map"].map(by_map)).all()
    assert (
        found["label"] == found["map"].map(dict(zip(by_map, separable.labels, strict=True)))
    ).all()
    np.testing.assert_allclose(found.filter(like="probability_").sum(axis=1), 1)


@pytest.fixture
def two_encoders(separable):
    """Model n shares a sentence with x-0000 of model m; only model n has the class block."""
    table = separable.table.copy()
    table["model"] = np.where(table["label"].isin(["block", "diagonal"]), "n", "m")
    first = int(np.flatnonzero(table["model"] == "n")[0])
    for row in (0, first):
        length = len(table.loc[row, "special"])
        table.loc[row, "tokens"] = " ".join(["same"] * length)
        table.loc[row, "special"] = "10" + "1" * (length - 2)
    return labelled_maps.Annotations(table, separable.maps)


def test_each_encoder_is_classified_by_what_learned_from_the_others_alone(two_encoders, trainings):
    training = cnn.Training(1, seed=0, drawn=2)
    found = crossvalidation.cross_validate(two_encoders, 3, training)
    table = two_encoders.table
    for place, (tested, other) in enumerate((("m", "n"), ("n", "m"))):
        rows, _ = trainings[0][3 + place]
        assert (trainings[1][3 + place][0] == rows).all()
        assert set(table["model"].iloc[rows]) == {other}
        # all but the two maps of the example that shares a sentence with the tested model
        assert len(rows) == (table["model"] == other).sum() - 2
        outside = found[(found["left_out"] == tables.MODEL) & (found["encoder"] == tested)]
        assert set(outside["map"]) == set(table.loc[table["model"] == tested, "map"])
    scores = quality.scores(found, 100, seed=0)
    assert list(scores["maps_of"].unique()) == ["all", "m", "n", "unseen m", "unseen n"]


def test_states_of_a_model_are_left_out_together_unless_they_share_no_weights(separable):
    table = separable.table.copy()
    states = ["pretrained", "finetuned", "random", "finetuned-from-normal"]
    table["state"] = [states[row % 4] for row in range(len(table))]
    data = labelled_maps.Annotations(table, separable.maps)
    names = pd.Series(data.encoders)[:4].tolist()
    assert names == ["m", "m", "m, random", "m, finetuned-from-normal"]
    for learned, tested in crossvalidation._split_by_encoder(data):
        assert len(set(data.encoders[tested])) == 1
        assert not set(data.encoders[learned]) & set(data.encoders[tested])
        assert not set(data.groups[learned]) & set(data.groups[tested])


def test_an_encoder_whose_others_show_one_class_is_not_left_out(separable):
    table = separable.table.copy()
    table["model"] = np.where(table["label"] == "block", "n", "m")
    data = labelled_maps.Annotations(table, separable.maps)
    ((learned, tested),) = crossvalidation._split_by_encoder(data)
    assert set(table["model"].iloc[learned]) == {"m"}
    assert set(table["model"].iloc[tested]) == {"n"}


def test_maps_without_a_strict_class_have_no_rows_in_that_reading(separable, trainings):
    table = separable.table.copy()
    unknown = table["label"].isin(["vertical", "vertical+diagonal"])
    table.loc[unknown, "strict"] = ""
    data = labelled_maps.Annotations(table, separable.maps)
    found = crossvalidation.cross_validate(data, 3, TRAINING)
    strict = found[found["definition"] == "strict"]
    assert set(strict["map"]) == set(table.loc[~unknown, "map"])
    assert (
        found[found["definition"] == "lenient"].groupby("classifier").size() == len(table)
    ).all()


def test_the_second_labelling_is_compared_with_the_first(separable):
    name = separable.table["map"].tolist()
    rows = [
        (name[0], "vertical", "s", 1, 0, 1),
        (name[0], "vertical", "w", 1, 0, 2),
        (name[1], "block", "-", 0, 0, 1),
        (name[1], "diagonal", "-", 0, 2, 2),
        (name[1], "vertical", "s", 1, 0, 3),  # what settles a map is no second look
        (name[2], "block", "-", 0, 0, 1),
    ]
    columns = ["map", "label", "columns", "number", "diagonal", "pass"]
    found = crossvalidation.label_again(separable, pd.DataFrame(rows, columns=columns))
    assert set(found["classifier"]) == {tables.AGAIN}
    inside = found[found["left_out"] == tables.EXAMPLE].set_index(["definition", "map"])
    pairs = {key: (row["label"], row["predicted"]) for key, row in inside.iterrows()}
    assert pairs == {
        ("lenient", name[0]): ("vertical", "vertical"),
        ("lenient", name[1]): ("block", "diagonal"),
        ("strict", name[0]): ("vertical", "heterogeneous"),
        ("strict", name[1]): ("block", "diagonal"),
    }
    scores = quality.scores(found, 10, seed=0)
    assert "calibration_error" not in set(scores["metric"])
    accuracy = scores[(scores["metric"] == "accuracy") & (scores["maps_of"] == "all")]
    assert accuracy.set_index("definition")["score"].to_dict() == {"lenient": 50, "strict": 0}


@pytest.mark.parametrize("names", [NAMES, NAMES[:3]], ids=["all classes", "three classes"])
def test_scores_are_those_of_scikit_learn(names):
    table = predictions(names=names)
    found = quality.scores(table, 200, seed=0).set_index(["metric", "pattern"])["score"]
    truth, guesses = table["label"], table["predicted"]
    present = [name for name in NAMES if name in set(truth)]
    for average, labels in (("weighted", None), ("macro", present)):
        expected = precision_recall_fscore_support(
            truth, guesses, average=average, labels=labels, zero_division=0
        )
        assert found[f"{average}_f1", ""] == pytest.approx(100 * expected[2])
    assert found["accuracy", ""] == pytest.approx(100 * (truth == guesses).mean())
    each = precision_recall_fscore_support(truth, guesses, labels=NAMES, zero_division=0)
    for metric, values in zip(("precision", "recall", "f1"), each, strict=False):
        for name, value in zip(NAMES, values, strict=True):
            assert found[metric, name] == pytest.approx(100 * value)
    expected = confusion_matrix(truth, guesses, labels=NAMES)
    np.testing.assert_array_equal(quality.confusion(table), expected)


def test_bootstrap_scores_are_those_of_a_loop_over_resamples():
    table = predictions(40)
    weights = cluster_weights(30, table["example"].to_numpy(), np.random.default_rng(3))
    assert (weights[:, ::2] == weights[:, 1::2]).all()  # both maps of an example or none
    assert (weights.sum(axis=1) == 40).all()
    found = quality._values(table, weights)
    for row, weight in zip(found, weights, strict=True):
        drawn = table.loc[np.repeat(table.index, weight)]
        expected = precision_recall_fscore_support(
            drawn["label"], drawn["predicted"], average="weighted", zero_division=0
        )
        assert row[1] == pytest.approx(expected[2])
        assert row[3] == pytest.approx(calibration_by_loops(drawn))
    scores = quality.scores(table, 30, seed=3).set_index("metric")
    low, high = np.quantile(100 * found[:, 1], [0.025, 0.975])
    assert tuple(scores.loc["weighted_f1", ["ci_low", "ci_high"]]) == pytest.approx((low, high))
    error = scores.loc["calibration_error"]
    assert error["score"] == pytest.approx(100 * calibration_by_loops(table))
    assert error[["ci_low", "ci_high"]].isna().all()


def calibration_by_loops(table):
    bins = {}
    for row in table.to_dict("records"):
        sure = max(row[f"probability_{name}"] for name in NAMES)
        bins.setdefault(min(int(sure * 10), 9), []).append((sure, row["label"] == row["predicted"]))
    return sum(
        abs(sum(sure for sure, _ in rows) - sum(right for _, right in rows))
        for rows in bins.values()
    ) / len(table)


def test_the_temperature_makes_the_labels_likeliest():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, COUNT)) * 2
    labels = [NAMES[rng.choice(COUNT, p=row)] for row in crossvalidation.softmax(logits)]
    assert crossvalidation.temperature(3 * logits, labels) == pytest.approx(3, rel=0.1)


def test_log_probabilities_of_classes_are_those_of_sums_over_kinds():
    outputs = np.random.default_rng(2).normal(size=(4, len(MAP_KINDS)))
    for place, definition in enumerate(("lenient", "strict")):
        found = crossvalidation.class_log_probabilities(outputs, definition)
        for row, values in zip(found, outputs, strict=True):
            chances = np.exp(values) / np.exp(values).sum()
            for name, value in zip(NAMES, row, strict=True):
                own = [p for kind, p in zip(MAP_KINDS, chances, strict=True) if kind[place] == name]
                assert value == pytest.approx(np.log(sum(own)))


def test_the_temperature_of_a_split_does_not_depend_on_its_labels():
    rng = np.random.default_rng(1)
    outputs = rng.normal(size=(90, len(MAP_KINDS)))
    labels = rng.choice(NAMES, size=90).astype(np.object_)
    rows = np.arange(90)
    splits = [(rows[rows % 3 != number], rows[rows % 3 == number]) for number in range(3)]
    before = crossvalidation.temperatures(outputs, labels, splits)
    labels[rows % 3 == 1] = "block"
    after = crossvalidation.temperatures(outputs, labels, splits)
    assert before[1] == after[1]
    assert before[0] != after[0]


def test_the_temperature_of_the_shipped_classifier_is_for_encoders_that_it_has_not_seen():
    inside, outside = (
        predictions(20, classifier=CNN, left_out=left_out) for left_out in ("example", "model")
    )
    outside = outside.assign(temperature=lambda t: 1.0 + t["fold"])
    teacher = outside.assign(classifier=FEATURES, temperature=9.0)
    assert crossvalidation.mean_temperature(inside) == 1.5
    assert crossvalidation.mean_temperature(pd.concat([inside, outside, teacher])) == 3


def test_maps_of_a_class_that_a_split_did_not_learn_do_not_change_the_temperature():
    """Such a map has no probability at any temperature; fitted to it, others would be unsure."""
    rng = np.random.default_rng(0)
    labels = np.array(["vertical", "diagonal"] * 30, dtype=np.object_)
    kinds = len(members("lenient"))
    outputs = np.full((60, kinds), -30.0)
    for row, label in enumerate(labels):
        own = members("lenient")[:, list(PATTERNS).index(label)].argmax()
        other = members("lenient")[:, list(PATTERNS).index("block")].argmax()
        outputs[row, [own, other]] = np.log([0.8, 0.2] if rng.random() < 0.7 else [0.3, 0.7])
    rows = np.arange(60)
    splits = [(rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3)]
    before = crossvalidation.temperatures(outputs, labels, splits)
    labels[0] = "heterogeneous"
    after = crossvalidation.temperatures(outputs, labels, splits)
    np.testing.assert_allclose(after, before, rtol=0.1)
    assert max(after) < 3


def test_a_fold_without_a_second_class_outside_is_refused(separable):
    table = separable.table.copy()
    numbers = crossvalidation.folds(separable, 3, seed=5)
    table["label"] = np.where(numbers == 2, "vertical", "diagonal")
    alone = dataclasses.replace(separable, table=table)
    with pytest.raises(InputError, match=r"Fold 2 of the labelled maps .* diagonal alone"):
        crossvalidation._split_by_fold(numbers, alone.labels)
