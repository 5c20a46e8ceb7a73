import math

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.maps.sampling import sample_maps

LAYERS, HEADS = 2, 3


def make_store(folder, examples, seed, lengths=None):
    rng = np.random.default_rng(seed)
    lengths = lengths or sorted(rng.integers(3, 7, size=examples), reverse=True)
    table = pd.DataFrame(
        {
            "idx": [100 + 7 * number for number in range(examples)],
            "tokens": [[f"t{i}" for i in range(length)] for length in lengths],
            "segments": [[0] * length for length in lengths],
            "special": [[True] + [False] * (length - 2) + [True] for length in lengths],
            "starts": [[0] * length for length in lengths],
            "ends": [[0] * length for length in lengths],
        }
    )
    with write_store(folder, table, LAYERS, HEADS) as writer:
        for length in lengths:
            writer.append(rng.dirichlet(np.ones(length), size=(LAYERS, HEADS, length)))
    return AttentionStore.open(folder)


@pytest.fixture(params=[4, 5, 6, 9])  # numbers of examples that do and do not divide the heads
def stores(request, tmp_path):
    return {
        ("RTE", "pretrained", None): make_store(tmp_path / "a", request.param, 0),
        ("RTE", "finetuned", 1): make_store(tmp_path / "b", request.param, 1),
    }


def place(table):
    return table.groupby(["state", "idx", "layer", "head"])


def test_all_maps_come_up_once_when_all_are_asked_for(stores):
    total = sum(store.examples * LAYERS * HEADS for store in stores.values())
    table = sample_maps(stores, total, 0, "model").table
    assert place(table).size().eq(1).all()
    assert len(place(table)) == total
    with pytest.raises(InputError, match=f"only {total} maps of at most 128 .*; {total + 1}"):
        sample_maps(stores, total + 1, 0, "model")


@pytest.mark.parametrize("size", [7, 13, 24])
def test_stores_layers_heads_and_examples_come_up_equally_often(stores, size):
    table = sample_maps(stores, size, 3, "model").table
    assert len(table) == size
    for columns in (["state"], ["state", "layer"], ["state", "layer", "head"]):
        counts = table.groupby(columns).size()
        cells = {1: 2, 2: 2 * LAYERS, 3: 2 * LAYERS * HEADS}[len(columns)]
        assert counts.max() <= math.ceil(size / cells) + 1
        assert len(counts) == min(cells, size) or counts.min() >= size // cells
    examples = next(iter(stores.values())).examples
    per_example = table.groupby(["state", "idx"]).size()
    assert per_example.max() <= math.ceil(size / (2 * examples)) + 1


def test_a_row_describes_the_map_beside_it(stores):
    drawn = sample_maps(stores, 12, 1, "tiny")
    assert set(drawn.table["layer"]) == {1, 2}
    for row, weights in zip(drawn.table.itertuples(), drawn.maps, strict=True):
        store = stores[("RTE", row.state, None if pd.isna(row.seed) else row.seed)]
        example = store.idx.tolist().index(row.idx)
        assert np.array_equal(weights, store.maps(example)[row.layer - 1, row.head - 1])
        assert row.tokens.split(" ") == store.tokens(example)
        assert [digit == "1" for digit in row.special] == store.special(example).tolist()
        assert len(row.segments) == len(weights)


def test_names_say_nothing_of_order_model_or_task(stores):
    drawn = sample_maps(stores, 12, 1, "tiny").table["map"]
    assert drawn.str.fullmatch("m[a-z2-7]{6}").all()
    assert drawn.is_unique
    order = drawn.rank().corr(pd.Series(range(12)))
    assert abs(order) < 0.8, "as a random order of 12; 1 if they were numbered"
    assert not set(drawn) & set(sample_maps(stores, 12, 2, "tiny").table["map"])
    assert not set(drawn) & set(sample_maps(stores, 12, 1, "other").table["map"])


def test_short_and_long_examples_come_up_equally_often_and_none_above_128_tokens(tmp_path):
    lengths = [200, 129, 128, 120, 110, *[20] * 60, 9, 8, 8, 7]
    store = make_store(tmp_path / "store", len(lengths), 0, lengths)
    table = sample_maps({("RTE", "random", 3): store}, 12, 5, "m").table
    drawn = table["special"].str.len()
    # ranges of equal size on a logarithmic scale: 7 to 14, 14 to 30, none, 62 to 128
    assert np.histogram(drawn, [7, 14, 30, 62, 129])[0].tolist() == [4, 5, 0, 3]
    assert table["idx"].is_unique
    whole = sample_maps({("RTE", "random", 3): store}, 67 * LAYERS * HEADS, 5, "m").table
    assert whole["special"].str.len().max() == 128


def test_lengths_do_not_go_with_layers(tmp_path):
    """With twice as many ranges of lengths as layers, a fixed order of both would pair them."""
    lengths = sorted([4, 8, 16, 30] * 60, reverse=True)
    store = make_store(tmp_path / "store", len(lengths), 0, lengths)
    table = sample_maps({("RTE", "finetuned", 1): store}, 240, 0, "m").table
    counts = pd.crosstab(table["special"].str.len(), table["layer"])
    assert (counts.sum(axis=1) == 60).all()
    # 30 are expected in each cell, with a standard deviation below sqrt(60 / 4) = 3.9
    assert counts.to_numpy().min() > 30 - 4 * 3.9


def test_the_seed_decides(stores):
    first, again, other = (sample_maps(stores, 10, seed, "m").table for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
