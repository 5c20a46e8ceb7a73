"""Statistics of a data set against plain loops, refused data, and the sample."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict, concatenate_datasets
from glue import TASKS, in_folder

from darksecrets.core.data.checks import check, fingerprint
from darksecrets.core.data.sampling import sample
from darksecrets.core.data.sources import build_dataset, read_files
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError

Rows = list[tuple[Any, ...]]

MRPC, STSB, SST2 = TASKS["MRPC"], TASKS["STS-B"], TASKS["SST-2"]

TRAIN: Rows = [
    (0, "a", "b", 0),
    (5, "a", "c", 1),
    (3, "a", "b", 1),  # the text of idx 0, another label
    (9, "b", "a", 1),  # the other way round: another text
    (7, "a", "b", 0),
]
VALIDATION: Rows = [(0, "a", "c", 1), (1, "c", "a", 0), (2, "a", "c", 0)]


def dataset(task: Task, train: Rows, validation: Rows) -> DatasetDict:
    columns = ["idx", *task.columns, "label"]
    tables = [pd.DataFrame(rows, columns=columns) for rows in (train, validation)]
    return build_dataset(task, dict(zip(("train", "validation"), tables, strict=True)), "a test")


def unchecked(columns: dict[str, list[Any]]) -> DatasetDict:
    """The same table as both splits, with the types that `datasets` infers."""
    return DatasetDict({s: Dataset.from_dict(columns) for s in ("train", "validation")})


def test_statistics():
    summary = check(dataset(MRPC, TRAIN, VALIDATION), MRPC)
    assert summary["train"] == {
        "examples": 5,
        "duplicates": 2,
        "labels": {"not_equivalent": 2, "equivalent": 3},
    }
    assert summary["validation"] == {
        "examples": 3,
        "duplicates": 1,
        "labels": {"not_equivalent": 2, "equivalent": 1},
    }
    assert summary["shared"] == 2


def test_statistics_of_random_data_equal_a_loop():
    generator = np.random.default_rng(0)
    train, validation = (
        [(i, *map(str, generator.integers(0, 9, 2)), int(generator.integers(2))) for i in range(60)]
        for _ in range(2)
    )
    summary = check(dataset(MRPC, train, validation), MRPC)
    for name, rows in (("train", train), ("validation", validation)):
        texts = [row[1:3] for row in rows]
        duplicates = sum(text in texts[:i] for i, text in enumerate(texts))
        assert 0 < duplicates < 60
        assert summary[name]["duplicates"] == duplicates
    shared = sum(any(v[1:3] == t[1:3] for t in train) for v in validation)
    assert 0 < shared < 60
    assert summary["shared"] == shared


def test_statistics_of_single_sentences_and_of_regression():
    single = check(dataset(SST2, [(0, "a", 1), (1, "a", 0), (2, "b", 0)], [(0, "a", 1)]), SST2)
    assert (single["train"]["duplicates"], single["shared"]) == (1, 1)
    number = check(
        dataset(STSB, [(0, "a", "b", 0.5), (1, "b", "c", 5.0)], [(0, "x", "y", 0)]), STSB
    )
    assert number["train"]["labels"] == {"min": 0.5, "max": 5.0, "mean": 2.75}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((6, " ", "b", 0), "MRPC, train: sentence1 is empty at idx 6"),
        ((6, "a", "", 0), "MRPC, train: sentence2 is empty at idx 6"),
        ((6, "a", None, 0), "MRPC, train: sentence2 is empty at idx 6"),
        ((5, "x", "y", 0), "MRPC, train: this idx is repeated at idx 5"),
    ],
)
def test_bad_row(row, message):
    with pytest.raises(InputError, match=f"{message}.* 1 of 6 examples"):
        check(dataset(MRPC, [*TRAIN, row], VALIDATION), MRPC)


@pytest.mark.parametrize("label", [-1, 2])
def test_class_out_of_range(label):
    columns = {"idx": [4], "sentence1": ["a"], "sentence2": ["b"], "label": [label]}
    with pytest.raises(InputError, match=rf"not from 0 to 1 at idx 4 \(label {label}\)"):
        check(unchecked(columns), MRPC)


@pytest.mark.parametrize("label", [-0.1, 5.01, float("nan")])
def test_number_out_of_range(label):
    with pytest.raises(InputError, match=r"STS-B, validation: .* not from 0 to 5 at idx 0"):
        check(dataset(STSB, [(0, "a", "b", 0.0)], [(0, "a", "b", label)]), STSB)


def test_wrong_form():
    good = {"idx": [0], "sentence1": ["a"], "sentence2": ["b"], "label": [1]}
    with pytest.raises(InputError, match="MRPC: no split validation among train"):
        check(DatasetDict({"train": Dataset.from_dict(good)}), MRPC)
    without = {name: column for name, column in good.items() if name != "sentence2"}
    with pytest.raises(InputError, match=r"label \(int64\), not .*sentence2 \(string\)"):
        check(unchecked(without), MRPC)
    with pytest.raises(InputError, match=r"label \(string\), not .*label \(int64\)"):
        check(unchecked({**good, "label": ["1"]}), MRPC)
    with pytest.raises(InputError, match=r"label \(int64\), not .*label \(float32\)"):
        check(unchecked(good), STSB)
    with pytest.raises(InputError, match="labels are not_equivalent, equivalent; expected not_dup"):
        check(dataset(MRPC, TRAIN, VALIDATION), TASKS["QQP"])
    with pytest.raises(InputError, match="MRPC, validation: no examples"):
        check(dataset(MRPC, TRAIN, []), MRPC)


@pytest.mark.parametrize("split", ["train", "validation"])
def test_texts_that_are_all_the_same(split):
    same = [(0, "a", "b", 0), (1, "a", "b", 1)]
    splits = {"train": TRAIN, "validation": VALIDATION, split: same}
    with pytest.raises(InputError, match=rf"MRPC, {split}: all 2 examples .*tasks\.MRPC\.text"):
        check(dataset(MRPC, **splits), MRPC)
    same[1] = (1, "a", "c", 1)
    check(dataset(MRPC, **{**splits, split: same}), MRPC)


def test_fingerprint_is_of_the_content(tmp_path):
    first = dataset(MRPC, TRAIN, VALIDATION)
    expected = check(first, MRPC)["fingerprint"]
    # The same rows in other files: in two chunks, on disk, columns in another order.
    pieces = concatenate_datasets(
        [dataset(MRPC, rows, VALIDATION)["train"] for rows in (TRAIN[:2], TRAIN[2:])]
    )
    pieces = pieces.select_columns(["label", "sentence2", "idx", "sentence1"])
    other = DatasetDict({"train": pieces, "validation": first["validation"]})
    other.save_to_disk(tmp_path, num_shards={"train": 3, "validation": 1})
    assert check(DatasetDict.load_from_disk(tmp_path), MRPC)["fingerprint"] == expected


@pytest.mark.parametrize(
    ("train", "validation"),
    [
        ([*TRAIN[:4], (8, "a", "b", 0)], VALIDATION),  # an idx
        ([*TRAIN[:4], (7, "a", "b", 1)], VALIDATION),  # a label
        ([*TRAIN[:4], (7, "ab", "b", 0)], VALIDATION),  # a text
        ([*TRAIN[:4], (7, "b", "a", 0)], VALIDATION),  # the order of sentences
        ([TRAIN[1], TRAIN[0], *TRAIN[2:]], VALIDATION),  # the order of rows
        (VALIDATION, TRAIN),  # the splits
        (
            [TRAIN[0], (5, "aa", "c", 1), (3, "", "b", 1)],
            VALIDATION,
        ),  # like the first three, with a character moved to the next text
    ],
)
def test_fingerprint_tells_contents_apart(train, validation):
    def of(*splits: Rows) -> str:
        return fingerprint(pd.DataFrame(rows, columns=list("ixyl")) for rows in splits)

    assert of(train, validation) != of(TRAIN, VALIDATION)
    assert of(train, validation) != of(TRAIN[:3], VALIDATION)
    assert of(train, validation) == of(list(train), list(validation))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A data set on disk, its validation idx neither dense nor in order."""
    idx = np.random.default_rng(1).permutation(np.arange(10, 310, 3))
    rows = [(int(i), f"text {i}", 0) for i in idx]
    dataset(SST2, [(0, "a", 1)], rows).save_to_disk(tmp_path / "data")
    return tmp_path / "data"


