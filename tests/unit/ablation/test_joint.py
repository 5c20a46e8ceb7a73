"""Heads disabled together: orders, sets and scores, against slow loops and scikit-learn."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from scipy.stats import pearsonr
from sklearn.metrics import accuracy_score, f1_score
from sweeps import sweep

from darksecrets.ablation.joint import Joint, plan
from darksecrets.ablation.joint_effects import joint_effects, largest_sets
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.sets import joint_counts
from darksecrets.ablation.tables import (
    JOINT,
    LEAST_IMPORTANT,
    MOST_IMPORTANT,
    RANDOM,
)
from darksecrets.models.selectors import Shape
from darksecrets.run.errors import InputError
from darksecrets.run.tables import identify

JOINT_OF = {"heads": "auto", "draws": 3, "seed": 5}
REFERENCE = {
    "accuracy": accuracy_score,
    "f1": f1_score,
    "pearson": lambda labels, scores: pearsonr(labels, scores.astype(np.float64)).statistic,
}


def planned(result, task, **changed):
    joint = Joint(**{**JOINT_OF, "metric": TASKS[task].metrics[0], **changed})
    return plan(result, TASKS[task], joint)


def places_of(heads):
    """A set of heads as (layer, head)."""
    return {(layer, head) for layer, numbers in heads.items() for head in numbers}


def together(result, made, predict):
    """Predictions of a joint sweep; ``predict`` makes those of a set of (layer, head)."""
    shape, sets = made.shape, made.sets
    rows = [predict(places_of(shape.parse(name))) for name in sets]
    table = pd.DataFrame(
        {"kind": ["baseline"] + ["set"] * len(sets), "name": ["nothing", *sets]}
    ).assign(layer=pd.NA, head=pd.NA)
    table = table[["kind", "layer", "head", "name"]].astype({"layer": "Int64", "head": "Int64"})
    predictions = np.stack([result.predictions[0], *rows])
    return SweepResult(table, predictions, result.labels, result.idx)


def noisy(result, task, seed=3):
    """Predictions that many heads replace more of, at random."""
    rng = np.random.default_rng(seed)

    def predict(places):
        changed = rng.random(len(result.idx)) < 0.05 * len(places)
        noise = rng.permutation(result.predictions[0])
        return np.where(changed, noise, result.predictions[0])

    return predict


def scored(result, made, task, **changed):
    options = {"tolerance": 1.0, "resamples": 200, "seed": 7, **changed}
    joint = together(result, made, noisy(result, task))
    tables = joint_effects(joint, made, TASKS[task], **options)
    for declared, rows in zip(JOINT, tables, strict=True):
        declared.check(identify(rows, task, "finetuned/seed-1"), "made", "")
    return joint, *tables


@pytest.mark.parametrize(
    ("wanted", "layers", "heads", "expected"),
    [
        ("auto", 6, 6, [1, 2, 4, 8, 16, 32, 36]),
        ("auto", 2, 4, [1, 2, 4, 8]),
        ("auto", 1, 1, [1]),
        ([8, 2], 2, 4, [2, 8]),
    ],
)
def test_heads_are_disabled_in_powers_of_2_and_all_together(wanted, layers, heads, expected):
    assert joint_counts(wanted, Shape(layers, heads)) == expected


@pytest.mark.parametrize("task", ["MRPC", "MNLI", "STS-B"])
def test_each_half_orders_the_heads_by_its_own_scores(task):
    """Against scikit-learn and SciPy; the halves have equally many of every label."""
    result = sweep(task, examples=61, changed=0.4)
    made = planned(result, task)
    metric = REFERENCE[TASKS[task].metrics[0]]
    assert abs(np.diff(np.bincount(made.halves))[0]) <= 1
    if not TASKS[task].is_regression:
        for label in np.unique(result.labels):
            sizes = np.bincount(made.halves[result.labels == label], minlength=2)
            assert abs(sizes[0] - sizes[1]) <= 1
    heads = result.sets[result.sets["kind"] == "head"]
    for half in (0, 1):
        mask = made.halves == half
        score = {
            (row.layer, row.head): metric(result.labels[mask], result.predictions[row.Index, mask])
            for row in heads.itertuples()
        }
        (harmless,) = (o for o in made.orders if (o.name, o.half) == (LEAST_IMPORTANT, half))
        (needed,) = (o for o in made.orders if (o.name, o.half) == (MOST_IMPORTANT, half))
        assert set(harmless.heads) == set(score)
        assert (np.diff([score[place] for place in harmless.heads]) <= 1e-6).all()
        assert needed.heads == harmless.heads[::-1]
        assert harmless.scored_on == needed.scored_on == (1 - half,)
    drawn = [order for order in made.orders if order.name == RANDOM]
    assert len({order.heads for order in drawn}) == 3
    assert all(set(order.heads) == set(score) and order.scored_on == (0, 1) for order in drawn)


def test_what_an_order_scores_never_chose_it():
    """Other predictions on a half change the order of that half, and never the other's."""
    result = sweep("RTE", examples=80, changed=0.4)
    made = planned(result, "RTE")
    predictions = result.predictions.copy()
    mask = made.halves == 1
    predictions[1:, mask] = np.random.default_rng(9).integers(
        0, 2, (len(predictions) - 1, mask.sum())
    )
    other = planned(dataclasses.replace(result, predictions=predictions), "RTE")
    for before, after in zip(made.orders, other.orders, strict=True):
        assert before.half == after.half
        assert (before.heads != after.heads) == (before.half == 1)


