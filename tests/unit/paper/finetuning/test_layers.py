"""Which layers change most: against loops, on planted changes, and on changes of nothing."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import layers as module
from darksecrets.paper.finetuning.tables import LAST_LAYERS, LAYER_SIMILARITY

EXAMPLES, SEEDS = 60, 3
RISING = (0.01, 0.02, 0.05, 0.1, 0.2)
NOISE = 1e-7  # half precision moves a cosine by no more


def values(
    change: tuple[float, ...],
    floor: tuple[float, ...] | float = 0.5,
    *,
    spread: float = 0.2,
    seeds: int = SEEDS,
    examples: int = EXAMPLES,
    draw: int = 0,
) -> module.Changes:
    """Changes with these means and floors of every layer."""
    rng = np.random.default_rng(draw)
    shape = (seeds, examples, len(change))
    floors = np.broadcast_to(floor, shape) * rng.uniform(0.8, 1.2, size=shape[1:])
    own = np.array(change) * np.maximum(1 + spread * rng.standard_normal(shape), 0)
    return module.Changes(own, floors)


def parts(*shape: Any, task: str = "RTE", **more: Any) -> list[pd.DataFrame]:
    """The same, as tables `layer_similarity`."""
    own = values(*shape, **more)
    seeds, examples, layers = own.change.shape
    tables = [
        pd.DataFrame(
            {
                "task": task,
                "seed": seed + 1,
                "idx": np.repeat(np.arange(examples), layers),
                "layer": np.tile(np.arange(layers) + 1, examples),
                "similarity": 1 - own.change[seed].ravel(),
                "other_heads": 1 - own.between_heads[seed].ravel(),
            }
        )
        for seed in range(seeds)
    ]
    return [LAYER_SIMILARITY.check(table, "made up", "") for table in tables]


def last(made: list[pd.DataFrame]) -> pd.DataFrame:
    table = module.last_layers(module.changes_of(made))
    return LAST_LAYERS.check(table, "last_layers.csv", "").set_index(["task", "scale"])


def test_relative_changes_are_ratios_of_means_over_examples_and_seeds():
    made = parts(RISING)
    (changes,) = module.changes_of(made).values()
    relative = changes.relative
    for layer in range(1, 6):
        totals = {"similarity": 0.0, "other_heads": 0.0}
        for table, name in product(made, totals):
            for row in table[table["layer"] == layer].to_dict("records"):
                totals[name] += 1 - row[name]
        expected = totals["similarity"] / totals["other_heads"]
        assert relative[..., layer - 1].mean() == pytest.approx(expected, rel=1e-12)
    assert relative.shape == (SEEDS, EXAMPLES, 5)


def test_few_examples_have_no_interval():
    assert np.isnan(last(parts(RISING, examples=5))["ci_low"]).all()


def test_planted_last_layers_are_found():
    found = last(parts(RISING))
    for scale in ("change", "relative"):
        row = found.loc[("RTE", scale)]
        assert row["greatest"]
        assert row["probability"] == 1
        assert row["q_value"] <= row["q_greatest"] < 0.01
        assert 0 < row["ci_low"] < row["difference"] < row["ci_high"]
    of_change = found.loc[("RTE", "change")]
    assert of_change["difference"] == pytest.approx(0.15 - 0.08 / 3, rel=0.1)


def test_one_layer_below_suffices_to_deny_it():
    """The mean of the last two is far above the rest, but the third is above the fourth."""
    row = last(parts((0.01, 0.01, 0.12, 0.1, 0.4))).loc[("RTE", "change")]
    assert row["q_value"] < 0.01
    assert not row["greatest"]
    assert row["probability"] < 0.05
    assert row["p_greatest"] > 0.9


def test_relative_to_the_floor_another_layer_may_change_most():
    """Heads of the first layers are alike: for them, the same change is more."""
    floor = (0.02, 0.02, 0.5, 0.5, 0.5)
    found = last(parts((0.05, 0.05, 0.05, 0.1, 0.2), floor))
    assert found.loc[("RTE", "change"), "greatest"]
    assert not found.loc[("RTE", "relative"), "greatest"]
    assert found.loc[("RTE", "relative"), "difference"] < 0


def test_an_unchanged_model_shows_no_change():
    """Half precision alone: no test, no ranking, whatever the layer."""
    made = parts((0.0, 0.0, 0.0, NOISE / 2, NOISE), spread=0.3)
    for _, row in last(made).iterrows():
        assert row["p_value"] == row["p_greatest"] == 1
        assert not row["greatest"]
        assert row["probability"] == 0


def test_heads_that_are_copies_have_no_relative_change():
    made = parts(RISING, (0.0, 0.5, 0.5, 0.5, 0.5))
    (changes,) = module.changes_of(made).values()
    assert np.isnan(changes.relative[..., 0]).all()
    assert list(last(made).index) == [("RTE", "change")]


@pytest.mark.parametrize("layers", [1, 2])
def test_too_few_layers_to_compare(layers):
    assert not len(last(parts(RISING[:layers])))


def test_tasks_are_corrected_together():
    made = [*parts(RISING), *parts(RISING[::-1], task="QQP", draw=1)]
    found = last(made)
    assert list(found.index.get_level_values("task").unique()) == ["RTE", "QQP"]
    assert (found["q_value"] >= found["p_value"]).all()
    assert found.loc[("QQP", "change"), "p_value"] == 1


def test_seeds_of_other_examples_are_refused():
    made = parts(RISING)
    made[1]["idx"] += 1
    with pytest.raises(InputError, match="similarities of RTE are of other examples"):
        module.changes_of(made)
