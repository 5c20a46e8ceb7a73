"""Agreement of the heads' effects between seeds and tasks, against SciPy and plain loops."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from darksecrets.paper.ablation.agreement import WORST, task_agreement, worst_heads, worst_overlap
from darksecrets.paper.ablation.tables import TASK_AGREEMENT, WORST_HEADS, WORST_OVERLAP

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
    assert checked(WORST_OVERLAP, worst_overlap(*alone)).empty
    assert len(checked(WORST_HEADS, worst_heads(*alone))) == max(WORST)


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
    numbers = ["spearman", "ci_low", "ci_high", "p_value", "p_within_layers", "q_value"]
    assert found[numbers].isna().to_numpy().all()


def test_the_worst_heads_of_two_tasks_are_those_of_sorted_lists():
    table = ablation()
    found = checked(WORST_OVERLAP, worst_overlap(table, METRICS, DRAWS))
    assert set(found["k"]) == set(WORST)
    places = [f"L{layer}H{head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    means = {t: (deltas(table, t, 1) + deltas(table, t, 2)) / 2 for t in METRICS}
    for row in found.itertuples():
        worst = [
            {place for _, place in sorted(zip(means[t], places, strict=True))[: row.k]}
            for t in (row.task, row.other_task)
        ]
        assert set(row.shared_heads.split()) == worst[0] & worst[1]
        assert row.shared == len(worst[0] & worst[1])
        assert row.expected == pytest.approx(row.k**2 / 12)
        chance = stats.hypergeom(12, row.k, row.k).pmf(range(row.shared, row.k + 1)).sum()
        assert row.p_value == pytest.approx(chance)


def pair_of_heads(task, seed):
    """The paper's claim: STS-B and RTE need the same two heads, MRPC others."""
    values = np.random.default_rng([seed, len(task)]).normal(size=(3, 4))
    for place in [(1, 2), (0, 3)] if task != "MRPC" else [(2, 0), (2, 1)]:
        values[place] = -20.0
    return values


def words() -> pd.DataFrame:
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "layer": layer, "head": head}
        | {"weight": 0.01 * layer * head + 0.001 * seed, "control": 0.01}
        | {"q_value": 0.01 * seed}
        for task in ("STS-B", "RTE")
        for seed in (1, 2)
        for layer in (1, 2, 3)
        for head in (1, 2, 3, 4)
    ]
    return pd.DataFrame(rows)


def test_as_many_worst_heads_as_there_are_heads_say_nothing():
    """Any two tasks share them all: the number of heads itself is no k."""
    table = ablation(layers=2, heads=2)
    found = checked(WORST_OVERLAP, worst_overlap(table, METRICS, DRAWS))
    assert found["k"].unique().tolist() == [k for k in WORST if k < 4]


def test_a_pair_that_two_tasks_need_is_found_with_what_it_attends_to():
    table = ablation(draw=pair_of_heads)
    overlap = worst_overlap(table, METRICS, DRAWS).query("k == 2").set_index(["task", "other_task"])
    row = overlap.loc["STS-B", "RTE"]
    assert (row["shared"], set(row["shared_heads"].split())) == (2, {"L2H3", "L1H4"})
    assert row["p_value"] == pytest.approx(1 / 66)
    assert overlap.loc["MRPC", "RTE"]["shared"] == 0
    found = checked(WORST_HEADS, worst_heads(table, METRICS, DRAWS, words()))
    pair = found[(found["task"] == "RTE") & (found["rank"] <= 2)]
    assert {*zip(pair["layer"], pair["head"], strict=True)} == {(2, 3), (1, 4)}
    assert set(pair["shared_with"]) == {"STS-B"}
    assert pair["q_value"].tolist() == pytest.approx([0.2, 0.2])
    for row in pair.itertuples():
        assert row.equal_words == pytest.approx(0.01 * row.layer * row.head + 0.0015)
        assert row.equal_words_q == pytest.approx(0.02)
    others = found[(found["task"] == "MRPC")]
    assert others["equal_words"].isna().all()
    assert set(others["shared_with"]) == {""}
    assert (found.query("rank > 2")["shared_with"] == "").all()


def test_ties_are_broken_at_random_so_that_equal_effects_share_no_more_than_chance():
    """Broken by the order of heads, every pair of tasks would share its k worst."""
    tasks, shared = [f"task {n}" for n in range(12)], []
    metrics = dict.fromkeys(tasks, "accuracy")
    one = ablation(seeds=(1,), draw=lambda *_: np.zeros((3, 4)), tasks=["RTE"])
    table = pd.concat([one.assign(task=task) for task in tasks])
    found = worst_overlap(table, metrics, DRAWS).query("k == 4")
    shared = found["shared"].mean()
    assert len(found) == len(list(combinations(tasks, 2)))
    assert shared == pytest.approx(found["expected"].mean(), abs=0.35)
    assert (found["q_value"] >= 0.05).all()
