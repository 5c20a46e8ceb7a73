"""Grids of fine-tunings: reading, thresholds, permutations, tables; null data are no effect."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up_models import EPOCHS, EXAMPLES, TASK, made_grid
from scipy import stats

from darksecrets.beyond.seeds.declared import TABLES
from darksecrets.beyond.seeds.measure import grid as grids
from darksecrets.beyond.seeds.measure.statistics import tables
from darksecrets.beyond.seeds.measure.stopping import predictive, stop
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.tables import (
    BASELINE_PREDICTIONS,
    LEARNING_CURVES,
    predictions,
)


def test_what_a_run_stores_is_read(tmp_path):
    rng = np.random.default_rng(0)
    labels, files, expected = rng.integers(0, 2, 9), [], []
    for number in range(4):
        logits = rng.normal(size=(9, 2))
        frame = pd.DataFrame({"idx": range(9), "label": labels, "prediction": logits.argmax(1)})
        frame = frame.assign(task="MRPC", state="finetuned", seed=1, logit_0=logits[:, 0])
        frame = frame.assign(logit_1=logits[:, 1])
        declared = predictions(2)
        declared.write(frame[list(declared.names)], tmp_path / f"{number}.csv")
        curve = [
            ("MRPC", "finetuned", 1, 5 * e, e, "validation", name, float(more + 10 * number + e))
            for e in (1, 2)
            for name, more in {"loss": 100, "f1": 200, "accuracy": 300}.items()
        ]
        columns = list(LEARNING_CURVES.names)
        LEARNING_CURVES.write(pd.DataFrame(curve, columns=columns), tmp_path / f"{number}-c.csv")
        files.append((tmp_path / f"{number}.csv", tmp_path / f"{number}-c.csv"))
        expected.append(logits.argmax(1).tolist())
    texts = pd.DataFrame({"idx": range(9), "text": [0, 1, 2, 0, 3, 4, 5, 6, 7], "label": labels})
    texts = texts.assign(task="MRPC", baseline="majority", prediction=0)
    baselines = tmp_path / "baselines.csv"
    BASELINE_PREDICTIONS.write(texts[list(BASELINE_PREDICTIONS.names)], baselines)
    found = grids.read(TASK, [1, 2], [3, 4], files, baselines)
    assert found.predictions.tolist() == expected
    assert found.labels.tolist() == labels.tolist()
    assert found.units.tolist() == texts["text"].tolist()
    assert found.scores["accuracy"].tolist() == [
        [[301, 302], [311, 312]],
        [[321, 322], [331, 332]],
    ]
    assert found.final("f1").tolist() == [[202, 212], [222, 232]]
    for path in (baselines, files[3][0]):
        whole = path.read_bytes()
        pd.read_csv(path).assign(idx=range(1, 10)).to_csv(path, index=False)
        with pytest.raises(InputError, match=f"{path.name}: these predictions are of other"):
            grids.read(TASK, [1, 2], [3, 4], files, baselines)
        path.write_bytes(whole)


def test_halves_are_scored_as_scikit_learn_does():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(1)
    grid = made_grid(rng, np.full((2, 2), 0.7), 0.5)
    halves = np.array([np.arange(EXAMPLES) % 2, np.arange(EXAMPLES) < 20]).astype(np.int64)
    for number, scored in enumerate(grid.score_halves("f1", halves)):
        for split, run in itertools.product(range(2), range(4)):
            chosen = halves[split] == 1 - number
            truth = 100 * f1_score(grid.labels[chosen], grid.predictions[run][chosen])
            assert scored[split, run] == pytest.approx(truth)


def test_a_rule_is_tried_on_runs_that_did_not_choose_it():
    """All halves in plain loops; the control by drawing every set of as many runs."""
    rng = np.random.default_rng(2)
    early, final = rng.normal(size=(2, 6))
    rows = []
    for half in itertools.combinations(range(6), 3):
        others = [run for run in range(6) if run not in half]
        best = max(half, key=lambda run: final[run])
        left = [run for run in others if early[run] >= early[best]]
        left = left or [max(others, key=lambda run: early[run])]
        top = max(final[run] for run in others)
        lost = top - max(final[run] for run in left)
        random = [
            top - max(final[run] for run in kept)
            for kept in itertools.combinations(others, len(left))
        ]
        rows.append((1 - len(left) / 3, lost, np.mean(random)))
    found = stop(early, final, rng)
    means = np.mean(rows, axis=0)
    names = ("stopped", "lost", "lost_at_random")
    assert found == pytest.approx(dict(zip(names, means, strict=True)))


def test_correlations_are_spearmans_and_permute_whole_seeds():
    rng = np.random.default_rng(3)
    early, final = np.round(rng.normal(size=(2, 3, 3)), 1)
    rho, p = predictive(early, final, rng)
    assert rho == pytest.approx(stats.spearmanr(early.ravel(), final.ravel()).statistic)
    every = [
        stats.spearmanr(early[list(rows)][:, list(columns)].ravel(), final.ravel()).statistic
        for rows in itertools.permutations(range(3))
        for columns in itertools.permutations(range(3))
    ]
    assert p == pytest.approx(np.mean([each >= rho - 1e-9 for each in every]))
    assert all(np.isnan(each) for each in predictive(np.ones((3, 3)), final, rng))


@pytest.mark.thorough
def test_scores_part_way_that_say_nothing_predict_nothing():
    """Also if runs of one start are alike, part-way and in the end, each by itself."""
    rng, found, gains = np.random.default_rng(4), [], []
    for _ in range(400):
        early, final = (rng.normal(0, 3, (4, 1)) + rng.normal(size=(4, 4)) for _ in range(2))
        found.append(predictive(early, final, rng)[1])
        done = stop(early.ravel(), final.ravel(), rng)
        gains.append(done["lost_at_random"] - done["lost"])
    assert np.mean(np.array(found) < 0.05) <= 0.08
    assert abs(np.mean(gains)) < 4 * np.std(gains) / np.sqrt(len(gains))


def test_tables_of_runs_that_differ():
    """Starts matter, orders do not; the end is seen part-way."""
    rng = np.random.default_rng(5)
    skill = np.array([[0.55], [0.95], [0.75]]) * np.ones((1, 4))
    found = tables(made_grid(rng, skill, 1.0), 200, 1)
    for table in TABLES:
        assert list(found[table.name].columns) == list(table.names)
    variance = found["seed_variance"].set_index(["metric", "component"]).loc["accuracy"]
    assert variance.loc["init", "share"] > 0.6
    assert variance.loc["init", "q_value"] < 0.05
    assert not variance.loc["order", "q_value"] < 0.05
    assert variance["share"].sum() == pytest.approx(1)
    best = found["expected_maximum"].query("metric == 'accuracy'").set_index("drawn")
    assert best["expected"].is_monotonic_increasing
    assert (best["held_out"] <= best["expected"] + 1e-9).iloc[1:].all()
    assert best.loc[1, "expected"] == pytest.approx(best.loc[1, "held_out"], abs=1e-6)
    assert (best["gain"] - best["held_out"] + best.loc[1, "held_out"]).abs().max() < 1e-6
    assert (best["gain_low"] <= best["gain"]).all()
    assert (best["gain"] <= best["gain_high"]).all()
    assert best.loc[1, ["gain", "gain_low", "gain_high"]].tolist() == [0, 0, 0]
    early = found["early_stopping"].query("metric == 'accuracy'")
    assert early["epoch"].tolist() == [1, 2, 3]
    left = (EPOCHS - early["epoch"]) / EPOCHS
    assert early["saved"].tolist() == pytest.approx((early["stopped"] * left).tolist())
    assert (early["saved"] > 0).all()
    assert (early["spearman"] > 0.4).all()
    assert (early["lost"] <= early["lost_at_random"] + 1e-9).all()


def test_copies_of_an_example_do_not_score_the_run_that_they_chose():
    """With every example three times, the best of several runs gains what it gains without."""
    rng = np.random.default_rng(7)
    once = made_grid(rng, np.full((3, 3), 0.8), 0.0)
    copied = {name: np.tile(getattr(once, name), 3) for name in ("labels", "units", "predictions")}
    rows, same = (
        tables(grid, 50, 1)["expected_maximum"] for grid in (once, replace(once, **copied))
    )
    pd.testing.assert_frame_equal(rows, same)


def test_the_best_of_runs_that_are_the_same_gains_nothing_at_all():
    grid = made_grid(np.random.default_rng(8), np.full((3, 3), 0.8), 0.0)
    same = np.broadcast_to(grid.predictions[:1, :1], grid.predictions.shape)
    rows = tables(replace(grid, predictions=same), 50, 1)["expected_maximum"]
    assert not rows[["gain", "gain_low"]].to_numpy().any()


@pytest.mark.thorough
def test_equal_runs_have_no_effect_of_seeds():
    """The sampling of answers alone: at most 7% of the rows of 60 grids."""
    rng = np.random.default_rng(6)
    rows = [tables(made_grid(rng, np.full((3, 3), 0.8), 0.0), 100, seed) for seed in range(60)]
    for name, most in (("seed_variance", 0.07), ("early_stopping", 0.08)):
        every = pd.concat([each[name] for each in rows])
        assert (every["q_value"].dropna() < 0.05).mean() <= most
    best = pd.concat([each["expected_maximum"] for each in rows]).query("metric == 'accuracy'")
    best = best.groupby("drawn")["held_out"].mean()
    assert best.loc[9] == pytest.approx(best.loc[1], abs=1.5)  # the best of 9 is no better
