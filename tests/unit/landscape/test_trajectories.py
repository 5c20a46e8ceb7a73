"""When heads change: against plain loops, on heads that move together, and in a planted order."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from made_up_trajectories import HEADS, LAYERS, STEPS, made_up
from scipy.stats import spearmanr

from darksecrets.data.preflight import check_chosen
from darksecrets.landscape.followed import STATISTICS, Followed
from darksecrets.landscape.preflight import check_seeds
from darksecrets.landscape.trajectories import LEAST, Way, compare, halfway, with_verdicts
from darksecrets.landscape.trajectory_tables import EARLIER, LATER, NO_ORDER, TABLES, pattern_column
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run.errors import InputError

RISING = np.linspace(0.3, 0.7, LAYERS)[:, None] * np.ones(HEADS)


def tables(*results: Followed) -> dict[str, pd.DataFrame]:
    return compare({("RTE", "finetuned"): dict(enumerate(results))}, seed=3)


def first_half(curve: list[float], shares: list[float]) -> float:
    """Where a curve first reaches half of its end, point by point."""
    pairs = zip(itertools.pairwise(curve), itertools.pairwise(shares), strict=True)
    for (low, high), (before, after) in pairs:
        if high >= curve[-1] / 2:
            return before + (curve[-1] / 2 - low) / (high - low) * (after - before)
    raise AssertionError


@pytest.fixture(scope="module")
def model() -> Followed:
    return made_up(np.random.default_rng(1), RISING)


@pytest.fixture(scope="module")
def found(model) -> dict[str, pd.DataFrame]:
    return tables(model, made_up(np.random.default_rng(2), RISING))


def test_every_table_fits_its_declaration(found, tmp_path):
    for table in TABLES:
        table.write(found[table.name], tmp_path / table.file)
        assert len(table.read(tmp_path / table.file)) == len(found[table.name]) > 0


def test_heads_are_those_of_a_plain_loop(model, found):
    """In float64, head by head and example by example; rel 1e-12."""
    every = found["head_trajectories"].set_index(["seed", "step", "layer", "head"])
    halves = found["head_halfway"].set_index(["seed", "layer", "head"])
    examples = range(len(model.idx))
    for layer, head in np.ndindex(LAYERS, HEADS):
        curve = []
        for place, step in enumerate(STEPS):
            row = every.loc[0, step, layer + 1, head + 1]
            ends = [sum(model.along[p, e, layer, head] for e in examples) for p in (place, -1)]
            curve.append(ends[0])
            assert row["progress"] == pytest.approx(ends[0] / ends[1], rel=1e-12, abs=1e-12)
            cosines = [model.to_start[place, e, layer, head] for e in examples]
            assert row["cosine_to_start"] == pytest.approx(sum(cosines) / len(cosines), rel=1e-12)
            assert row["start_low"] - 1e-12 <= row["cosine_to_start"] <= row["start_high"] + 1e-12
            for number, name in enumerate(STATISTICS):
                mean = sum(model.values[place, number, e, layer, head] for e in examples)
                assert row[name] == pytest.approx(mean / len(model.idx), rel=1e-12)
            for number, name in enumerate(PATTERNS):
                count = sum(model.patterns[place, e, layer, head] == number for e in examples)
                share = 100 * count / len(model.idx)
                assert row[pattern_column(name)] == pytest.approx(share, rel=1e-12)
            same = sum(
                model.patterns[place, e, layer, head] == model.patterns[0, e, layer, head]
                for e in examples
            )
            assert row["same_pattern"] == pytest.approx(100 * same / len(model.idx), rel=1e-12)
        row = halves.loc[0, layer + 1, head + 1]
        half = first_half(curve, list(STEPS / STEPS[-1]))
        assert row["halfway"] == pytest.approx(100 * half, rel=1e-12)
        assert row["ci_low"] <= row["halfway"] <= row["ci_high"]
        assert row["after_step"] <= half * STEPS[-1] <= row["by_step"]
        assert row["change"] == pytest.approx(0.3, rel=1e-9)
        assert row["weights_halfway"] == pytest.approx(50)


def test_layers_are_those_of_a_plain_loop(found):
    """Order and difference from the table of layers, and the correlation from SciPy."""
    layers = found["layer_halfway"]
    (order,) = found["halfway_order"].to_dict("records")
    values = layers.sort_values("layer")["halfway"].to_numpy()
    assert order["spearman"] == pytest.approx(spearmanr(range(LAYERS), values).statistic)
    assert order["difference"] == pytest.approx(values[3:].mean() - values[:3].mean())
    assert order["ci_low"] < order["difference"] < order["ci_high"]
    assert order["seeds"] == 2


def test_intervals_cover_the_truth():
    """Of 18 heads in 20 models at a level of 95 %: at least 90 % (examples share no noise).

    The truth is what so many examples tend to, since between snapshots curves are taken for lines.
    """
    covered = []
    truth = Way.of(made_up(np.random.default_rng(0), 0.4, examples=20_000), 0).halfway.mean()
    for draw in range(20):
        (low, high) = Way.of(made_up(np.random.default_rng(draw), 0.4), seed=draw).ends
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered) > 0.9


def test_a_curve_that_falls_back_counts_from_its_first_crossing():
    curve, shares = np.array([0, 0.6, 0.2, 1.0]), np.array([0, 0.2, 0.5, 1.0])
    assert halfway(curve, shares) == pytest.approx(0.2 * 0.5 / 0.6)
    assert halfway(np.array([0, 2.0, 1.0]), np.array([0, 0.5, 1.0])) == pytest.approx(0.125)
    assert np.isnan(halfway(np.zeros(4), shares))


def test_heads_that_hardly_change_have_no_half(tmp_path):
    small = np.full((LAYERS, HEADS), 0.3)
    small[2, 1] = 0.9 * LEAST
    found = tables(made_up(np.random.default_rng(4), change=small))
    missing = found["head_halfway"].query("layer == 3 and head == 2")
    assert missing[["halfway", "ci_low", "after_step", "by_step"]].isna().all(axis=None)
    assert found["head_halfway"]["halfway"].isna().sum() == 1
    still = tables(made_up(np.random.default_rng(4), change=0.0))
    assert still["halfway_order"]["verdict"].tolist() == [NO_ORDER]
    assert still["halfway_order"]["p_value"].isna().all()
    for table in TABLES:
        table.write(still[table.name], tmp_path / table.file)


# --- Adversaries ------------------------------------------------------------------------------


def test_maps_that_move_together_are_halfway_together_however_far_they_go():
    """Real maps, moved along lines by amounts that grow with the layer: no order by this measure.

    By 1 − cosine, all are late, and how late depends on how far they move.
    """
    rng = np.random.default_rng(5)
    start = rng.dirichlet(np.ones(8), size=(LAYERS, 8))
    end = rng.dirichlet(np.ones(8), size=(LAYERS, 8))
    amounts = np.linspace(0.05, 1, LAYERS)[:, None, None]
    shares = np.linspace(0, 1, 11)
    maps = np.stack([start + share * amounts * (end - start) for share in shares])
    change = maps[-1] - maps[0]
    along = np.einsum("slij,lij->sl", maps - maps[0], change)
    np.testing.assert_allclose(halfway(along, shares), 0.5, rtol=1e-12)
    lengths = np.linalg.norm(maps, axis=(2, 3))
    cosines = np.einsum("slij,lij->sl", maps, maps[0]) / (lengths * lengths[0])
    by_cosine = halfway(1 - cosines, shares)
    assert by_cosine.min() > 0.65
    assert by_cosine.max() - by_cosine.min() > 0.03


def verdicts(draws: int, **asked: object) -> list[str]:
    rng = np.random.default_rng(6)
    found = []
    for _ in range(draws):
        of = {name: value(rng) if callable(value) else value for name, value in asked.items()}
        found.append(tables(made_up(rng, **of))["halfway_order"]["verdict"].iloc[0])
    return found


def test_a_planted_order_is_found():
    assert verdicts(5, halfway=RISING) == [LATER] * 5
    assert verdicts(5, halfway=RISING[::-1]) == [EARLIER] * 5


def test_an_order_needs_its_test_and_both_intervals():
    ends = {"spearman_low": [0.1, 0.1, -0.1, 0.1], "ci_low": [0.1, 0.1, 0.1, -0.1]}
    ends |= {"spearman_high": 0.9, "ci_high": 0.9}
    order = pd.DataFrame(ends | {"p_value": [0.001, 0.5, 0.001, 0.001]})
    assert with_verdicts(order)["verdict"].tolist() == [LATER] + [NO_ORDER] * 3


# --- Bad input --------------------------------------------------------------------------------


def test_seeds_that_do_not_fit_are_refused(model):
    for other, what in (
        (dataclasses.replace(model, steps=STEPS + (STEPS > 0)), "different steps"),
        (dataclasses.replace(model, idx=model.idx + 1), "different examples"),
    ):
        with pytest.raises(InputError, match=f"RTE/finetuned: found {what} .* seeds 0 and 1"):
            tables(model, other)


def test_what_is_saved_is_read(model, tmp_path):
    model.save(tmp_path / "heads")
    read = Followed.load(tmp_path / "heads")
    for name, value in vars(model).items():
        np.testing.assert_array_equal(getattr(read, name), value)
    (tmp_path / "heads" / "heads.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="found no readable arrays"):
        Followed.load(tmp_path / "heads")


def test_a_configuration_without_such_trainings_is_refused():
    config = {
        "tasks": {"RTE": {"seeds": [1, 2]}},
        "landscape": {"trajectories": {"tasks": ["RTE"], "seeds": [3]}},
    }
    with pytest.raises(InputError, match=r"seeds: found \[3\], expected .* of RTE, \[1, 2\]"):
        check_seeds(config)
    config["landscape"]["trajectories"]["seeds"] = [2, 3]
    check_seeds(config)
    check_chosen(config, "landscape.trajectories.tasks", "follows no training")
    config["landscape"]["trajectories"]["tasks"] = []
    with pytest.raises(InputError, match=r"follows no training: .*tasks: \[\], expected names"):
        check_chosen(config, "landscape.trajectories.tasks", "follows no training")