def test_sample_is_what_its_definition_says(saved):
    drawn = sample(saved, 30, seed=7)
    assert set(drawn) < set(range(10, 310, 3))
    assert len(drawn) == 30
    assert drawn == sorted(set(drawn)) == sample(saved, 30, seed=7)
    assert sample(saved, 30, seed=8) != drawn


@pytest.mark.parametrize("size", [100, 1000])
def test_small_data_is_sampled_whole(saved, size):
    assert sample(saved, size, seed=7) == list(range(10, 310, 3))


def test_equal_texts_are_sampled_once(tmp_path):
    rows: Rows = [(8, "a", "c", 1), (1, "c", "a", 0), (2, "A", " c", 0), (5, "a", "a", 0)]
    dataset(MRPC, TRAIN, rows).save_to_disk(tmp_path / "data")
    assert sample(tmp_path / "data", 9, seed=1) == [1, 5, 8]


def test_sample_reaches_every_example(saved):
    # 40 draws of half: missing a given example has probability 2⁻⁴⁰.
    seen = set().union(*(sample(saved, 50, seed) for seed in range(40)))
    assert seen == set(range(10, 310, 3))


def test_real_data(test_data):
    for name, labels, duplicates in (
        ("MRPC", [127, 281], 0),
        ("RTE", [139, 138], 0),
        ("SST-2", [428, 444], 9),
    ):
        summary = check(read_files(in_folder(name, test_data / "glue")), TASKS[name])
        assert list(summary["validation"]["labels"].values()) == labels
        assert (summary["train"]["duplicates"], summary["shared"]) == (duplicates, 0)
