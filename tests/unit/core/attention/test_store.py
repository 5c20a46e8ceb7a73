"""The attention store: what is written is read back, and nothing half-written can be read."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from darksecrets.core.attention import store as module
from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.run.errors import InputError

LAYERS, HEADS = 2, 3
LENGTHS = [8, 5, 5, 5, 3]
Maps = list[npt.NDArray[np.float16]]


def examples_of(lengths: list[int]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "idx": [100 - i for i in range(len(lengths))],
            "tokens": [[f"é{i}-{j}" for j in range(n)] for i, n in enumerate(lengths)],
            "segments": [[int(j > n // 2) for j in range(n)] for n in lengths],
            "special": [[j in (0, n - 1) for j in range(n)] for n in lengths],
            "starts": [[4 * j for j in range(n)] for n in lengths],
            "ends": [[4 * j + 3 for j in range(n)] for n in lengths],
        }
    )


def maps_of(lengths: list[int]) -> Maps:
    rng = np.random.default_rng(0)
    weights = [rng.exponential(size=(LAYERS, HEADS, n, n)) ** 3 for n in lengths]
    return [(w / w.sum(axis=-1, keepdims=True)).astype(np.float16) for w in weights]


@pytest.fixture
def maps() -> Maps:
    return maps_of(LENGTHS)


def write(folder: Path, maps: Maps, interruption: BaseException | None = None) -> None:
    with write_store(folder, examples_of(LENGTHS), LAYERS, HEADS) as writer:
        for one in maps:
            writer.append(one)
        if interruption:
            raise interruption


@pytest.fixture
def store(tmp_path: Path, maps: Maps) -> AttentionStore:
    write(tmp_path / "store", maps)
    return AttentionStore.open(tmp_path / "store")


def test_maps_come_back_as_written(store, maps):
    assert (store.examples, store.layers, store.heads) == (5, LAYERS, HEADS)
    assert store.lengths.tolist() == LENGTHS
    for example, expected in enumerate(maps):
        np.testing.assert_array_equal(store.maps(example), expected)
        assert store.maps(example).dtype == np.float16


def test_layout_comes_back_as_written(store):
    examples = examples_of(LENGTHS)
    assert store.idx.tolist() == examples["idx"].tolist()
    for example, row in examples.iterrows():
        assert store.tokens(example) == row["tokens"]
        assert store.segments(example).tolist() == row["segments"]
        assert store.special(example).tolist() == row["special"]
        spans = [list(span) for span in zip(row["starts"], row["ends"], strict=True)]
        assert store.offsets(example).tolist() == spans


def test_tokens_with_spaces_between_them_are_as_many_as_the_tokens(tmp_path):
    """A token that a user added to a vocabulary may have a space."""
    examples = examples_of([3])
    examples.at[0, "tokens"] = ["[CLS]", "New York", "[SEP]"]
    with write_store(tmp_path / "store", examples, LAYERS, HEADS) as writer:
        writer.append(maps_of([3])[0])
    store = AttentionStore.open(tmp_path / "store")
    assert store.tokens(0) == ["[CLS]", "New York", "[SEP]"]
    assert store.spaced_tokens(0).split(" ") == ["[CLS]", "New␣York", "[SEP]"]


@pytest.mark.parametrize(
    ("max_bytes", "expected"),
    [
        (10**6, [[0], [1, 2, 3], [4]]),
        (2 * LAYERS * HEADS * 25 * 2, [[0], [1, 2], [3], [4]]),
        (50, [[0], [1], [2], [3], [4]]),
    ],
)
def test_batches_have_equal_lengths_and_bounded_size(store, maps, max_bytes, expected):
    batches = list(store.batches(max_bytes))
    assert [list(examples) for examples, _ in batches] == expected
    for examples, batch in batches:
        np.testing.assert_array_equal(batch, np.stack([maps[i] for i in examples]))
        assert batch.nbytes <= max_bytes or len(batch) == 1


def test_one_head_of_all_examples(store, maps):
    for layer in range(LAYERS):
        for head in range(HEADS):
            found = store.head(layer + 1, head + 1)
            assert len(found) == len(maps)
            for one, expected in zip(found, maps, strict=True):
                np.testing.assert_array_equal(one, expected[layer, head])


@pytest.mark.parametrize(
    ("layer", "head", "words"),
    [(0, 1, f"no layer 0; it has layers from 1 to {LAYERS}"), (1, HEADS + 1, "no head")],
)
def test_heads_count_from_1(store, layer, head, words):
    with pytest.raises(InputError, match=words):
        store.head(layer, head)


def test_a_failed_writer_keeps_the_store_that_was_there(store, maps):
    with pytest.raises(RuntimeError):
        write(store.folder, maps[:1], RuntimeError())
    np.testing.assert_array_equal(AttentionStore.open(store.folder).maps(4), maps[4])


def test_an_interrupted_writer_leaves_nothing(tmp_path, maps):
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "store", maps[:2], KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_being_written_cannot_be_opened(tmp_path, maps):
    with write_store(tmp_path / "store", examples_of(LENGTHS), LAYERS, HEADS) as writer:
        for one in maps:
            writer.append(one)
        (half_written,) = tmp_path.iterdir()
        for folder in (half_written, tmp_path / "store"):
            with pytest.raises(InputError, match=r"no attention store: store\.json"):
                AttentionStore.open(folder)
    AttentionStore.open(tmp_path / "store")


def test_too_few_examples(tmp_path, maps):
    with pytest.raises(ValueError, match="4 of 5 examples were written"):
        write(tmp_path / "store", maps[:4])
    assert list(tmp_path.iterdir()) == []


def test_examples_out_of_order(tmp_path):
    with (
        pytest.raises(ValueError, match="sorted by length"),
        write_store(tmp_path / "store", examples_of([3, 5]), LAYERS, HEADS),
    ):
        pass


@pytest.mark.parametrize("shape", [(LAYERS, HEADS, 8, 7), (LAYERS + 1, HEADS, 8, 8)])
def test_maps_of_the_wrong_shape(tmp_path, shape):
    with (
        pytest.raises(InputError, match=r"Example idx 100: the maps have shape"),
        write_store(tmp_path / "store", examples_of(LENGTHS), LAYERS, HEADS) as writer,
    ):
        writer.append(np.full(shape, 1 / shape[-1], dtype=np.float16))


@pytest.mark.parametrize("fault", [0.002, -0.002, np.nan])
def test_rows_that_do_not_sum_to_one(tmp_path, maps, fault):
    message = r"Example idx 99, layer 2, head 3: the attention of token 4 sums to"
    maps[1][1, 2, 3, :] = 0.2
    maps[1][1, 2, 3, 0] += fault
    with pytest.raises(InputError, match=message):
        write(tmp_path / "store", maps)
    assert list(tmp_path.iterdir()) == []


def test_the_worst_rounding_is_within_the_tolerance(tmp_path):
    """A row of weights that all round up by half a unit still counts as summing to 1."""
    length, unit = 512, 2.0**-19  # spacing of half-precision numbers just above 1 / 512
    row = np.full(length, 1 / length + unit / 2 * 0.999)
    row[-1] -= row.sum() - 1
    with write_store(tmp_path / "store", examples_of([length]), 1, 1) as writer:
        writer.append(np.broadcast_to(row, (1, 1, length, length)))


def test_too_little_space(tmp_path, monkeypatch):
    needed = 2 * LAYERS * HEADS * sum(n * n for n in LENGTHS)
    usage = SimpleNamespace(free=needed - 1)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage)
    with (
        pytest.raises(InputError, match=r"need .* GB in .* GB are free"),
        write_store(tmp_path / "store", examples_of(LENGTHS), LAYERS, HEADS),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["store.json", "examples.parquet", "maps.npy"])
@pytest.mark.parametrize("content", [b"", b"half"])
def test_a_damaged_file_is_named(store, name, content):
    (store.folder / name).write_bytes(content)
    with pytest.raises(InputError, match=f"store.*{name}"):
        AttentionStore.open(store.folder)
