"""Distances between heads: against SciPy in plain loops, and on heads whose distance is known."""

import math
from itertools import combinations
from pathlib import Path

import made_up_maps
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from made_up_maps import random_maps
from scipy.spatial.distance import jensenshannon

from darksecrets.beyond.redundancy import declared
from darksecrets.beyond.redundancy.measure.distances import Distances, sample
from darksecrets.core.attention.store import AttentionStore, Windows, reach_of
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

LENGTHS = [9, 6, 6, 6, 4, 3]
LAYERS, HEADS = 2, 3
LEAST = 2e-6  # sums of a map's weights in single precision, per token
Maps = list[npt.NDArray[np.float16]]


def maps_of(seed=1, lengths=LENGTHS, shape=(LAYERS, HEADS), windows=()) -> Maps:
    """Random maps, many of whose weights are 0 in half precision."""
    return random_maps(seed, lengths, shape, 6, windows)


def save(folder: Path, maps: Maps, windows: Windows = ()) -> AttentionStore:
    return made_up_maps.save(folder, maps, windows, idx=range(10, 10 + len(maps)))


def divergence(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """The reference: SciPy's distance, squared, for one token after the other."""
    rows = zip(first.astype(float), second.astype(float), strict=True)
    return math.fsum(jensenshannon(p, q) ** 2 for p, q in rows) / len(first)


def measure(folder: Path, maps: Maps, **more: object) -> Distances:
    return Distances.measure(save(folder, maps), 0, **more)


def by_kind(found: Distances) -> pd.Series:
    table = identify(found.mean_by_example(), "RTE", "pretrained")
    checked = declared.EXAMPLE_DISTANCES.check(table, "example_distances.csv", "")
    return checked.groupby("pairs")["distance"].mean()


@pytest.mark.parametrize("windows", [(), (1, None), (2, 2)])
def test_distances_are_scipys(tmp_path, windows):
    maps = maps_of(windows=windows)
    found = Distances.measure(save(tmp_path, maps, windows), 0)
    table = declared.HEAD_DISTANCES.check(
        identify(found.table(), "RTE", "pretrained"), "head_distances.parquet", ""
    )
    heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    assert len(table) == math.comb(len(heads), 2)
    for row, (a, b) in zip(table.itertuples(), combinations(heads, 2), strict=True):
        assert (row.layer_a - 1, row.head_a - 1, row.layer_b - 1, row.head_b - 1) == (*a, *b)
        expected = np.mean([divergence(one[a], one[b]) for one in maps])
        assert row.distance == pytest.approx(expected, abs=LEAST)
    assert table["distance"].std() > 0.01


def test_means_by_example_are_the_loops(tmp_path):
    maps = maps_of()
    found = measure(tmp_path, maps)
    table = found.mean_by_example().set_index(["idx", "pairs"])["distance"]
    heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    for number, one in enumerate(maps):
        of_pairs = {(a, b): divergence(one[a], one[b]) for a, b in combinations(heads, 2)}
        same = [value for (a, b), value in of_pairs.items() if a[0] == b[0]]
        others = [value for (a, b), value in of_pairs.items() if a[0] != b[0]]
        flat = np.full(one.shape[-2:], 1 / one.shape[-1])
        own = table[10 + number]
        assert own["all"] == pytest.approx(np.mean(list(of_pairs.values())), abs=LEAST)
        assert own["same layer"] == pytest.approx(np.mean(same), abs=LEAST)
        assert own["different layers"] == pytest.approx(np.mean(others), abs=LEAST)
        uniform = np.mean([divergence(one[head], flat) for head in heads])
        assert own["uniform"] == pytest.approx(uniform, abs=LEAST)


def test_uniform_attention_is_that_of_the_layers_reach(tmp_path):
    windows = (1, None)
    maps = maps_of(windows=windows)
    found = Distances.measure(save(tmp_path, maps, windows), 0)
    for idx, uniform in zip(found.idx, found.uniform, strict=True):
        one = maps[idx - 10]
        reach = reach_of(windows, one.shape[-1]).astype(float)
        flat = reach / reach.sum(axis=-1, keepdims=True)
        distances = [divergence(one[h], flat[h[0]]) for h in np.ndindex(LAYERS, HEADS)]
        assert uniform == pytest.approx(np.mean(distances), abs=LEAST)


def test_other_text_is_the_next_example_with_as_many_tokens(tmp_path):
    maps = maps_of()
    found = measure(tmp_path, maps)
    partners = {1: 2, 2: 3, 3: 1}  # the examples of six tokens
    for idx, distance in zip(found.idx, found.other_text, strict=True):
        number = int(idx) - 10
        if number not in partners:
            assert math.isnan(distance)
            continue
        pair = maps[number], maps[partners[number]]
        distances = [divergence(pair[0][h], pair[1][h]) for h in np.ndindex(LAYERS, HEADS)]
        assert distance == pytest.approx(np.mean(distances), abs=LEAST)


def test_copies_have_distance_0_and_disjoint_heads_the_greatest(tmp_path):
    """Two copies look at [CLS], two at the last token, in two layers."""
    maps = []
    for n in LENGTHS:
        one = np.zeros((2, 2, n, n), dtype=np.float16)
        one[:, 0, :, 0] = one[:, 1, :, -1] = 1
        maps.append(one)
    found = measure(tmp_path, maps)
    distances = by_kind(found)
    assert distances["same layer"] == pytest.approx(math.log(2), abs=LEAST)
    assert distances["different layers"] == pytest.approx(math.log(2) / 2, abs=LEAST)
    assert distances["nearest"] == pytest.approx(0, abs=LEAST)
    assert distances["other text"] == pytest.approx(0, abs=LEAST)
    assert (found.pairs >= 0).all()


def test_the_nearest_head_is_not_scored_where_it_is_chosen(tmp_path):
    """Heads of noise: none is nearer than another, though the least distance seems to be."""
    rng = np.random.default_rng(0)
    maps = [rng.dirichlet(np.ones(6), size=(4, 6, 6)).astype(np.float16) for _ in range(40)]
    found = measure(tmp_path, maps)
    distances = by_kind(found)
    seeming = np.sort(found.pairs.mean(axis=0))[:24].mean()
    error = found.pairs.mean(axis=1).std() / np.sqrt(len(maps))
    assert distances["nearest"] == pytest.approx(distances["all"], abs=4 * error)
    assert seeming < distances["all"] - 4 * error


def test_the_same_examples_are_sampled_for_all_models(tmp_path):
    first, second = (measure(tmp_path / f"{seed}", maps_of(seed), work=15 * 80) for seed in (1, 2))
    assert list(first.idx) == list(second.idx)
    assert 2 <= len(first.idx) < len(LENGTHS)
    lengths = np.array(LENGTHS)[first.idx - 10]
    assert (lengths**2).sum() <= 80


def test_a_sample_is_random_and_has_two_examples_at_least():
    lengths = np.repeat([30, 20, 10], 50)
    drawn = sample(lengths, 20_000, seed=1)
    assert len(set(drawn)) == len(drawn)
    assert 15_000 < (lengths[drawn] ** 2).sum() <= 20_000
    assert set(lengths[drawn]) == {10, 20, 30}
    assert list(drawn) != list(sample(lengths, 20_000, seed=2))
    assert len(sample(lengths, 1, seed=1)) == 2
    assert sorted(sample(lengths, 1e9, seed=1)) == list(range(150))


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ((1, 3), {"all", "same layer", "nearest", "other text", "uniform"}),
        ((3, 1), {"all", "different layers", "nearest", "other text", "uniform"}),
    ],
)
def test_kinds_without_pairs_are_empty(tmp_path, shape, kinds):
    found = measure(tmp_path, maps_of(shape=shape))
    assert set(by_kind(found).dropna().index) == kinds
    assert len(found.table()) == math.comb(math.prod(shape), 2)


def test_one_example_has_no_nearest_head(tmp_path):
    found = by_kind(measure(tmp_path, maps_of(lengths=[5])))
    assert math.isnan(found["nearest"])
    assert found["all"] > 0.1


def test_an_encoder_of_one_head_is_refused(tmp_path):
    with pytest.raises(InputError, match="this encoder has one head"):
        measure(tmp_path, maps_of(shape=(1, 1)))
