import numpy as np
import pandas as pd
import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.maps.mapset import MapSet, label_table

TOKENS = ("[CLS] null [SEP]", "[CLS] nan , NA [SEP]")


TIME = "2026-01-01T00:00:00Z"


def labels(*rows):
    """Rows of map, label, annotator, pass, and perhaps columns, number and diagonal."""
    return label_table(
        (name, label, *(second or plausible(label)), annotator, number, "shown", TIME)
        for name, label, annotator, number, *second in rows
    )


def plausible(label):
    columned = "vertical" in label
    return ("s" if columned else "-", int(columned), 2 if "diagonal" in label else 0)


@pytest.fixture
def mapset():
    rng = np.random.default_rng(0)
    maps = [rng.dirichlet(np.ones(n), size=n).astype(np.float16) for n in (3, 5)]
    table = pd.DataFrame(
        {
            "map": ["a-0001", "a-0002"],
            "model": "m",
            "task": ["RTE", "SST-2"],
            "state": ["finetuned", "pretrained"],
            "seed": pd.array([1, None], dtype="Int64"),
            "idx": [4, 9],
            "layer": [1, 2],
            "head": [3, 1],
            "tokens": TOKENS,
            "segments": ["001", "00000"],
            "special": ["101", "10001"],
            "earlier": ["", "old-1"],
        }
    )
    return MapSet(table, maps, labels())


@pytest.fixture
def folder(mapset, tmp_path):
    mapset.save(tmp_path / "set")
    return tmp_path / "set"


def test_a_set_is_read_back_as_it_was_words_like_null_too(mapset, folder):
    read = MapSet.load(folder)
    pd.testing.assert_frame_equal(read.table, mapset.table, check_dtype=False)
    assert read.table["tokens"].tolist() == list(TOKENS)
    for one, other in zip(read.maps, mapset.maps, strict=True):
        assert np.array_equal(one, other)
    assert read.labels.empty


def test_settled_labels_are_those_agreed_on_or_looked_at_again(mapset):
    given = labels(
        ("a-0001", "block", "x", 1),
        ("a-0002", "block", "x", 1),
        ("a-0003", "vertical", "x", 1),
        ("a-0001", "block", "x", 2),
        ("a-0002", "diagonal", "x", 2),
        ("a-0003", "block", "x", 2),
        ("a-0003", "heterogeneous", "x", 3),
    )
    settled = MapSet(mapset.table, mapset.maps, given).settled()
    assert settled[["map", "label", "strict"]].to_dict("list") == {
        "map": ["a-0001", "a-0003"],
        "label": ["block", "heterogeneous"],
        "strict": ["block", "heterogeneous"],
    }


SECOND = {
    "the same answers": ([("w", 1, 0), ("w", 1, 0)], ("w", 1, 0)),
    "the earlier pass, as a whole": ([("w", 1, 1), ("sw", 2, 0)], ("w", 1, 1)),
    "the greater number, as a whole": ([("w", 1, 1), ("sw", 2, 0), ("sw", 2, 0)], ("sw", 2, 0)),
    "not settled: the strict classes differ": ([("s", 1, 0), ("sw", 2, 0)], None),
    "what was looked at again": ([("s", 1, 0), ("sw", 2, 0), ("p", 1, 0)], ("p", 1, 0)),
}


@pytest.mark.parametrize(("given", "expected"), SECOND.values(), ids=SECOND)
def test_second_answers_are_those_of_one_label(mapset, given, expected):
    passes = [("x", 1), ("x", 2), ("x", 3) if len({*given}) == 3 else ("y", 2)]
    rows = [
        ("a-0002", "vertical", *who, *second)
        for who, second in reversed(list(zip(passes, given, strict=False)))
    ]
    settled = MapSet(mapset.table, mapset.maps, labels(*rows)).settled()
    found = settled[["columns", "number", "diagonal"]].to_numpy().tolist()
    assert found == ([] if expected is None else [list(expected)])
    assert settled["label"].tolist() == ["vertical"] * len(found)
    assert settled["strict"].tolist() == ["heterogeneous"] * len(found)


def test_a_strict_class_is_disputed_like_a_wide_one(mapset):
    given = labels(
        ("a-0001", "vertical", "x", 1, "s", 1, 0),
        ("a-0001", "vertical", "x", 2, "s", 2, 1),
        ("a-0002", "vertical+diagonal", "x", 1, "s", 1, 2),
        ("a-0002", "vertical+diagonal", "x", 2, "sp", 2, 2),
    )
    assert MapSet(mapset.table, mapset.maps, given).disputed() == ["a-0002"]


def test_disputed_maps_are_those_with_two_labels_before_they_were_settled(mapset):
    given = labels(
        ("a-0001", "block", "x", 1),
        ("a-0001", "vertical", "y", 1),
        ("a-0002", "block", "x", 1),
        ("a-0002", "block", "x", 2),
        ("a-0001", "block", "x", 3),
        ("a-0002", "diagonal", "x", 3),
    )
    assert MapSet(mapset.table, mapset.maps, given).disputed() == ["a-0001"]
    assert MapSet(mapset.table, mapset.maps, labels()).disputed() == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a-0001", "", "x", 1), "no value in column `label`, row 1"),
        (
            ("a-0001", "vertical", "x", 1, "-", 0, 0),
            "labels.csv, row 1: .* vertical needs at least one column",
        ),
        (("a-0001", "block", "x", 1, "s", 3, 0), "`3` in column `number`, row 1"),
        (("a-0001", "block", "x", 4), "`4` in column `pass`, row 1 instead of a number 1 to"),
    ],
)
def test_labels_of_unknown_classes_or_maps_are_refused(folder, row, message):
    labels(row).to_csv(folder / "labels.csv", index=False)
    with pytest.raises(InputError, match=message):
        MapSet.load(folder)


def test_a_map_that_stands_twice_and_a_missing_column_are_refused(mapset, folder):
    mapset.table.assign(map="a-0001").to_csv(folder / "maps.csv", index=False)
    with pytest.raises(InputError, match=r"two rows of map a-0001 .* Correct or restore"):
        MapSet.load(folder)
    mapset.table.drop(columns="layer").to_csv(folder / "maps.csv", index=False)
    with pytest.raises(
        InputError, match=r"the columns are map,.*,idx,head,.* instead of .*,idx,layer"
    ):
        MapSet.load(folder)
