import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from toy_maps import toy_set

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.__main__ import main
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps.annotator_agreement import (
    compare_passes,
    compare_with_set,
    confusions,
)
from darksecrets.paper.patterns.maps.labelled_maps import SHIPPED
from darksecrets.paper.patterns.maps.mapset import ANSWERS, MapSet, label_table, strict_labels
from darksecrets.paper.patterns.maps.sampling import sample_set
from darksecrets.paper.patterns.tables import AGREEMENT

CLASSES = list(PATTERNS)


def answers(label):
    """A class with second answers that fit it."""
    if isinstance(label, tuple):
        return label
    columned = "vertical" in label
    return (label, "s" if columned else "-", int(columned), 2 if "diagonal" in label else 0)


def table(**passes):
    """Labels of passes such as x1 and x2; a label is a class, or a class and its second answers."""
    rows = [
        (f"toy-{number:04d}", *answers(label), rater[0], int(rater[1]), "shown", "t")
        for rater, labels in passes.items()
        for number, label in enumerate(labels, 1)
        if label
    ]
    return label_table(rows)


def mapset(labels, models=None):
    maps = toy_set(120)
    named = maps.table.assign(model=models or "toy")
    return MapSet(named, maps.maps, labels)


def compare(labels, maps_of="all", definition="lenient", **origin):
    """Rows of a definition, one for each pair of passes."""
    found = compare_passes(mapset(labels, **origin))
    rows = found[(found["maps_of"] == maps_of) & (found["definition"] == definition)]
    return list(rows.itertuples())


@pytest.fixture
def two():
    """Two passes over 120 maps that agree on about two thirds."""
    rng = np.random.default_rng(3)
    first = rng.choice(CLASSES, size=120, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    second = np.where(rng.random(120) < 0.6, first, rng.choice(CLASSES, size=120))
    return first.tolist(), second.tolist()


def test_kappa_by_hand():
    first = ["vertical", "vertical", "diagonal", "diagonal"]
    second = ["vertical", "diagonal", "diagonal", "diagonal"]
    (pair,) = compare(table(x1=first, x2=second))
    # Observed 3/4; expected 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert pair.kappa == pytest.approx(0.5)
    assert (pair.maps, pair.agreement) == (4, 0.75)


def test_the_interval_is_that_of_drawing_maps_one_by_one(two):
    (pair,) = compare(table(x1=two[0], x2=two[1]))
    rng = np.random.default_rng(0)
    first, second = map(np.asarray, two)
    draws = []
    for _ in range(800):
        drawn = rng.integers(0, 120, size=120)
        draws.append(cohen_kappa_score(first[drawn], second[drawn]))
    # Quantiles of 2000 and 800 draws of a value with a standard deviation of about 0.05.
    interval = [pair.ci_low, pair.ci_high]
    assert interval == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.02)


def test_only_maps_that_both_labelled_count_and_all_pairs_are_compared():
    labels = table(
        x1=["block", "block", "diagonal", None],
        x2=["block", None, "diagonal", "vertical"],
        y1=[None, "diagonal", None, None],
        x3=["vertical", None, "block", None],  # of disputed maps only: not compared
    )
    pairs = compare(labels)
    found = {(pair.first, pair.second): pair.maps for pair in pairs}
    assert found == {("x (pass 1)", "x (pass 2)"): 2, ("x (pass 1)", "y (pass 1)"): 1}


def test_one_class_for_all_has_no_kappa():
    (pair,) = compare(table(x1=["block"] * 3, x2=["block"] * 3))
    assert math.isnan(pair.kappa)
    assert np.isnan([pair.ci_low, pair.ci_high]).all()
    assert pair.agreement == 1


def test_models_are_compared_on_their_own(two):
    models = ["a", "b", "b"] * 40
    found = compare_passes(mapset(table(x1=two[0], x2=two[1]), models))
    kappas = found[found["definition"] == "lenient"].set_index("maps_of")["kappa"].to_dict()
    first, second = map(np.asarray, two)
    kept = {
        "all": np.ones(120, dtype=bool),
        "a": np.array(models) == "a",
        "b": np.array(models) == "b",
    }
    expected = {name: cohen_kappa_score(first[some], second[some]) for name, some in kept.items()}
    assert kappas == pytest.approx(expected, abs=1e-12)


def test_both_definitions_are_compared():
    first = [("vertical", "s", 1, 0), ("vertical", "ws", 2, 1), ("block", "-", 0, 0)] * 4
    other = [("vertical", "s", 2, 0), ("vertical", "sw", 2, 1), ("block", "-", 0, 1)] * 3
    other += [("vertical", "p", 1, 0), ("vertical", "s", 2, 1), ("heterogeneous", "-", 0, 0)]
    labels = table(x1=first, y1=other)
    (lenient,) = compare(labels)
    (strict,) = compare(labels, definition="strict")
    assert lenient.agreement == 11 / 12
    assert strict.agreement == 9 / 12
    strict_first = ["vertical", "heterogeneous", "block"] * 4
    strict_other = ["vertical", "heterogeneous", "block"] * 3
    strict_other += ["heterogeneous", "vertical", "heterogeneous"]
    assert strict.kappa == pytest.approx(cohen_kappa_score(strict_first, strict_other))


