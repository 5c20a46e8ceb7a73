import numpy as np
import pandas as pd
import pytest
from labelled import labelled_maps, save

from darksecrets.patterns import annotations, archive
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run.errors import InputError


def one_map(length, seed=0, padded=0):
    weights = np.random.default_rng(seed).dirichlet(np.ones(length), size=length)
    return np.pad(weights, (0, padded))


@pytest.fixture
def published(tmp_path):
    """A small archive in the follow-up's format."""
    folder = tmp_path / "archive"
    (folder / "maps").mkdir(parents=True)
    for number in range(12):
        np.save(folder / "maps" / f"{number}.npy", one_map(5 + number, number).astype(np.float32))
    (folder / "labels.txt").write_text(
        "single_vertical = 0, 1\ndouble_vertical = 2, 3\n\ndiagonal = 4,5\nmix = 6, 7\n"
        "block = 8, 9\nother = 10\n"
    )
    return folder


def test_the_archive_is_read_with_its_classes_merged(published):
    read = annotations.load([published])
    assert read.table["map"].tolist() == [f"archive-{number}" for number in range(11)]
    expected = ["vertical"] * 4 + ["diagonal"] * 2 + ["vertical+diagonal"] * 2 + ["block"] * 2
    assert read.labels == [*expected, "heterogeneous"]
    for number, weights in enumerate(read.maps):
        assert weights.dtype == np.float16
        np.testing.assert_allclose(weights, one_map(5 + number, number), atol=1e-3)
    assert len(set(read.groups)) == 11
    assert read.table["special"].iloc[0] == "10001"
    assert len(annotations.files(published)) == 13


def test_what_was_filled_up_is_cut_off(published):
    np.save(published / "maps" / "0.npy", one_map(5, padded=7))
    np.testing.assert_allclose(annotations.load([published]).maps[0], one_map(5), atol=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("striped = 1, 2\n", "line 1: found the unknown class 'striped', expected one of vertical"),
        ("diagonal: 1, 2\n", "line 1: found 'diagonal: 1, 2', expected `label = id"),
        ("diagonal = 1\nblock = 1\n", "line 2: the map 1 already has a label"),
        ("diagonal = 1, 77\n", "1 labelled maps have no array, such as 77.npy"),
    ],
)
def test_lines_that_cannot_be_right_are_refused(published, text, message):
    (published / "labels.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        archive.read(published)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((3, 4)), r"found an array of shape \(3, 4\)"),
        (np.ones((3, 3)), "rows that do not sum to 1"),
        (np.zeros((3, 3)), "rows that do not sum to 1"),
        (np.full((2, 2), np.nan), "rows that do not sum to 1"),
        (np.array([[1.5, -0.5], [0, 1]]), "found weights below 0"),
        (np.array([{"code": 1}], dtype=object), "cannot be read as a plain array"),
    ],
    ids=["shape", "sums", "empty", "nan", "negative", "pickle"],
)
def test_arrays_that_are_no_maps_are_refused(published, array, message):
    np.save(published / "maps" / "3.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=f"3.npy.*{message}"):
        archive.read(published)


def test_an_archive_needs_exactly_one_text_file(published):
    (published / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"expected one text file .* found labels.txt, notes.txt"):
        archive.read(published)


def test_sets_are_read_together_and_only_maps_whose_label_holds(tmp_path, published):
    mapset = labelled_maps(["vertical", "block"], 4)
    again = mapset.labels.assign(**{"pass": 2})
    # Maps 0 and 1: disagreements, of which the second is settled below.
    again.loc[:1, ["label", "columns", "number", "diagonal"]] = ["diagonal", "-", 0, 2]
    third = pd.DataFrame([mapset.labels.iloc[1].to_dict() | {"pass": 3}])
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([mapset.labels, again, third]))
    read = annotations.load([save(mapset, tmp_path / "set"), published])
    assert len(read.table) == 7 + 11
    assert "x-0000" not in set(read.table["map"])
    assert read.table["agreed"].tolist() == [False] + [True] * 17
    assert read.labels[0] == "vertical"
    np.testing.assert_array_equal(read.maps[0], mapset.maps[1])
    pairs = pd.Series(read.groups).value_counts()
    assert sorted(pairs) == [1] * 12 + [2] * 3  # maps of one example are one group


