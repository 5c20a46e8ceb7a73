"""Numbers that claims about disabled heads need, beside loops over heads."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from darksecrets.paper.ablation.claims import (
    equal_words_of_worst,
    varies_across_tasks,
    worst_heads_elsewhere,
)
from darksecrets.paper.features.tables import EQUAL_CONTROLS

TASKS, SEEDS = ("STS-B", "RTE", "QQP"), (1, 2)


@pytest.fixture
def heads() -> pd.DataFrame:
    """Effects of 12 heads, the last first; QQP has two metrics."""
    rng = np.random.default_rng(7)
    rows = []
    for task, seed, layer, head in itertools.product(TASKS, SEEDS, (1, 2, 3), (1, 2, 3, 4)):
        for metric in ("f1", "accuracy") if task == "QQP" else ("main",):
            delta = rng.normal()
            rows.append((task, "finetuned", seed, layer, head, metric, delta, delta - 1, delta + 2))
    names = ["task", "state", "seed", "layer", "head", "metric", "delta", "ci_low", "ci_high"]
    table = pd.DataFrame(rows, columns=names)
    over = rng.normal(size=len(table))
    ends = {"over_layer_low": over - 1, "over_layer_high": over + 2}
    return table.assign(over_layer=over, **ends).iloc[::-1]


def test_worst_heads_are_scored_on_other_tasks(heads):
    found = worst_heads_elsewhere(heads)
    assert len(found) == len(SEEDS) * (2 * 1 + 2 * 1 + 2 * 2)  # QQP is scored by two metrics
    for row in found.to_dict("records"):
        main = heads[heads["task"] == row["chosen_on"]]["metric"].iloc[0]
        of_seed = heads[heads["seed"] == row["seed"]]
        chosen = of_seed[(of_seed["task"] == row["chosen_on"]) & (of_seed["metric"] == main)]
        places = sorted(zip(chosen["delta"], chosen["layer"], chosen["head"], strict=True))[:2]
        worst = [place[1:] for place in places]
        scored = of_seed[(of_seed["task"] == row["task"]) & (of_seed["metric"] == row["metric"])]
        delta = {(r.layer, r.head): r.delta for r in scored.itertuples()}
        over = {(r.layer, r.head): r.over_layer for r in scored.itertuples()}
        expected = np.mean([over[place] for place in worst])
        assert row["value"] == pytest.approx(expected)
        assert row["low"] == pytest.approx(expected - 1)
        assert row["high"] == pytest.approx(expected + 2)
        (one, _), (other, _) = worst
        choices = [
            delta[one, i] + delta[other, j]
            for i, j in itertools.product((1, 2, 3, 4), repeat=2)
            if (one, i) != (other, j)
        ]
        as_low = np.mean([total <= sum(delta[p] for p in worst) + 1e-12 for total in choices])
        assert row["p_value"] == pytest.approx(as_low)


def test_heads_of_a_layer_that_matters_alike_are_no_heads_in_common():
    """Two tasks need the same layer: any two heads of it cost as much as the worst ones."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(40):
        rows = [
            {"task": task, "state": "finetuned", "seed": 1, "layer": layer, "head": head}
            | {"metric": "main", "delta": (-5.0 if layer == 2 else 0.0) + rng.normal()}
            for task in ("STS-B", "RTE")
            for layer in (1, 2, 3)
            for head in range(1, 13)
        ]
        table = pd.DataFrame(rows).assign(over_layer=0.0, over_layer_low=0.0, over_layer_high=0.0)
        held += (worst_heads_elsewhere(table)["p_value"] < 0.05).all()
    assert held <= 1


def test_equal_words_of_the_worst_heads_have_seven_controls():
    key = {"task": ["RTE"] * 2, "state": "finetuned", "layer": [2, 4], "head": [3, 1]}
    worst = pd.DataFrame(key | {"rank": [1, 2], "delta": -3.0, "q_value": [0.01, 0.04]})
    controls = []
    for number, name in enumerate(EQUAL_CONTROLS):
        fixed = {"seed": 1, "control": name}
        ends = {"difference": number, "difference_low": number - 1, "difference_high": number + 1}
        controls.append(pd.DataFrame(key | fixed | ends))
    own = pd.concat(controls)
    found = equal_words_of_worst(worst, pd.concat([own, own.assign(layer=6)]))
    assert len(found) == 2 * 7
    of_sum = found[(found["control"] == "sum") & (found["rank"] == 2)]
    number = EQUAL_CONTROLS.index("sum")
    assert of_sum[["value", "low", "high"]].to_numpy().tolist() == [
        [number, number - 1, number + 1]
    ]
    for other in ({"q_value": [0.01, 0.06]}, {"delta": [-3.0, 1.0]}):
        found = equal_words_of_worst(worst.assign(**other), own)
        known = found[["value", "low", "high"]].notna().all(axis=1)
        assert known.tolist() == (found["rank"] == 1).tolist()


def test_differences_between_tasks_are_cochrans_q_of_each_head(heads):
    """Beside a loop; QQP counts by its main metric, of two seeds the larger p-value."""
    main = heads[(heads["task"] != "QQP") | (heads["metric"] == heads["metric"].iloc[0])]
    expected = []
    for _, model in main.groupby("seed"):
        smallest = 1.0
        for _, head in model.groupby(["layer", "head"]):
            variance = (3 / 2 / 1.959963984540054) ** 2
            mean = head["delta"].mean()
            q = ((head["delta"] - mean) ** 2 / variance).sum()
            smallest = min(smallest, 12 * chi2.sf(q, len(TASKS) - 1))
        expected.append(smallest)
    (found,) = varies_across_tasks(heads).to_dict("records")
    assert found == {"state": "finetuned", "value": pytest.approx(max(expected)), "seeds": 2}
    assert varies_across_tasks(heads[heads["task"] == "RTE"]).empty


@pytest.mark.parametrize(
    ("examples", "rate", "cost"),
    [
        (250, 0.002, 0.02),
        pytest.param(250, 0.05, 0.1, marks=pytest.mark.thorough),
        pytest.param(1000, 0.01, 0.02, marks=pytest.mark.thorough),
        pytest.param(1000, 0.05, 0, marks=pytest.mark.thorough),
    ],
)
def test_heads_that_cost_the_same_on_every_task_do_not_vary(examples, rate, cost):
    """At most 5 % of 100 runs of 36 heads and 7 tasks, and 2.5 standard errors; rare changes, too.

    Weights by the variances found, without the mean as their floor, are wrong in up to 38 %.
    """
    rng, shape = np.random.default_rng(0), (6, 6, 7)
    places = np.indices(shape).reshape(3, -1)
    wrong = 0
    for _ in range(100):
        gained, lost = (rng.binomial(examples, p, size=shape) for p in (rate, rate + cost))
        drawn = [rng.binomial(examples, n / examples, size=(200, *shape)) for n in (gained, lost)]
        ends = np.percentile(drawn[0] - drawn[1], [2.5, 97.5], axis=0) * 100 / examples
        table = {
            **dict(zip(("layer", "head", "task"), places, strict=True)),
            "delta": (gained - lost).ravel() * 100 / examples,
            **dict(zip(("ci_low", "ci_high"), ends.reshape(2, -1), strict=True)),
        }
        frame = pd.DataFrame(table).assign(state="finetuned", seed=1, metric="accuracy")
        wrong += varies_across_tasks(frame)["value"].item() < 0.05
    assert wrong / 100 < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 100)