def test_more_draws_leave_all_other_orders_as_they_are_and_another_seed_none():
    result = sweep("RTE", changed=0.4)
    few, many, other = (planned(result, "RTE", **c) for c in ({}, {"draws": 6}, {"seed": 6}))
    assert few.orders[:3] == many.orders[:3]
    assert few.orders[3:] == many.orders[6:]
    assert (few.halves == many.halves).all()
    assert (few.halves != other.halves).any()


def test_sets_are_nested_and_each_is_disabled_once():
    made = planned(sweep("RTE", changed=0.3), "RTE")
    for order in made.orders:
        sizes = [places_of(order.first(count)) for count in made.counts]
        assert [len(places) for places in sizes] == made.counts == [1, 2, 4, 6]
        assert all(a < b for a, b in pairwise(sizes))
    assert len(set(made.sets)) == len(made.sets)
    assert made.sets.count("all of every layer") == 1
    shape = made.shape
    assert {frozenset(places_of(shape.parse(name))) for name in made.sets} == {
        frozenset(places_of(order.first(count))) for order in made.orders for count in made.counts
    }


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_scores_are_those_of_the_other_half(task):
    """Every score again, with scikit-learn and SciPy, and as an average over orders and halves."""
    result = sweep(task, examples=61, changed=0.3)
    made = planned(result, task)
    joint, table, _ = scored(result, made, task)
    rows = {name: number for number, name in enumerate(joint.sets["name"])}
    sizes = np.bincount(made.halves)

    def on(half, predictions, metric):
        mask = made.halves == half
        return 100 * REFERENCE[metric](joint.labels[mask], predictions[mask])

    for metric in set(TASKS[task].metrics) & set(REFERENCE):
        baseline = sum(sizes[h] * on(h, joint.predictions[0], metric) for h in (0, 1)) / 61
        for count in made.counts:
            expected = {}
            for name in (RANDOM, LEAST_IMPORTANT, MOST_IMPORTANT):
                parts = [
                    (
                        sizes[half],
                        on(half, joint.predictions[rows[made.name(order, count)]], metric),
                    )
                    for order in made.orders
                    if order.name == name
                    for half in order.scored_on
                ]
                expected[name] = sum(n * s for n, s in parts) / sum(n for n, _ in parts)
            for name, score in expected.items():
                chosen = (table["metric"] == metric) & (table["order"] == name)
                (row,) = table[chosen & (table["heads"] == count)].to_dict("records")
                assert row["score"] == pytest.approx(score, abs=1e-5)
                assert row["baseline"] == pytest.approx(baseline, abs=1e-5)
                assert row["delta"] == pytest.approx(score - baseline, abs=1e-5)
                assert row["share"] == pytest.approx(count / 6)
                assert row["draws"] == (3 if name == RANDOM else 2)
                if name != RANDOM:
                    assert row["over_random"] == pytest.approx(score - expected[RANDOM], abs=1e-5)


def test_accuracy_is_that_of_all_examples():
    result = sweep("RTE", examples=61)
    _, table, _ = scored(result, planned(result, "RTE"), "RTE")
    right = 100 * accuracy_score(result.labels, result.predictions[0])
    assert table["baseline"].tolist() == pytest.approx([right] * len(table))
    share = np.bincount(result.labels).max() / 61
    assert table["chance"].tolist() == pytest.approx([100 * share] * len(table))


