"""Sweeps in two modes beside each other, against plain computations."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
from glue import TASKS
from sweeps import sweep

from darksecrets.ablation.modes import compare_modes
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.statistics import Resampling
from darksecrets.ablation.tables import MODE_COMPARISON
from darksecrets.run.errors import InputError
from darksecrets.run.tables import identify
from darksecrets.stats.resampling import bootstrap_weights

RESAMPLING = Resampling(bootstrap=200, permutations=200, splits=10, seed=7)


def pair(task="RTE", examples=60, **settings) -> tuple[SweepResult, SweepResult]:
    """Two sweeps of one model: the same examples and the same intact predictions."""
    one, other = (sweep(task, examples, seed=seed, **settings) for seed in (0, 1))
    predictions = other.predictions.copy()
    predictions[0] = one.predictions[0]
    return one, dataclasses.replace(other, predictions=predictions, labels=one.labels)


def checked(table):
    return MODE_COMPARISON.check(identify(table, "RTE", "finetuned/seed-1"), "made", "correct")


def accuracies(result) -> np.ndarray:
    return 100 * (result.predictions == result.labels).mean(axis=1)


def test_numbers_are_those_of_both_sweeps():
    one, other = pair()
    table = checked(compare_modes(one, {"zero": other}, TASKS["RTE"], RESAMPLING))
    assert table["kind"].tolist() == ["head", "layer"]
    row = table.iloc[0]
    first, second = (accuracies(r)[1:7] - accuracies(r)[0] for r in (one, other))
    assert (row["mode"], row["sets"]) == ("zero", 6)
    assert row["spearman"] == pytest.approx(scipy.stats.spearmanr(first, second).statistic)
    assert (row["mean_effect"], row["reference_effect"]) == pytest.approx(
        (second.mean(), first.mean())
    )
    assert row["difference"] == pytest.approx((second - first).mean())
    assert row["absolute_difference"] == pytest.approx(np.abs(second - first).mean())
    assert row["opposite"] == (first * second < 0).sum()
    rng, loop = np.random.default_rng(RESAMPLING.seed), []
    for weights in bootstrap_weights(RESAMPLING.bootstrap, 60, rng):
        for w in weights:
            a, b = (100 * (r.predictions == r.labels) @ w / 60 for r in (one, other))
            loop.append(np.mean(b[1:7] - b[0] - a[1:7] + a[0]))
    ends = tuple(np.percentile(loop, [2.5, 97.5]))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends)


def test_heads_that_help_in_one_mode_and_hurt_in_the_other_are_counted():
    one, _ = pair(examples=200, changed=0.0)
    wrong, labels = np.arange(60), one.labels
    base = labels.copy()
    base[30:60] = 1 - base[30:60]
    first, second = (np.tile(base, (len(one.sets), 1)) for _ in "ab")
    first[2] = labels  # helps
    second[2, :30] = 1 - labels[:30]  # hurts
    second[3, wrong[:4]] = 1 - labels[:4]  # differs, but not significantly
    tables = [dataclasses.replace(one, predictions=p) for p in (first, second)]
    row = compare_modes(tables[0], {"zero": tables[1]}, TASKS["RTE"], RESAMPLING).iloc[0]
    assert (row["differ_q"], row["opposite"], row["opposite_q"]) == (1, 1, 1)


def test_equal_sweeps_do_not_differ():
    one, _ = pair("STS-B")
    table = checked(compare_modes(one, {"zero": one}, TASKS["STS-B"], RESAMPLING))
    assert (table[["differ_q", "opposite", "absolute_difference"]] == 0).to_numpy().all()
    assert table["spearman"].to_numpy() == pytest.approx(1)


def test_without_another_mode_there_are_no_rows():
    assert checked(compare_modes(pair()[0], {}, TASKS["RTE"], RESAMPLING)).empty


def test_a_sweep_of_other_examples_is_refused():
    one, other = pair()
    other = dataclasses.replace(other, idx=other.idx + 1)
    with pytest.raises(InputError, match="mode 'zero'"):
        compare_modes(one, {"zero": other}, TASKS["RTE"], RESAMPLING)
