"""What is retained, against plain resampling; models that know nothing do not pass."""

import numpy as np
import pandas as pd
import pytest
from compressed import measured
from glue import TASKS
from sklearn.metrics import cohen_kappa_score

from darksecrets.beyond.compression import declared
from darksecrets.beyond.compression.measure.running import Measured
from darksecrets.beyond.compression.measure.statistics import compression
from darksecrets.beyond.compression.measure.variants import Variant

OPTIONS = {"tolerance": 1.0, "resamples": 2000, "seed": 4}


def scored(models: list[Measured], labels: np.ndarray, task: str = "RTE") -> pd.DataFrame:
    return compression(models, labels, np.arange(len(labels)), TASKS[task], **OPTIONS)


def right(labels: np.ndarray, wrong: int) -> np.ndarray:
    """Predictions of which the first few are wrong."""
    return np.where(np.arange(len(labels)) < wrong, 1 - labels, labels)


def test_what_is_retained_against_plain_resampling():
    """Ends within a point of those of examples drawn one by one."""
    labels = np.random.default_rng(1).permutation(np.arange(200) % 2)
    whole, smaller = right(labels, 20), right(labels, 50)
    found = scored([measured(whole, "none"), measured(smaller, saved=25)], labels)
    row = found.iloc[1]
    assert row["baseline"] == pytest.approx(90)
    assert row["score"] == pytest.approx(75)
    assert row["delta"] == pytest.approx(-15)
    assert row["retention"] == pytest.approx(100 * 75 / 90)
    assert row["chance"] == pytest.approx(50)
    assert row["above_chance"] == pytest.approx(100 * 25 / 40)
    assert row["smaller"] == 4
    assert row["agreement"] == pytest.approx(0.85)
    kappa = (row["agreement"] - row["agreement_by_chance"]) / (1 - row["agreement_by_chance"])
    assert kappa == pytest.approx(cohen_kappa_score(whole, smaller))
    rng, ratios = np.random.default_rng(7), []
    for _ in range(2000):
        rows = rng.integers(200, size=200)
        score = [(each[rows] == labels[rows]).mean() for each in (smaller, whole)]
        ratios.append(100 * score[0] / score[1])
    ends = np.quantile(ratios, (0.025, 0.975))
    assert row[["retention_low", "retention_high"]].tolist() == pytest.approx(ends, abs=1)
    assert not row["retained"]
    assert found.iloc[0]["retained"]
    table = found.assign(task="RTE", state="finetuned", seed=1)
    columns = list(declared.COMPRESSION.names)
    declared.COMPRESSION.check(table[columns], "made", "Correct it.")


def test_the_same_decisions_are_retained():
    labels = np.arange(100) % 2
    whole = measured(right(labels, 10), "none")
    found = scored([whole, whole], labels).iloc[1]
    assert (found["delta"], found["retention"], found["agreement"]) == (0, 100, 1)
    assert found["retained"]


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.52, 0.6, 0.9])
@pytest.mark.parametrize("kind", ["at random", "constant"])
def test_a_model_that_knows_nothing_does_not_pass(kind, accuracy):
    """Also not if the whole model knows hardly anything, where it retains more than 90 %."""
    passed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        labels = rng.permutation(np.arange(300) % 2)
        whole = np.where(rng.random(300) < accuracy, labels, 1 - labels)
        guess = rng.integers(2, size=300) if kind == "at random" else np.ones(300, dtype=int)
        found = scored([measured(whole, "none"), measured(guess)], labels).iloc[1]
        passed += bool(found["retained"])
        if accuracy == 0.52:
            assert found["retention"] > 75
    assert passed <= 1


def test_a_whole_model_near_chance_has_no_share_above_it():
    labels = np.arange(100) % 2
    whole = measured(right(labels, 48), "none")
    found = scored([whole, whole], labels)
    assert found["above_chance"].isna().all()
    assert not found["retained"].any()


@pytest.mark.parametrize("task", ["STS-B", "MNLI", "MRPC"])
def test_regressions_and_other_classes(task):
    rng = np.random.default_rng(2)
    if task == "STS-B":
        labels = rng.uniform(0, 5, 60).astype(np.float32)
        logits = [(labels + noise * rng.normal(size=60))[:, None] for noise in (0.1, 1, 99)]
    else:
        classes = TASKS[task].num_labels
        labels = np.arange(60) % classes
        eye = np.eye(classes)[labels]
        logits = [eye + noise * rng.normal(size=(60, classes)) for noise in (0.1, 0.4, 99)]
    found = [
        Measured(Variant(method, 0, "", lambda _: None), 9, 9, 9, 9, np.float32(each))
        for method, each in zip(("none", "8 bits", "random weights"), logits, strict=True)
    ]
    table = scored(found, labels, task)
    assert len(table) == 3 * len(TASKS[task].metrics)
    assert table["agreement"].isna().all() == (task == "STS-B")
    if task != "STS-B":
        decisions = [each.argmax(axis=1) for each in logits]
        chance = table["agreement_by_chance"]
        kappas = (table["agreement"] - chance) / (1 - chance)
        expected = [cohen_kappa_score(decisions[0], each) for each in decisions]
        assert kappas.tolist() == pytest.approx(expected * len(TASKS[task].metrics))
    bad = table[table["method"] == "random weights"]
    assert not bad["retained"].any()
    assert (table.loc[table["method"] == "8 bits", "retention"] > 60).all()
