import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from labelled import NAMES, make_labelled_maps, predictions, save
from scipy.optimize import minimize
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.resampling import cluster_weights, multinomial_weights
from darksecrets.paper.patterns import (
    classifier,
    cnn,
    crossvalidation,
    labelled_maps,
    quality,
    shares,
    tables,
)
from darksecrets.paper.patterns.classes import CNN, FEATURES, PATTERNS
from darksecrets.paper.patterns.definitions import MAP_KINDS, members
from darksecrets.paper.patterns.label_noise import LabelNoise

COUNT = len(NAMES)
COMPARED = ("label", "predicted")


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

    monkeypatch.setattr(classifier, "train_network", spy)
    monkeypatch.setattr(classifier, "train_regression", spy_on_regression)
    return seen, others


def test_every_map_is_classified_by_what_was_not_trained_on_its_example(separable, trainings):
    found = crossvalidation.cross_validate(
        separable, 3, cnn.Training(1, seed=5, drawn=2), repetitions=2
    )
    maps = len(separable.table)
    assert set(found["left_out"]) == {tables.EXAMPLE}  # all maps are of one encoder
    networks, others = trainings
    assert [training.seed for _, training in networks] == [5, 5, 5]
    assert len(others) == 6
    composed = [prepared.composed.features for _, prepared in others]
    assert composed[0] is composed[2]
    assert not torch.equal(composed[0], composed[3])  # another repetition has others
    numbers = crossvalidation.folds(separable, 3, seed=5)
    for place, (rows, _) in enumerate([*networks, *others]):
        assert rows.tolist() == np.flatnonzero(numbers != place % 3 + 1).tolist()
    rows = found.groupby(["classifier", "repetition", "definition"]).size().to_dict()
    repeated = [(FEATURES, 1), (FEATURES, 2), (CNN, 1)]
    repeated.append((tables.MAJORITY, 1))
    assert rows == {
        (*key, definition): maps for key in repeated for definition in ("lenient", "strict")
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
    found = crossvalidation.cross_validate(two_encoders, 3, training, repetitions=1)
    table = two_encoders.table
    for place, (tested, other) in enumerate((("m", "n"), ("n", "m"))):
        rows, _ = trainings[0][3 + place]
        assert (trainings[1][3 + place][0] == rows).all()
        own = set(table.loc[table["model"] == other, "label"])
        assert set(table["model"].iloc[rows]) == {other}
        # all but the two maps of the example that shares a sentence with the tested model
        assert len(rows) == (table["model"] == other).sum() - 2
        outside = found[(found["left_out"] == tables.MODEL) & (found["encoder"] == tested)]
        majority = outside[outside["classifier"] == tables.MAJORITY]
        assert set(majority["predicted"]) <= own
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
    found = crossvalidation.cross_validate(data, 3, TRAINING, repetitions=1)
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


def test_bootstrap_scores_are_those_of_a_loop_over_resamples(right_labels):
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


def test_repetitions_are_averaged_and_each_resample_is_of_one(right_labels):
    table = predictions(40, repetitions=3)
    found = quality.scores(table, 30, seed=3).set_index("metric")
    parts = [one.reset_index(drop=True) for _, one in table.groupby("repetition")]
    rates = [100 * np.mean(one["label"] == one["predicted"]) for one in parts]
    assert found.loc["accuracy", "score"] == pytest.approx(np.mean(rates))
    assert len(set(rates)) == 3
    assert found.loc["accuracy", "maps"] == 40
    order = parts[0]["map"].sort_values().index
    ordered = [one.loc[order] for one in parts]
    examples = ordered[0]["example"].to_numpy()
    weights = cluster_weights(30, examples, np.random.default_rng(3))
    drawn = []
    for number, weight in enumerate(weights):
        rows = ordered[number % 3]
        right = (rows["label"] == rows["predicted"]).to_numpy()
        drawn.append(100 * (weight * right).sum() / weight.sum())
    ends = np.quantile(drawn, [0.025, 0.975])
    assert tuple(found.loc["accuracy", ["ci_low", "ci_high"]]) == pytest.approx(tuple(ends))


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
    inside = predictions(20)
    outside = predictions(20, left_out="model").assign(temperature=lambda t: 1.0 + t["fold"])
    assert crossvalidation.mean_temperature(inside, FEATURES) == 1.5
    assert crossvalidation.mean_temperature(pd.concat([inside, outside]), FEATURES) == 3


def random_confusion(rng, maps=60):
    return rng.multinomial(maps, rng.dirichlet(np.ones(COUNT)) * 0.4 + 0.6 * np.eye(COUNT)).astype(
        float
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_correction_is_the_best_on_the_simplex(seed):
    """Against SciPy's own search, for shares that no mixture of classes explains exactly."""
    rng = np.random.default_rng(seed)
    confusion, shown = random_confusion(rng), rng.dirichlet(np.full(COUNT, 0.3))
    rates = confusion / confusion.sum(axis=1, keepdims=True)

    def error(p):
        return float(((p @ rates - shown) ** 2).sum())

    search = minimize(
        error,
        np.full(COUNT, 1 / COUNT),
        jac=lambda p: 2 * rates @ (p @ rates - shown),
        bounds=[(0, 1)] * COUNT,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = shares.correct(shown, rates)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert error(found) <= search.fun + 1e-12
    np.testing.assert_allclose(found, search.x, atol=1e-4)


def test_corrections_of_many_are_those_of_each_and_unlabelled_classes_get_nothing():
    rng = np.random.default_rng(1)
    confusion = np.stack([random_confusion(rng) for _ in range(6)])
    confusion /= confusion.sum(axis=2, keepdims=True)
    confusion[:, 2] = 0
    shown = rng.dirichlet(np.ones(COUNT), size=6)
    found = shares.correct(shown, confusion)
    assert (found[:, 2] == 0).all()
    for one, row, matrix in zip(found, shown, confusion, strict=True):
        np.testing.assert_allclose(one, shares.correct(row, matrix), atol=1e-9)


def classified(examples=9, layers=2, heads=3, seed=0):
    rng = np.random.default_rng(seed)
    e, layer, h = np.indices((examples, layers, heads)).reshape(3, -1)
    patterns = rng.choice(NAMES, size=len(e), p=[0.4, 0.3, 0.1, 0.0, 0.2])
    return pd.DataFrame(
        {
            "idx": 50 - 2 * e,
            "layer": layer + 1,
            "head": h + 1,
            "pattern": patterns,
            "lenient": patterns,
        }
    )


def several_encoders(names, maps=60, seed=0, repetitions=2, left_out="model", spread=0.0):
    """Predictions on the maps of encoders, each with confusions of its own.

    ``spread``: how much confusions differ between encoders.
    """
    rng = np.random.default_rng(seed)
    base = 0.8 * np.eye(COUNT) + 0.2 / COUNT
    parts = []
    for place, name in enumerate(names):
        rates = (1 - spread) * base + spread * rng.dirichlet(np.ones(COUNT), size=COUNT)
        known = predictions(maps, seed + place, repetitions=repetitions, left_out=left_out)
        known["encoder"] = name
        known["map"] = name + known["map"]
        known["example"] += 10**6 * place
        labels = known["label"].map(NAMES.index)
        known["predicted"] = [NAMES[rng.choice(COUNT, p=rates[label])] for label in labels]
        parts.append(known)
    return pd.concat(parts, ignore_index=True)


def rates_by_loops(rows, encoder, state):
    """Confusion rates of an encoder in a state by their definition."""
    found = np.zeros((COUNT, COUNT))
    views = [rows] if encoder is None else [rows, rows[rows["encoder"] == encoder]]
    if state in set(rows["state"]):
        views.append(views[-1][views[-1]["state"] == state])
    for place, view in enumerate(views):
        counts = (10 if place else 0) * found
        for label, predicted in zip(view["label"], view["predicted"], strict=True):
            counts[NAMES.index(label), NAMES.index(predicted)] += 1
        found = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    return found


@pytest.mark.parametrize("encoder", [None, "one"])
@pytest.mark.parametrize("state", ["finetuned", "pretrained", "random"])
def test_rates_are_drawn_towards_those_of_more_maps(encoder, state):
    table = several_encoders(["one", "two"], maps=30, repetitions=1, spread=0.4)
    table["state"] = np.where(np.arange(len(table)) % 3 == 0, "pretrained", "finetuned")
    known = shares.Labelled.of(FEATURES, table, "model", "lenient")
    own = [encoder] if encoder else []
    found = known.counts(0, np.ones(len(known.table))).rates(own, state)
    np.testing.assert_allclose(found, rates_by_loops(table, encoder, state), atol=1e-5)


@pytest.fixture
def right_labels(monkeypatch):
    """Labels that are never wrong: what follows from drawing them again is what it was before."""
    never = LabelNoise([], np.eye(COUNT)[None])
    monkeypatch.setattr(LabelNoise, "of", lambda *_: never)


@pytest.mark.parametrize("own", [True, False])
def test_shares_and_their_intervals_are_those_of_loops(own, right_labels):
    """Share by share, draw by draw, encoder by encoder."""
    maps, names = classified(), ["one", "another", "third"]
    inside = several_encoders(names, left_out="example", seed=5)
    known = pd.concat([inside, several_encoders(names, spread=0.3)], ignore_index=True)
    draws, encoder = 24, "one" if own else None
    counted = shares.count(FEATURES, known, draws, seed=4)
    found = shares.table(maps, counted, encoder, "finetuned", draws, seed=5).set_index("pattern")
    assert list(found.index) == NAMES
    assert set(found["definition"]) == {"lenient"}  # no labelled map has a class in the other
    for name in NAMES:
        assert found.loc[name, "share"] == pytest.approx((maps["pattern"] == name).mean())
    used = known[known["left_out"] == ("example" if own else "model")]
    parts = [one.sort_values("map") for _, one in used.groupby("repetition")]
    examples, labelled = sorted(set(maps["idx"])), sorted(set(used["example"]))
    counts, of_labelled = (  # the same resamples, example by example
        multinomial_weights(draws, np.ones(len(units), dtype=np.int64), np.random.default_rng(seed))
        for units, seed in ((examples, 5), (labelled, 4))
    )
    shown, corrected = [], []
    for number, (weights, its) in enumerate(zip(counts, of_labelled, strict=True)):
        rows = [maps[maps["idx"] == idx] for idx in np.repeat(examples, weights)]
        rows = pd.concat(rows)["pattern"].value_counts(normalize=True).reindex(NAMES).fillna(0)
        shown.append(rows)
        by_example = dict(iter(parts[number % 2].groupby("example")))
        drawn = pd.concat([by_example[one] for one in np.repeat(labelled, its)])
        rates = rates_by_loops(drawn, "one" if own else None, "finetuned")
        corrected.append(shares.correct(rows.to_numpy(), rates))
    ends = np.quantile(np.array(shown), [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found[["ci_low", "ci_high"]].T, ends, atol=1e-12)

    def corrected_for(name):
        rates = [rates_by_loops(one, name, "finetuned") for one in parts]
        return np.mean([shares.correct(found["share"].to_numpy(), one) for one in rates], axis=0)

    centre = corrected_for("one" if own else None)
    if own:
        np.testing.assert_allclose(found["corrected"], centre, atol=1e-5)
        ends = np.quantile(corrected, [0.025, 0.975], axis=0)
    else:
        np.testing.assert_array_equal(found["corrected"], found["share"])
        away = [corrected_for(name) - centre for name in names]
        errors = []
        for name in names:
            rows = used[used["encoder"] == name]
            kinds = ([(rows[c] == pattern).mean() for pattern in NAMES] for c in COMPARED)
            errors.append(np.subtract(*kinds))
        # Student's t of 2 degrees of freedom
        spans = [
            (middle, 4.302653 * np.sqrt(np.var(drawn, axis=0) + sum(e**2 for e in far) / 2 * 4 / 3))
            for middle, drawn, far in (
                (centre, corrected, away),
                (found["share"].to_numpy(), shown, errors),
            )
        ]
        ends = np.clip(
            [
                np.min([middle - reach for middle, reach in spans], axis=0),
                np.max([middle + reach for middle, reach in spans], axis=0),
            ],
            0,
            1,
        )
    np.testing.assert_allclose(found[["corrected_low", "corrected_high"]].T, ends, atol=1e-4)
    assert set(found["confusions_of"]) == {"one" if own else shares.OTHERS}


def test_nothing_is_known_of_another_encoder_when_one_was_labelled():
    known = several_encoders(["one"], left_out="example")
    counted = shares.count(FEATURES, known, 20, seed=1)
    found = shares.table(classified(), counted, "unknown", "finetuned", 20, seed=2)
    assert (found["corrected_low"] == 0).all()
    assert (found["corrected_high"] == 1).all()


@pytest.mark.thorough
@pytest.mark.parametrize("spread", [0.05, 0.3])
def test_intervals_cover_the_shares_of_an_encoder_that_was_not_labelled(spread):
    """Encoders with random confusions: 95% intervals cover the true shares about that often."""
    rng = np.random.default_rng(11)
    hits = []
    for trial in range(30):
        names = [f"e{number}" for number in range(7)]
        known = several_encoders(names, 100, 1000 * trial, repetitions=1, spread=spread)
        labelled = shares.Labelled.of(FEATURES, known[known["encoder"] != "e6"], "model", "lenient")
        truth = rng.dirichlet(np.full(COUNT, 2.0))
        target = known[known["encoder"] == "e6"]
        rates = rates_by_loops(target, None, "")
        seen = rng.multinomial(40, truth @ rates, size=50) / 40
        noise = LabelNoise.of(known, "lenient")
        counted = shares.Known.of(labelled, noise, 100, trial)
        found = shares.estimate(seen, counted, [], "finetuned", 100, rng)
        ends = found["corrected_low"].to_numpy(), found["corrected_high"].to_numpy()
        hits.append((ends[0] <= truth) & (truth <= ends[1]))
    assert np.mean(hits) >= 0.9


def test_shares_of_heads_are_counted():
    maps = classified()
    found = shares.shares_by_head(maps).set_index(["layer", "head", "pattern"])["share"]
    assert len(found) == 2 * 3 * COUNT
    for (layer, head, pattern), share in found.items():
        rows = maps[(maps["layer"] == layer) & (maps["head"] == head)]
        assert share == pytest.approx((rows["pattern"] == pattern).mean())


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
