"""Intervals, corrected p-values and the best head's gain, against SciPy and slow loops."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from glue import TASKS
from sweeps import places, repeated, sweep

from darksecrets.core.data import metrics
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.resampling import bootstrap_weights, halves
from darksecrets.core.stats.selection import best_gain
from darksecrets.paper.ablation.best import best, survival
from darksecrets.paper.ablation.statistics import (
    Resampling,
    effects,
    effects_of_heads,
    kind_rows,
    p_values,
)

F1 = metrics.METRICS["f1"].plain
RESAMPLING = Resampling(bootstrap=400, permutations=200, splits=50, seed=7)
CONTRACT = ["metric", "baseline", "score", "delta", "ci_low", "ci_high", "p_value", "q_value"]
OVER_LAYER = ["over_layer", "over_layer_low", "over_layer_high"]


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_intervals_are_percentiles_of_differences_on_the_same_resamples(task):
    result = sweep(task, examples=25, changed=0.3)
    table, means = effects(result, TASKS[task], RESAMPLING)
    for metric in TASKS[task].metrics:
        rng, loop = np.random.default_rng(RESAMPLING.seed), []
        for weights in bootstrap_weights(RESAMPLING.bootstrap, 25, rng):
            for counts in weights:
                drawn = np.repeat(np.arange(25), counts)
                labels = result.labels[drawn]
                score = [
                    metrics.score(TASKS[task], p[drawn], labels)[metric] for p in result.predictions
                ]
                loop.append([100 * (value - score[0]) for value in score[1:]])
        mine = table[table["metric"] == metric]
        low, high = np.percentile(loop, [2.5, 97.5], axis=0)
        assert mine["ci_low"].to_numpy() == pytest.approx(low, abs=1e-9)
        assert mine["ci_high"].to_numpy() == pytest.approx(high, abs=1e-9)
        for kind, columns in (("head", slice(0, 6)), ("layer", slice(6, 8))):
            row = means[(means["metric"] == metric) & (means["kind"] == kind)].iloc[0]
            ends = np.percentile(np.mean(np.array(loop)[:, columns], axis=1), [2.5, 97.5])
            # As wide as Student's t makes the mean of 25 examples.
            student = scipy.stats.t.ppf(0.975, 24) / scipy.stats.norm.ppf(0.975) * np.sqrt(25 / 24)
            ends = row["mean_effect"] + student * (ends - row["mean_effect"])
            assert (row["mean_low"], row["mean_high"]) == pytest.approx(tuple(ends), abs=1e-9)


def test_intervals_agree_with_scipys_bootstrap():
    result = sweep("MRPC", examples=150, changed=0.3)
    table, _ = effects(result, TASKS["MRPC"], dataclasses.replace(RESAMPLING, bootstrap=5000))
    for number in (1, 5):
        reference = scipy.stats.bootstrap(
            (result.predictions[0], result.predictions[number], result.labels),
            lambda a, b, y: 100 * (F1(b, y) - F1(a, y)),
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=5000,
            rng=np.random.default_rng(1),
        ).confidence_interval
        row = table[table["metric"] == "f1"].iloc[number - 1]
        width = reference.high - reference.low
        assert row["ci_low"] == pytest.approx(reference.low, abs=0.06 * width)
        assert row["ci_high"] == pytest.approx(reference.high, abs=0.06 * width)


def test_scores_deltas_and_places_are_those_of_the_sweep():
    result = sweep("RTE", custom=2, seed=4)
    table, means = effects(result, TASKS["RTE"], RESAMPLING)
    right = 100 * (result.predictions == result.labels).mean(axis=1)
    assert right[0] not in right[1:3]
    assert table["score"].to_numpy() == pytest.approx(right[1:])
    assert table["baseline"].to_numpy() == pytest.approx(right[0])
    assert table["delta"].to_numpy() == pytest.approx(right[1:] - right[0])
    heads, layers, custom = (kind_rows(table, kind) for kind in ("head", "layer", "set"))
    assert list(heads.columns) == ["layer", "head", *CONTRACT, *OVER_LAYER]
    assert list(layers.columns) == ["layer", *CONTRACT]
    assert list(custom.columns) == ["name", *CONTRACT]
    assert [*zip(heads["layer"], heads["head"], strict=True)] == [
        (layer, head) for layer in (1, 2) for head in (1, 2, 3)
    ]
    assert list(layers["layer"]) == [1, 2]
    assert list(custom["name"]) == ["set 0", "set 1"]
    of_heads = means[means["kind"] == "head"].iloc[0]
    assert of_heads["mean_effect"] == pytest.approx(heads["delta"].mean())
    pd.testing.assert_frame_equal(
        effects_of_heads(result, TASKS["RTE"]).reset_index(drop=True),
        heads[["layer", "head", "delta"]].reset_index(drop=True),
    )
    assert kind_rows(effects(sweep("RTE"), TASKS["RTE"], RESAMPLING)[0], "set").empty


def test_what_a_head_does_beyond_its_layer_is_compared_on_the_same_examples():
    """Beside a loop over bootstrap samples of its own; layer 2 has a single head."""
    result = sweep("RTE", examples=200, changed=0.3, seed=6)
    left_out = (
        ((result.sets["layer"] == 2) & (result.sets["head"] > 1)).fillna(False).to_numpy(bool)
    )
    sets, predictions = result.sets[~left_out].reset_index(drop=True), result.predictions[~left_out]
    result = dataclasses.replace(result, sets=sets, predictions=predictions)
    table = effects(result, TASKS["RTE"], RESAMPLING)[0]
    right = (result.predictions == result.labels) * 100.0
    rng = np.random.default_rng(8)
    drawn = right[:, rng.integers(right.shape[1], size=(4000, right.shape[1]))].mean(axis=2)
    heads = table[table["kind"] == "head"]
    assert heads.loc[heads["layer"] == 2, [*OVER_LAYER]].isna().all(axis=None)
    for row in heads[heads["layer"] == 1].to_dict("records"):
        own = sets.index[(sets["kind"] == "head") & (sets["layer"] == 1)]
        this = own[sets.loc[own, "head"] == row["head"]].item()
        others = [number for number in own if number != this]
        beyond = right[this].mean() - right[others].mean()
        assert row["over_layer"] == pytest.approx(beyond)
        ends = np.percentile(drawn[this] - drawn[others].mean(axis=0), [2.5, 97.5])
        width = ends[1] - ends[0]
        found = [row["over_layer_low"], row["over_layer_high"]]
        assert found == pytest.approx(ends.tolist(), abs=0.08 * width)


@pytest.mark.parametrize("kind", ["head", "layer", "set"])
def test_p_values_are_corrected_within_a_kind_by_benjamini_and_hochberg(kind):
    result = sweep("RTE", examples=100, custom=3, changed=0.4)
    table = kind_rows(effects(result, TASKS["RTE"], RESAMPLING)[0], kind)
    p = table["p_value"].tolist()
    for value, q in zip(p, table["q_value"], strict=True):
        bounds = [len(p) * other / sum(x <= other for x in p) for other in p if other >= value]
        assert q == pytest.approx(min(1.0, *bounds), abs=1e-12)


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_the_best_head_is_chosen_on_one_half_and_scored_on_the_other(task):
    result = sweep(task, examples=31)
    table = best(result, TASKS[task], RESAMPLING)
    assert list(table["kind"]) == ["head", "layer"] * 2
    for metric in TASKS[task].metrics:
        rng, gains = np.random.default_rng(RESAMPLING.seed), {1: [], 0: []}
        ones, others = [], []
        for mask in np.concatenate(list(halves(RESAMPLING.splits, 31, rng))):
            for side in (1, 0):
                scores = [
                    [
                        metrics.score(TASKS[task], p[m], result.labels[m])[metric]
                        for p in result.predictions
                    ]
                    for m in (mask == side, mask != side)
                ]
                deltas = 100 * np.subtract(scores[0][1:7], scores[0][0])
                (ones if side else others).append(deltas)
                chosen = [i for i in range(1, 7) if scores[0][i] == max(scores[0][1:7])]
                gains[side].append(np.mean([100 * (scores[1][i] - scores[1][0]) for i in chosen]))
        expected = gains[1] + gains[0]
        row = table[(table["metric"] == metric) & (table["kind"] == "head")].iloc[0]
        assert row["unbiased_gain"] == pytest.approx(np.mean(expected), abs=1e-9)
        gain = best_gain(np.array(ones), np.array(others))
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((gain.low, gain.high), abs=1e-6)
        whole = effects(result, TASKS[task], RESAMPLING)[0]
        heads = whole[(whole["kind"] == "head") & (whole["metric"] == metric)]
        winner = heads.loc[heads["delta"].idxmax()]
        assert (row["layer"], row["head"]) == (winner["layer"], winner["head"])
        assert row["naive_gain"] == pytest.approx(winner["delta"], abs=1e-9)


def null(seed: int, examples: int = 200) -> SweepResult:
    """Forty heads none of which matters: each changes a tenth of the examples by chance."""
    rng = np.random.default_rng(seed)
    sets = places(4, 10)
    labels = rng.integers(0, 2, examples)
    right = np.tile(rng.random(examples) < 0.5, (len(sets), 1))
    right ^= rng.random(right.shape) < 0.1
    predictions, idx = np.where(right, labels, 1 - labels), np.arange(examples)
    return SweepResult(sets, predictions, labels, idx, idx)


def test_a_head_that_does_help_survives():
    result = null(0)
    predictions = result.predictions.copy()
    predictions[7] = np.where(np.arange(200) % 4 == 0, result.labels, predictions[0])
    result = dataclasses.replace(result, predictions=predictions)
    table, means = effects(result, TASKS["RTE"], RESAMPLING)
    gains = best(result, TASKS["RTE"], RESAMPLING)
    row = survival(table, means, gains, 200).query("kind == 'head'").iloc[0]
    gain = 100 * np.mean(
        (predictions[7] == result.labels) * 1.0 - (predictions[0] == result.labels)
    )
    assert row["unbiased_gain"] == pytest.approx(gain, abs=0.5)
    assert row["naive_gain"] == pytest.approx(gain)
    assert row["ci_low"] > 0
    assert gains.iloc[0][["layer", "head", "chosen"]].tolist() == [1, 7, pytest.approx(1, abs=0.05)]


def test_survival_counts_sets_and_keeps_means_and_gains():
    table = pd.DataFrame(
        {
            "metric": "accuracy",
            "kind": ["head"] * 5 + ["set"],
            "baseline": 80.0,
            "delta": [1.0, 2.0, 0.0, -1.0, -3.0, 9.0],
        }
    )
    means = pd.DataFrame({"metric": ["accuracy"], "kind": ["head"], "mean_effect": [-0.2]})
    gains = means.assign(naive_gain=2.0, unbiased_gain=0.1, ci_low=-1.0, ci_high=1.0)
    row = survival(table, means, gains.drop(columns="mean_effect"), 50).iloc[0].to_dict()
    assert (row["sets"], row["examples"]) == (5, 50)
    assert (row["baseline"], row["mean_effect"]) == (80.0, -0.2)


@pytest.mark.parametrize("compute", [effects, best])
def test_a_validation_set_of_one_class_is_refused(compute):
    result = sweep("RTE")
    result = dataclasses.replace(result, labels=np.zeros_like(result.labels))
    with pytest.raises(InputError, match="RTE: the label 0 only"):
        compute(result, TASKS["RTE"], RESAMPLING)


@pytest.mark.parametrize("task", ["RTE", "MNLI"])
def test_mcnemar_is_the_binomial_test_of_examples_won_and_lost(task):
    result = sweep(task, examples=60, changed=0.3)
    found = p_values(result, "accuracy", 0, np.random.default_rng(0))
    right = result.predictions == result.labels
    for number, p in enumerate(found):
        won, lost = sum(right[number] & ~right[0]), sum(right[0] & ~right[number])
        expected = scipy.stats.binomtest(int(won), int(won + lost)).pvalue if won + lost else 1.0
        assert p == pytest.approx(expected, abs=1e-12)
    assert found[0] == 1
    assert len(set(found)) > 3


def score_of_swapped(metric, result):
    """What is swapped between two models, [sets, examples], and a model's score from its part."""
    predictions, labels = result.predictions.astype(float), result.labels.astype(float)
    if metric == "f1":
        return predictions, lambda own: 2 * (own * labels).sum() / (own + labels).sum()
    if metric == "r2":
        return (predictions - labels) ** 2, np.mean
    if metric == "spearman":
        predictions = scipy.stats.rankdata(predictions, axis=1)
        labels = scipy.stats.rankdata(labels)
    scaled = scipy.stats.zscore(predictions, axis=1)
    return scaled, lambda own: np.corrcoef(own, labels)[0, 1]