def test_labels_without_second_answers_are_compared_in_the_lenient_definition_only():
    old = [("vertical", "", None, None), ("block", "", None, None)]
    found = compare_passes(mapset(table(x1=old, x2=old)))
    assert found["definition"].tolist() == ["lenient"]


def test_annotators_who_divide_a_pass_count_as_one():
    labels = table(
        a1=["block", "block", None, None],
        b1=[None, None, "block", "diagonal"],
        c2=["block", "diagonal", "block", "diagonal"],
    )
    (pair,) = compare(labels)
    assert (pair.first, pair.second) == ("a, b (pass 1)", "c (pass 2)")
    assert (pair.maps, pair.agreement) == (4, 0.75)


def test_the_command_compares_the_passes_of_a_folder(tmp_path, capsys):
    assert main(["agreement", str(tmp_path)]) == 1
    assert "is not a set of maps" in capsys.readouterr().err
    toy_set(4).save(tmp_path / "set")
    labels = table(x1=["block"] * 4, x2=["block", "block", "diagonal", "block"])
    labels.to_csv(tmp_path / "set" / "labels.csv", index=False)
    file = tmp_path / "agreement.csv"
    assert main(["agreement", str(tmp_path / "set"), "--csv", str(file)]) == 0
    assert "0.750" in capsys.readouterr().out
    assert AGREEMENT.read(file)["agreement"].tolist() == [0.75, 0.75]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (table(), "no labels.* needs two passes"),
        (table(x1=["block"]), r"x \(pass 1\).* needs two passes"),
        (table(x1=["block", None], x2=[None, "block"]), "with maps in common"),
        (pd.concat([table(x1=["block"])] * 2), "x .* gave two labels to the map toy-0001"),
    ],
)
def test_what_cannot_be_compared_is_refused(labels, message):
    with pytest.raises(InputError, match=message):
        compare_passes(mapset(labels))


@pytest.fixture(scope="module")
def shipped():
    return MapSet.load(SHIPPED)


@pytest.fixture
def labelled_again(shipped):
    """A hundred maps of the shipped set, labelled again: each third one otherwise."""
    drawn = sample_set(shipped, 100, seed=1)
    settled = shipped.settled().set_index("map")
    rows = []
    for number, name in enumerate(drawn.table["map"]):
        label, columns, count, diagonal = settled.loc[name, list(ANSWERS)]
        given = (label, columns, count, diagonal)
        if number % 3 == 0:
            given = ("block", "-", 0, 0) if label != "block" else ("diagonal", "-", 0, 2)
        rows.append((name, *given, "ada", 1, "shown", "t"))
    return MapSet(drawn.table, drawn.maps, label_table(rows))


def test_labels_given_again_are_compared_with_the_settled_ones(shipped, labelled_again):
    found = compare_with_set(labelled_again, shipped).set_index(["maps_of", "definition"])
    settled = shipped.settled().set_index("map")
    given = labelled_again.labels
    for definition, column in (("lenient", "label"), ("strict", "strict")):
        row = found.loc["all", definition]
        first = settled.loc[given["map"], column]
        second = given["label"] if definition == "lenient" else strict_labels(given)
        assert (row["first"], row["second"]) == ("settled labels (pass 1)", "ada (pass 1)")
        assert row["maps"] == 100
        assert row["kappa"] == pytest.approx(cohen_kappa_score(first, second))
    counts = confusions(labelled_again, shipped)
    assert int(counts.to_numpy().sum()) == 100
    agreed = (settled.loc[given["map"], "strict"].to_numpy() == strict_labels(given)).sum()
    assert np.trace(counts.to_numpy()) == agreed
    settling = pd.concat([given, given.assign(**{"pass": 3}).head(20)], ignore_index=True)
    with_third = MapSet(labelled_again.table, labelled_again.maps, settling)
    pd.testing.assert_frame_equal(confusions(with_third, shipped), counts)


def test_the_maps_to_label_again_are_a_blind_sample_of_the_set(shipped):
    drawn, again, others = (sample_set(shipped, 100, seed) for seed in (1, 1, 2))
    assert drawn.table["map"].is_unique
    assert drawn.labels.empty
    assert drawn.table.equals(again.table)
    assert not drawn.table.equals(others.table)
    rows = {name: row for row, name in enumerate(shipped.table["map"])}
    for name, weights in zip(drawn.table["map"], drawn.maps, strict=True):
        assert np.array_equal(weights, shipped.maps[rows[name]])
    assert {*drawn.table["map"]} != {*shipped.table["map"].iloc[:100]}


def test_agreement_with_the_set_needs_a_label(shipped):
    with pytest.raises(InputError, match="No map is labelled yet"):
        compare_with_set(sample_set(shipped, 5, seed=1), shipped)
