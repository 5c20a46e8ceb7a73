import numpy as np
import pandas as pd
import pytest

from darksecrets.patterns.mapset import LABEL_COLUMNS, MapSet
from darksecrets.run.errors import InputError

TOKENS = ("[CLS] null [SEP]", "[CLS] nan , NA [SEP]")


def labels(*rows):
    return pd.DataFrame([(*row, "2026-01-01T00:00:00Z") for row in rows], columns=LABEL_COLUMNS)


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
    assert settled.to_dict("list") == {
        "map": ["a-0001", "a-0003"],
        "label": ["block", "heterogeneous"],
    }


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
        (
            ("a-0001", "stripes", "x", 1),
            "found `stripes` in column `label`, row 1; expected one of vertical, d",
        ),
        (("b-0001", "block", "x", 1), "labels of 1 maps .* such as b-0001"),
        (("a-0001", "", "x", 1), "found no value in column `label`, row 1"),
        (
            ("a-0001", "block", "x", 4),
            "found `4` in column `pass`, row 1; expected a number 1 to",
        ),
    ],
)
def test_labels_of_unknown_classes_or_maps_are_refused(folder, row, message):
    labels(row).to_csv(folder / "labels.csv", index=False)
    with pytest.raises(InputError, match=message):
        MapSet.load(folder)


@pytest.mark.parametrize("name", ["maps.npz", "maps.csv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        MapSet.load(folder)


def test_maps_that_do_not_fit_their_table_are_refused(folder):
    np.savez_compressed(folder / "maps.npz", values=np.zeros(10, dtype=np.float16))
    with pytest.raises(InputError, match="found 10 numbers, expected 34"):
        MapSet.load(folder)
    np.savez_compressed(folder / "maps.npz", numbers=np.zeros(34, dtype=np.float16))
    with pytest.raises(InputError, match="expected an array `values`, found"):
        MapSet.load(folder)


def test_a_map_that_stands_twice_and_a_missing_column_are_refused(mapset, folder):
    mapset.table.assign(map="a-0001").to_csv(folder / "maps.csv", index=False)
    with pytest.raises(InputError, match=r"two rows of map a-0001; .* Correct or restore"):
        MapSet.load(folder)
    mapset.table.drop(columns="layer").to_csv(folder / "maps.csv", index=False)
    with pytest.raises(
        InputError,
        match=r"found the columns map,.*,idx,head,.*; expected .*,idx,layer",
    ):
        MapSet.load(folder)