def test_intervals_of_chosen_orders_have_the_bootstraps_width():
    """For accuracy the standard error is known: that of a stratified mean of paired differences."""
    result = sweep("RTE", examples=400, seed=2)
    made = planned(result, "RTE")
    joint, table, _ = scored(result, made, "RTE", resamples=4000)
    rows = {name: number for number, name in enumerate(joint.sets["name"])}
    right = (joint.predictions == joint.labels).astype(float)
    for name in (LEAST_IMPORTANT, MOST_IMPORTANT):
        for count in made.counts:
            variance = 0.0
            for order in (order for order in made.orders if order.name == name):
                (half,) = order.scored_on
                mask = made.halves == half
                lost = (right[rows[made.name(order, count)]] - right[0])[mask]
                variance += (mask.mean() ** 2) * lost.var() / mask.sum()
            row = table[(table["order"] == name) & (table["heads"] == count)].iloc[0]
            width = (row["ci_high"] - row["ci_low"]) / (2 * 1.96 * 100)
            assert width == pytest.approx(np.sqrt(variance), rel=0.12)


def test_intervals_of_random_orders_take_the_spread_of_orders_into_account():
    """With infinitely many equal examples only the orders vary: the variance is s²/draws."""
    result = sweep("RTE", examples=4000, heads=4, layers=4)
    made = planned(result, "RTE", draws=8, heads=[4])
    rng = np.random.default_rng(0)
    harm = dict(zip(made.orders[0].heads, rng.random(16), strict=True))

    def predict(places):
        wrong = rng.random(len(result.idx)) < sum(harm[place] for place in places) / 16
        return np.where(wrong, 1 - result.labels, result.predictions[0])

    joint = together(result, made, predict)
    table, _ = joint_effects(joint, made, TASKS["RTE"], tolerance=1, resamples=4000, seed=1)
    rows = {name: number for number, name in enumerate(joint.sets["name"])}
    scores = [
        100 * np.mean(joint.predictions[rows[made.name(order, 4)]] == joint.labels)
        for order in made.orders
        if order.name == RANDOM
    ]
    row = table[table["order"] == RANDOM].iloc[0]
    width = (row["ci_high"] - row["ci_low"]) / (2 * 1.96)
    assert width == pytest.approx(np.std(scores, ddof=1) / np.sqrt(8), rel=0.2)


@pytest.mark.parametrize("task", ["MRPC", "STS-B", "MNLI"])
def test_heads_that_do_nothing_make_no_difference_between_orders(task):
    result = sweep(task, changed=0.0)
    still = np.repeat(result.predictions[:1], len(result.predictions), axis=0)
    result = dataclasses.replace(result, predictions=still)
    made = planned(result, task)
    joint = together(result, made, lambda _: result.predictions[0])
    table, tolerated = joint_effects(joint, made, TASKS[task], tolerance=0, resamples=100, seed=1)
    zero = ["delta", "ci_low", "ci_high"]
    assert not table[zero].to_numpy().any()
    chosen = table[table["order"] != RANDOM]
    assert not chosen[["over_random", "over_random_low", "over_random_high"]].to_numpy().any()
    of_all = tolerated[["largest", "ci_low", "ci_high", "noninferior"]]
    assert (of_all == 6).all(axis=None)


def test_the_largest_set_ends_at_the_first_drop_that_is_too_large():
    deltas = np.array([[-1.0, 0.5, -1.1, 0.0], [-1.1, 0, 0, 0], [0, 0, 0, 0]])
    assert largest_sets(deltas, [1, 2, 4, 9], 1.0).tolist() == [2, 0, 9]


def test_predictions_of_another_plan_are_refused():
    result = sweep("RTE", changed=0.4)
    joint, *_ = scored(result, made := planned(result, "RTE"), "RTE")
    with pytest.raises(InputError, match=r"RTE: found .* sets missing.*same run"):
        joint_effects(joint, planned(result, "RTE", seed=9), TASKS["RTE"], **OPTIONS)
    few = sweep("RTE", examples=30)
    with pytest.raises(InputError, match="other examples"):
        joint_effects(together(few, made, noisy(few, "RTE")), made, TASKS["RTE"], **OPTIONS)


OPTIONS = {"tolerance": 1.0, "resamples": 10, "seed": 1}


def test_more_heads_than_the_model_has_and_too_few_examples_are_refused():
    result = sweep("RTE")
    with pytest.raises(
        InputError, match=r"found 7, but the model has 2 layers of 3 heads.* 1 to 6"
    ):
        planned(result, "RTE", heads=[2, 7])
    with pytest.raises(InputError, match="found 3 validation examples, expected at least 4"):
        planned(sweep("RTE", examples=3), "RTE")