def test_examples_that_share_a_sentence_are_one_group_across_tasks_and_models(tmp_path):
    mapset = labelled_maps(["vertical"], 8)
    rows = [
        ("[CLS] a dog bark ##s [SEP] yes [SEP]", "00000011", "10000101", "m", "RTE", 1),
        ("[CLS] so [SEP] A dog barks [SEP]", "0001111", "1010001", "n", "MRPC", 1),  # as the first
        ("[CLS] So [SEP] no [SEP]", "00011", "10101", "m", "QQP", 7),  # by way of the second
        ("[CLS] it [SEP]", "000", "101", "m", "QQP", 7),  # the same example
        ("[CLS] dog bark ##s [SEP]", "00000", "10001", "m", "RTE", 2),  # a part, not a sentence
        ("[CLS] yes no [SEP]", "0000", "1001", "m", "SST-2", 1),
        ("· · ·", "000", "101", "x", "", 1),  # unknown tokens
        ("· · ·", "000", "101", "x", "", 2),
    ]
    columns = ["tokens", "segments", "special", "model", "task", "idx"]
    table = mapset.table.copy()
    table[columns] = pd.DataFrame(rows, columns=columns)
    found = annotations.Annotations(table, mapset.maps).groups
    assert found.tolist() == [0, 0, 0, 0, 1, 2, 3, 4]
    again = annotations.Annotations(table.iloc[::-1].reset_index(drop=True), mapset.maps).groups
    assert again.tolist() == [0, 1, 2, 3, 4, 4, 4, 4]


def test_one_class_and_classes_with_too_few_examples_are_refused(tmp_path):
    one = save(labelled_maps(["block"], 20), tmp_path / "one")
    with pytest.raises(InputError, match="found maps with block; expected at least two classes"):
        annotations.check([str(one)], 5)
    few = save(labelled_maps(["block", "diagonal"], 8), tmp_path / "few")  # of 4 examples each
    annotations.check([str(few)], 4)
    with pytest.raises(InputError, match=r"too few examples of diagonal \(4\), block \(4\) for 5"):
        annotations.check([str(few)], 5)


def test_the_shipped_maps_are_enough_for_as_many_folds_as_is_said() -> None:
    annotations.check([str(annotations.SHIPPED)], annotations.SHIPPED_FOLDS)  # reads the set
    with pytest.raises(InputError, match=f"for {annotations.SHIPPED_FOLDS + 1} folds"):
        annotations.check([], annotations.SHIPPED_FOLDS + 1)
    assert set(annotations.load(annotations.folders([])).labels) == set(PATTERNS)


def test_maps_have_a_class_in_either_reading(tmp_path):
    mapset = labelled_maps(["vertical", "block", "vertical+diagonal"], 2)
    given = mapset.labels
    given.loc[[1, 5], "columns"] = "sw"
    again = given.assign(**{"pass": 2})
    again.loc[0, "number"] = 1  # second answers may differ where both definitions agree
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([given, again]))
    read = annotations.load([save(mapset, tmp_path / "set")])
    wide = ["vertical"] * 2 + ["block"] * 2 + ["vertical+diagonal"] * 2
    assert read.read_as("lenient").labels == read.labels == wide
    strict = ["vertical", "heterogeneous", "block", "block", "vertical+diagonal", "diagonal"]
    assert read.read_as("strict").labels == strict
    assert read.table["agreed"].all()
    third = given.iloc[[0]].assign(**{"pass": 3}, columns="w")
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([given, again, third]))
    read = annotations.load([save(mapset, tmp_path / "third")])
    assert read.table["agreed"].tolist() == [False] + [True] * 5
    assert read.read_as("strict").labels[0] == "heterogeneous"


def test_a_set_without_second_answers_has_no_strict_reading(published):
    read = annotations.load([published])
    with pytest.raises(InputError, match=r"6 maps without an answer .* such as archive-0"):
        read.read_as("strict")
    assert read.read_as("lenient") is read
