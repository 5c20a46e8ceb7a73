"""Cosine of attention maps, against a plain loop in double precision."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from made_up_maps import random_maps, save

from darksecrets.core.attention.store import Windows
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import cosine as module
from darksecrets.paper.finetuning.tables import COSINE

LENGTHS = [9, 6, 6, 6, 3]
LAYERS, HEADS = 2, 3


def maps_of(seed: int, lengths: list[int] = LENGTHS, heads: int = HEADS, windows: Windows = ()):
    return random_maps(seed, lengths, (LAYERS, heads), 4, windows)


def cosine(a: npt.NDArray[np.float16], b: npt.NDArray[np.float16]) -> float:
    """The reference, one number at a time."""
    dot = norm_a = norm_b = 0.0
    for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
        dot += x * y
        norm_a += x * x
        norm_b += y * y
    return dot / math.sqrt(norm_a) / math.sqrt(norm_b)


@pytest.mark.parametrize("max_bytes", [1, 2 * LAYERS * HEADS * 36 * 2, 10**6])
def test_cosine_is_the_loops(tmp_path, max_bytes):
    first, second = maps_of(1), maps_of(2)
    found = module.cosine(
        save(tmp_path / "first", first), save(tmp_path / "second", second), max_bytes
    )
    assert found.shape == (len(LENGTHS), LAYERS, HEADS)
    for example, layer, head in np.ndindex(found.shape):
        expected = cosine(first[example][layer, head], second[example][layer, head])
        assert found[example, layer, head] == pytest.approx(expected, rel=1e-12)
    assert found.std() > 0.01


def test_a_model_is_like_itself(tmp_path):
    store = save(tmp_path / "store", maps_of(1))
    np.testing.assert_allclose(module.cosine(store, store), 1, rtol=0, atol=1e-15)


def uniform(length: int, window: int | None) -> npt.NDArray[np.float64]:
    """The reference, one row at a time."""
    flat = np.zeros((length, length))
    for query in range(length):
        reached = [key for key in range(length) if window is None or abs(key - query) <= window]
        flat[query, reached] = 1 / len(reached)
    return flat


@pytest.mark.parametrize("windows", [(), (1, None)])
def test_floors_are_the_loops(tmp_path, windows):
    maps = maps_of(1, windows=windows)
    for max_bytes in (1, 10**6):
        store = save(tmp_path / f"{max_bytes}", maps, windows=windows)
        others, flat = module.references(store, max_bytes)
        assert others.shape == flat.shape == (len(LENGTHS), LAYERS, HEADS)
        for example, layer, head in np.ndindex(others.shape):
            own = maps[example][layer, head]
            rest = [maps[example][layer, other] for other in range(HEADS) if other != head]
            mean = sum(cosine(own, one) for one in rest) / len(rest)
            assert others[example, layer, head] == pytest.approx(mean, abs=1e-6)
            level = uniform(own.shape[-1], windows[layer] if windows else None)
            assert flat[example, layer, head] == pytest.approx(cosine(own, level), abs=1e-6)
        assert others.std() > 0.01
        assert flat.std() > 0.01


def test_a_layer_of_one_head_has_no_other_heads(tmp_path):
    store = save(tmp_path / "store", maps_of(1, heads=1))
    assert np.isnan(module.references(store)[0]).all()


def test_the_table_has_means_and_spread_over_examples(tmp_path):
    first, second, third = maps_of(1), maps_of(2), maps_of(3)
    stores = [save(tmp_path / str(n), maps) for n, maps in enumerate((first, second, third))]
    found = module.compare(*stores)
    table = module.table(found)
    assert ("task", "seed", *table.columns) == COSINE.names
    places = [(layer + 1, head + 1) for layer, head in np.ndindex(LAYERS, HEADS)]
    assert [*zip(table["layer"], table["head"], strict=True)] == places
    for row in table.itertuples():
        head = row.layer - 1, row.head - 1
        values = [cosine(a[head], b[head]) for a, b in zip(first, second, strict=True)]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        assert row.similarity == pytest.approx(mean, rel=1e-12)
        assert row.sd == pytest.approx(math.sqrt(variance), rel=1e-9)
        assert row.examples == len(LENGTHS)
        between = [cosine(a[head], b[head]) for a, b in zip(second, third, strict=True)]
        assert row.other_seed == pytest.approx(sum(between) / len(between), rel=1e-12)
        assert row.other_heads == pytest.approx(found.other_heads[(slice(None), *head)].mean())
        assert math.isnan(row.ci_low), "fewer than six examples"
    assert np.isnan(module.table(module.compare(*stores[:2]))["other_seed"]).all()


def test_every_seed_is_compared_with_the_next_and_the_last_with_the_first(tmp_path):
    before, *after = (save(tmp_path / str(n), maps_of(n)) for n in (1, 2, 3, 4))
    seeds = dict(zip((7, 5, 9), after, strict=True))
    found = module.compare_seeds(before, seeds)
    assert list(found) == [7, 5, 9]
    for seed, following in ((7, 5), (5, 9), (9, 7)):
        expected = module.compare(before, seeds[seed], seeds[following])
        for name in ("similarity", "other_heads", "uniform", "other_seed"):
            assert np.array_equal(getattr(found[seed], name), getattr(expected, name))
    alone = module.compare_seeds(before, {7: after[0]})
    assert np.isnan(alone[7].other_seed).all()


def test_intervals_are_those_of_a_mean(tmp_path):
    lengths = [8] * 60
    found = module.compare(*(save(tmp_path / str(seed), maps_of(seed, lengths)) for seed in (1, 2)))
    table = module.table(found)
    reach = 1.96 * table["sd"] / math.sqrt(60)
    for end, sign in (("ci_low", -1), ("ci_high", 1)):
        np.testing.assert_allclose(
            table[end], table["similarity"] + sign * reach, atol=0.15 * reach.max()
        )


def test_layers_have_the_means_of_their_heads_by_example(tmp_path):
    idx = [5, 3, 9, 1, 7]
    stores = [save(tmp_path / str(seed), maps_of(seed), idx=idx) for seed in (1, 2)]
    found = module.compare(*stores)
    table = module.layer_table(found).set_index(["idx", "layer"])
    assert len(table) == len(LENGTHS) * LAYERS
    for example, layer in np.ndindex(len(LENGTHS), LAYERS):
        row = table.loc[(idx[example], layer + 1)]
        assert row["similarity"] == pytest.approx(found.similarity[example, layer].mean())
        assert row["other_heads"] == pytest.approx(found.other_heads[example, layer].mean())


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
def test_stores_that_cannot_be_compared(tmp_path, other, message):
    first = save(tmp_path / "first", maps_of(1))
    with pytest.raises(InputError, match=message):
        module.cosine(first, save(tmp_path / "other", **other))
