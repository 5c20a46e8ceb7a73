import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from toy_maps import toy_set

from darksecrets.patterns.__main__ import main
from darksecrets.patterns.agreement import agreements, describe, write_tables
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.mapset import LABEL_COLUMNS
from darksecrets.run.errors import InputError

CLASSES = list(PATTERNS)


def table(**passes):
    rows = [
        (f"m{number}", label, rater[0], int(rater[1]), "t")
        for rater, labels in passes.items()
        for number, label in enumerate(labels)
        if label
    ]
    return pd.DataFrame(rows, columns=LABEL_COLUMNS)


@pytest.fixture
def two():
    """Two passes over 120 maps that agree on about two thirds."""
    rng = np.random.default_rng(3)
    first = rng.choice(CLASSES, size=120, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    second = np.where(rng.random(120) < 0.6, first, rng.choice(CLASSES, size=120))
    return first.tolist(), second.tolist()


def test_kappa_and_confusion_by_hand():
    first = ["vertical", "vertical", "diagonal", "diagonal"]
    second = ["vertical", "diagonal", "diagonal", "diagonal"]
    (pair,) = agreements(table(x1=first, x2=second))
    # Observed 3/4; expected 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert pair.kappa == pytest.approx(0.5)
    assert pair.share == 0.75
    assert pair.confusion[:2, :2].tolist() == [[1, 1], [0, 2]]
    assert pair.confusion.sum() == pair.maps == 4
    shares = pair.per_class()
    assert shares[:2] == pytest.approx([2 / 3, 4 / 5])
    assert np.isnan(shares[2:]).all()


def test_kappa_is_that_of_scikit_learn(two):
    (pair,) = agreements(table(x1=two[0], x2=two[1]))
    assert pair.kappa == pytest.approx(cohen_kappa_score(*two), abs=1e-12)


def test_the_interval_is_that_of_drawing_maps_one_by_one(two):
    (pair,) = agreements(table(x1=two[0], x2=two[1]))
    rng = np.random.default_rng(0)
    first, second = map(np.asarray, two)
    draws = []
    for _ in range(800):
        drawn = rng.integers(0, 120, size=120)
        draws.append(cohen_kappa_score(first[drawn], second[drawn]))
    # Quantiles of 2000 and 800 draws of a value with a standard deviation of about 0.05.
    assert pair.interval == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.02)


def test_only_maps_that_both_labelled_count_and_all_pairs_are_compared():
    labels = table(
        x1=["block", "block", "diagonal", None],
        x2=["block", None, "diagonal", "vertical"],
        y1=[None, "diagonal", None, None],
        x3=["vertical", None, "block", None],  # of disputed maps only: not compared
    )
    pairs = agreements(labels)
    found = {(pair.first, pair.second): pair.maps for pair in pairs}
    assert found == {("x (pass 1)", "x (pass 2)"): 2, ("x (pass 1)", "y (pass 1)"): 1}


def test_one_class_for_all_has_no_kappa():
    (pair,) = agreements(table(x1=["block"] * 3, x2=["block"] * 3))
    assert math.isnan(pair.kappa)
    assert np.isnan(pair.interval).all()
    assert pair.share == 1
    assert "nan" in describe(pair)


def test_the_text_and_the_tables_say_the_same(two, tmp_path):
    pairs = agreements(table(x1=two[0], x2=two[1]))
    text = describe(pairs[0])
    for part in ("x (pass 1) against x (pass 2): 120 maps", f"{pairs[0].kappa:.3f}", *CLASSES):
        assert part in text
    write_tables(pairs, tmp_path)
    agreement = pd.read_csv(tmp_path / "agreement.csv").set_index("pattern")
    assert agreement.loc["all", "kappa"] == pytest.approx(pairs[0].kappa)
    assert agreement.loc[CLASSES, "agreement"].to_numpy() == pytest.approx(pairs[0].per_class())
    assert agreement.loc[CLASSES, "maps"].sum() == 240
    confusion = pd.read_csv(tmp_path / "confusion.csv")
    cell = confusion.query("label_first == 'vertical' and label_second == 'block'")["maps"]
    both = zip(*two, strict=True)
    assert cell.item() == sum(pair == ("vertical", "block") for pair in both)


def test_the_command_compares_the_passes_of_a_folder(tmp_path, capsys):
    assert main(["agreement", str(tmp_path)]) == 1
    assert "is not a set of maps" in capsys.readouterr().err
    toy_set(4).save(tmp_path / "set")
    labels = table(x1=["block"] * 4, x2=["block", "block", "diagonal", "block"])
    labels["map"] = [f"toy-{1 + int(name[1]):04d}" for name in labels["map"]]
    labels.to_csv(tmp_path / "set" / "labels.csv", index=False)
    assert main(["agreement", str(tmp_path / "set"), "--csv", str(tmp_path / "csv")]) == 0
    assert "same label     75.0%" in capsys.readouterr().out
    assert (tmp_path / "csv" / "confusion.csv").is_file()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (table(), "Found no labels; expected two passes"),
        (table(x1=["block"]), r"Found x \(pass 1\); expected two passes"),
        (table(x1=["block", None], x2=[None, "block"]), "that have maps in common"),
        (pd.concat([table(x1=["block"])] * 2), "two labels of x .* for the map m0"),
    ],
)
def test_what_cannot_be_compared_is_refused(labels, message):
    with pytest.raises(InputError, match=message):
        agreements(labels)
