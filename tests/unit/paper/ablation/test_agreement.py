"""Agreement of the heads' effects between seeds and tasks, against SciPy and plain loops."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from darksecrets.paper.ablation.agreement import WORST, task_agreement, worst_heads
from darksecrets.paper.ablation.tables import TASK_AGREEMENT, WORST_HEADS

DRAWS = {"bootstrap": 200, "permutations": 500, "seed": 6}
METRICS = {"MRPC": "f1", "STS-B": "pearson", "RTE": "accuracy"}


def ablation(seeds=(1, 2), layers=3, heads=4, *, draw=None, tasks=METRICS) -> pd.DataFrame:
    """Effects of heads: random, or those that ``draw`` returns for a task and seed."""
    rng = np.random.default_rng(2)
    rows = []
    for task in tasks:
        for seed in seeds:
            values = rng.normal(size=(layers, heads)) if draw is None else draw(task, seed)
            for (layer, head), delta in np.ndenumerate(values):
                rows.append(
                    {"task": task, "state": "finetuned", "seed": seed, "layer": layer + 1}
                    | {"head": head + 1, "metric": METRICS[task], "baseline": 70.0}
                    | {"score": 70.0 + delta, "delta": delta, "ci_low": -9.0, "ci_high": 9.0}
                    | {"p_value": 0.5, "q_value": 0.1 * seed}
                )
    return pd.DataFrame(rows)


def deltas(table, task, seed) -> np.ndarray:
    mine = table[(table["task"] == task) & (table["seed"] == seed)]
    return mine.sort_values(["layer", "head"])["delta"].to_numpy()


def checked(declared, table) -> pd.DataFrame:
    return declared.check(table, "made", "correct")


def test_with_one_seed_only_tasks_are_compared_and_with_one_task_nothing():
    table = ablation(seeds=(1,))
    tasks = checked(TASK_AGREEMENT, task_agreement(table, METRICS, DRAWS))
    assert (tasks["task"] != tasks["other_task"]).all()
    assert len(tasks) == 3
    alone = ablation(seeds=(1,), tasks=["RTE"]), {"RTE": "accuracy"}, DRAWS
    assert checked(TASK_AGREEMENT, task_agreement(*alone)).empty
    assert len(checked(WORST_HEADS, worst_heads(*alone))) == WORST


def test_tasks_are_compared_over_all_pairs_of_their_models():
    table = ablation()
    found = checked(TASK_AGREEMENT, task_agreement(table, METRICS, DRAWS)).set_index(
        ["task", "other_task"]
    )
    assert len(found) == 6
    row = found.loc["MRPC", "RTE"]
    pairs = [(deltas(table, "MRPC", i), deltas(table, "RTE", j)) for i in (1, 2) for j in (1, 2)]
    expected = np.mean([stats.spearmanr(*pair).statistic for pair in pairs])
    assert (row["pairs"], row["spearman"]) == (4, pytest.approx(expected, abs=1e-12))
    same = found.loc["RTE", "RTE"]
    expected = stats.spearmanr(*(deltas(table, "RTE", seed) for seed in (1, 2))).statistic
    assert (same["pairs"], same["spearman"]) == (1, pytest.approx(expected, abs=1e-12))
    q = stats.false_discovery_control(found["p_value"])
    assert found["q_value"].to_numpy() == pytest.approx(q)


def test_equal_effects_have_no_correlation():
    tasks = ablation(draw=lambda *_: np.zeros((3, 4)))
    found = checked(TASK_AGREEMENT, task_agreement(tasks, METRICS, DRAWS))
    numbers = ["spearman", "ci_low", "ci_high", "p_value", "q_value"]
    assert found[numbers].isna().to_numpy().all()


def test_the_worst_heads_of_a_task_are_those_of_a_sorted_list():
    table = ablation()
    found = checked(WORST_HEADS, worst_heads(table, METRICS, DRAWS))
    places = [(layer, head) for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    for task in METRICS:
        means = (deltas(table, task, 1) + deltas(table, task, 2)) / 2
        worst = [place for _, place in sorted(zip(means, places, strict=True))[:WORST]]
        rows = found[found["task"] == task].sort_values("rank")
        assert [*zip(rows["layer"], rows["head"], strict=True)] == worst


def pair_of_heads(task, seed):
    """The paper's claim: STS-B and RTE need the same two heads, MRPC others."""
    values = np.random.default_rng([seed, len(task)]).normal(size=(3, 4))
    for place in [(1, 2), (0, 3)] if task != "MRPC" else [(2, 0), (2, 1)]:
        values[place] = -20.0
    return values


def test_a_pair_that_two_tasks_need_is_found():
    table = ablation(draw=pair_of_heads)
    found = checked(WORST_HEADS, worst_heads(table, METRICS, DRAWS))
    pairs = {
        task: {*zip(rows["layer"], rows["head"], strict=True)}
        for task, rows in found[found["rank"] <= 2].groupby("task")
    }
    assert pairs == {"STS-B": {(2, 3), (1, 4)}, "RTE": {(2, 3), (1, 4)}, "MRPC": {(3, 1), (3, 2)}}
    assert found.query("rank <= 2")["q_value"].tolist() == pytest.approx([0.2] * 6)


def test_ties_are_broken_at_random_for_every_task():
    """Broken by the order of heads, all tasks would have the same worst heads."""
    tasks = [f"task {n}" for n in range(12)]
    metrics = dict.fromkeys(tasks, "accuracy")
    one = ablation(seeds=(1,), draw=lambda *_: np.zeros((3, 4)), tasks=["RTE"])
    table = pd.concat([one.assign(task=task) for task in tasks])
    found = worst_heads(table, metrics, DRAWS).query("rank <= 2")
    pairs = {
        frozenset(zip(rows["layer"], rows["head"], strict=True))
        for _, rows in found.groupby("task")
    }
    assert len(pairs) > 6
