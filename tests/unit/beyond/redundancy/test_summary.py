"""How near heads are, over all models: on planted and on shuffled heads."""

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from darksecrets.beyond.redundancy import declared
from darksecrets.beyond.redundancy.measure import statistics as module
from darksecrets.beyond.redundancy.measure.distances import Distances
from darksecrets.core.run.tables import identify

Floats = npt.NDArray[np.float64]
LAYERS, HEADS, EXAMPLES = 4, 5, 40
COUNT = LAYERS * HEADS
MODELS = ("pretrained", "finetuned/seed-1")


def plane(spread: float, seed: int = 0, layers: int = LAYERS) -> Floats:
    """[heads, 2] positions: layers are apart, and heads of one layer this far from its centre."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, 0.2, size=(layers, 1, 2))
    heads = centres + spread * rng.standard_normal((layers, HEADS, 2))
    return heads.reshape(-1, 2)


def of_positions(places: Floats, examples: int = EXAMPLES, noise: float = 0.02) -> Distances:
    """Distances of heads at these positions, with noise from example to example."""
    rng = np.random.default_rng(1)
    true = np.array([math.dist(a, b) for a, b in combinations(places, 2)])
    pairs = true * (1 + noise * rng.standard_normal((examples, len(true))))
    shape = len(places) // HEADS, HEADS
    others = np.full((2, examples), 0.1)
    others[0, ::4] = np.nan
    return Distances(shape, np.arange(examples), pairs, *others)


def both(
    found: Distances, task: str = "RTE", model: str = MODELS[0]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    kinds = (declared.EXAMPLE_DISTANCES, declared.HEAD_DISTANCES)
    made = (found.mean_by_example(), found.table())
    examples, distances = (
        table.check(identify(rows, task, model), table.file, "")
        for table, rows in zip(kinds, made, strict=True)
    )
    return examples, distances


def summary(*models: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    examples, distances = (pd.concat(parts) for parts in zip(*models, strict=True))
    table = declared.REDUNDANCY.check(module.summarize(examples, distances), "redundancy.csv", "")
    return table.set_index([*table.columns[:3], "pairs"]).sort_index()


def of_one(found: Distances) -> pd.DataFrame:
    return summary(both(found)).droplevel([0, 1, 2])


def test_means_and_controls_are_the_loops():
    found = of_positions(plane(0.02))
    table = of_one(found)
    layer = np.repeat(np.arange(LAYERS), HEADS)
    means = dict(zip(combinations(range(COUNT), 2), found.pairs.mean(axis=0), strict=True))
    same = [value for (a, b), value in means.items() if layer[a] == layer[b]]
    others = [value for (a, b), value in means.items() if layer[a] != layer[b]]
    every = math.fsum(means.values()) / len(means)
    for kind, values in (("same layer", same), ("different layers", others)):
        mean = math.fsum(values) / len(values)
        assert table.loc[kind, "distance"] == pytest.approx(mean)
        assert table.loc[kind, "control"] == pytest.approx(every)
        assert table.loc[kind, "difference"] == pytest.approx(mean - every)
    assert table.loc["all", "distance"] == pytest.approx(every)
    nearest = [min(v for pair, v in means.items() if head in pair) for head in range(COUNT)]
    assert table.loc["nearest", "distance"] == pytest.approx(np.mean(nearest), rel=0.02)
    assert table.loc["other text", "examples"] == EXAMPLES * 3 / 4
    for kind, row in table.iterrows():
        assert row["ci_low"] <= row["distance"] <= row["ci_high"]
        assert math.isnan(row["control"]) == (kind in {"all", "other text", "uniform"})
        assert math.isnan(row["p_value"]) == (kind != "same layer")


def test_intervals_are_those_of_a_mean_over_examples():
    found = of_positions(plane(0.02), noise=0.5)
    row = of_one(found).loc["all"]
    reach = 1.96 * found.pairs.mean(axis=1).std(ddof=1) / np.sqrt(EXAMPLES)
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * reach, rel=0.15)


def test_heads_that_are_near_in_their_layer_are_found():
    row = of_one(of_positions(plane(0.01))).loc["same layer"]
    assert row["difference_high"] < 0
    assert row["p_value"] == row["q_value"] == 1 / (1 + module.PERMUTATIONS)


def test_heads_that_are_all_copies_are_not_near_in_their_layer():
    table = of_one(of_positions(np.zeros((COUNT, 2))))
    assert table.loc["same layer", "p_value"] == 1
    assert (table.loc[["all", "nearest"], "distance"] == 0).all()


def test_one_layer_has_no_test_and_few_examples_no_interval():
    table = of_one(of_positions(plane(0.02, layers=1), examples=5))
    assert "different layers" not in table.index
    assert table[["p_value", "ci_low", "difference_low"]].isna().all(axis=None)


def test_all_models_are_corrected_together():
    shuffled = np.random.default_rng(3).permutation(plane(0.01))
    near, far = of_positions(plane(0.01)), of_positions(shuffled)
    table = summary(*(both(found, task) for found, task in ((near, "RTE"), (far, "QQP"))))
    rows = table.xs("same layer", level="pairs").droplevel([1, 2])
    p = rows["p_value"]
    assert rows.loc["RTE", "q_value"] == pytest.approx(2 * p["RTE"])
    assert rows.loc["QQP", "q_value"] == pytest.approx(p["QQP"])