@pytest.mark.parametrize(
    ("task", "metric"),
    [("MRPC", "f1"), ("STS-B", "r2"), ("STS-B", "pearson"), ("STS-B", "spearman")],
)
def test_p_values_are_those_of_all_swaps_between_a_set_and_the_intact_model(task, metric):
    result = sweep(task, examples=10, changed=0.9)
    permutations = 20_000
    found = p_values(result, metric, permutations, np.random.default_rng(0))
    (intact, *others), score = score_of_swapped(metric, result)
    for number, other in enumerate(others, 1):
        expected = scipy.stats.permutation_test(
            (intact, other),
            lambda one, two: score(two) - score(one),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=False,
        ).pvalue
        error = 4 * np.sqrt(expected * (1 - expected) / permutations) + 1e-4
        assert found[number] == pytest.approx(expected, abs=1e-12 if metric == "f1" else error)
    assert found[0] == 1
    assert len(set(found)) > 3


def test_p_values_of_ranks_know_no_distances():
    result = sweep("STS-B", examples=60)
    bent = dataclasses.replace(result, predictions=np.exp(result.predictions))
    for metric, same in (("spearman", True), ("pearson", False)):
        found = [p_values(one, metric, 199, np.random.default_rng(0)) for one in (result, bent)]
        assert np.array_equal(*found) == same
        assert found[0][0] == 1


