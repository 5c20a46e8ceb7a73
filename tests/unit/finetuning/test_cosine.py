"""Cosine of attention maps, against a plain loop in double precision."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.finetuning import cosine as module
from darksecrets.run.errors import InputError

LENGTHS = [9, 6, 6, 6, 3]
LAYERS, HEADS = 2, 3
Maps = list[npt.NDArray[np.float16]]


def maps_of(seed: int, lengths: list[int] = LENGTHS, heads: int = HEADS) -> Maps:
    rng = np.random.default_rng(seed)
    weights = [rng.exponential(size=(LAYERS, heads, n, n)) ** 4 for n in lengths]
    return [(w / w.sum(axis=-1, keepdims=True)).astype(np.float16) for w in weights]


def save(folder: Path, maps: Maps, idx: list[int] | None = None, word: str = "w") -> AttentionStore:
    lengths = [one.shape[-1] for one in maps]
    examples = pd.DataFrame(
        {"idx": idx or list(range(len(maps))), "tokens": [[word] * n for n in lengths]}
        | {name: [[0] * n for n in lengths] for name in ("segments", "special", "starts", "ends")}
    )
    with write_store(folder, examples, *maps[0].shape[:2]) as writer:
        for one in maps:
            writer.append(one)
    return AttentionStore.open(folder)


def cosine(a: npt.NDArray[np.float16], b: npt.NDArray[np.float16]) -> float:
    """The reference, one number at a time."""
    dot = norm_a = norm_b = 0.0
    for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
        dot += x * y
        norm_a += x * x
        norm_b += y * y
    return dot / math.sqrt(norm_a) / math.sqrt(norm_b)


@pytest.mark.parametrize("max_bytes", [1, 2 * LAYERS * HEADS * 36 * 2, 10**6])
def test_cosine_is_the_loops(tmp_path: Path, max_bytes: int) -> None:
    first, second = maps_of(1), maps_of(2)
    found = module.cosine(
        save(tmp_path / "first", first), save(tmp_path / "second", second), max_bytes
    )
    assert found.shape == (len(LENGTHS), LAYERS, HEADS)
    for example, layer, head in np.ndindex(found.shape):
        expected = cosine(first[example][layer, head], second[example][layer, head])
        assert found[example, layer, head] == pytest.approx(expected, rel=1e-12)
    assert found.std() > 0.01


def test_a_model_is_like_itself(tmp_path: Path) -> None:
    store = save(tmp_path / "store", maps_of(1))
    np.testing.assert_allclose(module.cosine(store, store), 1, rtol=0, atol=1e-15)


def test_the_table_has_means_and_spread_over_examples(tmp_path: Path) -> None:
    first, second = maps_of(1), maps_of(2)
    table = module.table(save(tmp_path / "first", first), save(tmp_path / "second", second))
    assert list(table.columns) == ["layer", "head", "similarity", "sd", "examples"]
    assert len(table) == LAYERS * HEADS
    for row in table.itertuples():
        values = [
            cosine(a[row.layer - 1, row.head - 1], b[row.layer - 1, row.head - 1])
            for a, b in zip(first, second, strict=True)
        ]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        assert row.similarity == pytest.approx(mean, rel=1e-12)
        assert row.sd == pytest.approx(math.sqrt(variance), rel=1e-9)
        assert row.examples == len(LENGTHS)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"maps": maps_of(1, heads=2)}, r"layers and heads, \(2, 3\) and \(2, 2\)"),
        ({"maps": maps_of(1, LENGTHS[:4])}, "number of examples, 5 and 4"),
        ({"maps": maps_of(1), "idx": [0, 2, 1, 3, 4]}, "example 2 differs in idx, 1 and 2"),
        ({"maps": maps_of(1), "word": "v"}, r"the tokens of idx 0 differ, 'w w w.*' and 'v v v.*'"),
        ({"maps": maps_of(1, [9, 7, 6, 6, 3])}, "the tokens of idx 1 differ"),
    ],
)
def test_stores_that_cannot_be_compared(
    tmp_path: Path, other: dict[str, object], message: str
) -> None:
    first = save(tmp_path / "first", maps_of(1))
    with pytest.raises(InputError, match=message):
        module.cosine(first, save(tmp_path / "other", **other))
