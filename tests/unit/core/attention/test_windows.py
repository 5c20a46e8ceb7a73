"""What the store knows of local attention."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.attention.store import (
    METADATA,
    AttentionStore,
    Windows,
    reach_of,
    write_store,
)
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import cosine

LENGTHS = [9, 6, 3]


def save(
    folder: Path, windows: Windows, rows: range = range(3), within: int = 2, seed: int = 0
) -> AttentionStore:
    """Save random maps of two layers, the second of which reaches ``within`` tokens."""
    lengths = [LENGTHS[row] for row in rows]
    table = pd.DataFrame({"idx": list(rows), "tokens": [["w"] * n for n in lengths]})
    for name in ("segments", "special", "starts", "ends"):
        table[name] = [[0] * n for n in lengths]
    with write_store(folder, table, 2, 3, windows) as writer:
        for row, n in zip(rows, lengths, strict=True):
            weights = np.random.default_rng([seed, row]).random((2, 3, n, n))
            weights[1] *= np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= within
            writer.append(weights / weights.sum(axis=-1, keepdims=True))
    return AttentionStore.open(folder)


def test_windows_are_recorded_only_if_there_are_any(tmp_path):
    local, full = save(tmp_path / "local", (None, 2)), save(tmp_path / "full", (None, None))
    assert local.windows == (None, 2)
    assert json.loads((tmp_path / "local" / METADATA).read_text())["windows"] == [None, 2]
    assert full.windows == ()
    assert json.loads((tmp_path / "full" / METADATA).read_text()) == {
        **{"layers": 2, "heads": 3, "examples": 3}
    }


def test_reach_is_a_band_in_texts_longer_than_the_window():
    reach = reach_of((None, 2), 5)
    assert reach is not None
    assert reach[0].all()
    for query in range(5):
        for key in range(5):
            assert reach[1, query, key] == (abs(query - key) <= 2)
    assert reach_of((None, 2), 3) is None
    assert reach_of((), 100) is None


def test_attention_out_of_reach_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"idx 0 has attention beyond the layers' windows"):
        save(tmp_path / "store", (None, 2), within=3)
    assert not (tmp_path / "store").exists()


def test_cosine_is_that_of_the_places_in_reach(tmp_path):
    first, second = (save(tmp_path / str(seed), (None, 2), seed=seed) for seed in (1, 2))
    found = cosine.cosine(first, second)
    for example, length in enumerate(LENGTHS):
        for layer, head in np.ndindex(2, 3):
            a, b = (s.maps(example)[layer, head].astype(float) for s in (first, second))
            places = [
                (i, j)
                for i in range(length)
                for j in range(length)
                if layer == 0 or abs(i - j) <= 2
            ]
            x, y = (np.array([one[place] for place in places]) for one in (a, b))
            expected = x @ y / np.sqrt((x @ x) * (y @ y))
            assert found[example, layer, head] == pytest.approx(expected, rel=1e-12)
    other = save(tmp_path / "other", (None, 4), seed=2)
    with pytest.raises(InputError, match="they differ in the windows of local attention"):
        cosine.cosine(first, other)