# --- Repeated examples ------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_three_copies_of_every_example_say_what_one_says(task):
    result = sweep(task, examples=40, changed=0.3)
    copies = repeated(result, np.tile(np.arange(40), 3))
    for one, three in zip(
        (*effects(result, TASKS[task], RESAMPLING), best(result, TASKS[task], RESAMPLING)),
        (*effects(copies, TASKS[task], RESAMPLING), best(copies, TASKS[task], RESAMPLING)),
        strict=True,
    ):
        pd.testing.assert_frame_equal(one, three, rtol=1e-6, atol=1e-6)


def test_copies_do_not_make_equal_models_differ():
    """Each example one to four times; with the copies as units, tests pass in half of the cases."""
    rng, task = np.random.default_rng(8), dataclasses.replace(TASKS["MRPC"], metrics=("accuracy",))
    passed, as_units = [], []
    for seed in range(60):
        result = sweep("MRPC", examples=150, changed=0.15, seed=seed)
        copies = repeated(result, np.repeat(np.arange(150), rng.integers(1, 5, 150)))
        apart = dataclasses.replace(copies, units=np.arange(len(copies.idx)))
        for given, found in ((copies, passed), (apart, as_units)):
            found.append(p_values(given, task.metrics[0], 0, rng)[1:] < 0.05)
    assert np.mean(passed) < 0.06 < 0.15 < np.mean(as_units)
