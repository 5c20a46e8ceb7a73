"""Claims about important heads: their numbers, and tables that decide them each way."""

import numpy as np
import pandas as pd
import pytest
from claim_cases.importance import gates, needs, pruned, structure
from claim_tables import SEEDS

from darksecrets.beyond.importance.declared import SCORE
from darksecrets.beyond.importance.measure.curves import largest_sets
from darksecrets.beyond.importance.shown import (
    _best_definition,
    few_heads_by_gates,
    largest_shares,
    layers_with_one_head,
    removable_shares,
    structure_correlations,
)


def test_shares_are_of_accuracy_where_there_is_one():
    found = removable_shares(pruned(18, 9)["smaller_models"])
    mine = found[found["order"] == "absolute gradient"].set_index(["on", "seed"])
    ends = ["value", "low", "high"]
    assert mine.loc[("RTE", 1), ends].tolist() == [0.5] * 3
    assert mine.loc[("MRPC", 1), ends].tolist() == [0.25] * 3
    assert len(mine) == 2 * len(SEEDS)


@pytest.mark.parametrize(
    ("delta", "half", "expected"),
    [
        (-0.9, 0.05, (0.5, 0.5, 0.5)),
        (-0.9, 0.3, (0.5, 0, 0.5)),
        (-1.1, 0.3, (0, 0, 0.5)),
        (-6.0, 3.0, (0, 0, 0)),
        (-1.0, 0.0, (0.5, 0.5, 0.5)),
    ],
)
def test_a_share_counts_if_the_validation_score_bears_it_out(delta, half, expected):
    found = removable_shares(pruned(18, 18, delta, half)["smaller_models"])
    mine = found[found["order"] == "absolute gradient"]
    assert (mine[["value", "low", "high"]].to_numpy() == expected).all()


def shown_removable(cost: float, noise: float, trials: int = 400) -> tuple[float, float]:
    """How often more than 2 of 36 heads are shown to be removable, and seem so on validation.

    Args:
        cost: Points that each head costs; one point is tolerated.
        noise: Standard deviation of the points of training examples, and of validation examples.
        trials: Number of trials.
    """
    rng, counts = np.random.default_rng(7), list(range(1, 37))
    rows = []
    for trial in range(trials):
        deltas = rng.normal(0, noise, (2, 1)) - cost * np.array(counts)  # chosen on, scored on
        chosen, seeming = largest_sets(deltas, counts, 1.0)
        delta, half = (deltas[1, chosen - 1], 1.96 * noise) if chosen else (0.0, 0.0)
        rows.append(
            {"task": "RTE", "state": "finetuned", "seed": trial, "metric": "accuracy"}
            | {"order": "absolute gradient", "tolerance": 1.0, "chosen_on": 9}
            | {"share": chosen / 36, "delta": delta, "seeming": seeming / 36}
            | {"ci_low": delta - half, "ci_high": delta + half}
        )
    found, few = removable_shares(pd.DataFrame(rows)), 2.5 / 36
    return float((found["low"] > few).mean()), float((found["seeming"] > few).mean())


def test_luck_of_the_examples_does_not_make_heads_removable():
    """If 2 of 36 are, validation examples often seem to tolerate more; if all are, it is found."""
    held, seeming = shown_removable(cost=0.5, noise=2)
    assert held <= 0.025
    assert seeming > 0.3
    assert shown_removable(cost=0.01, noise=0.2)[0] > 0.8


def test_layers_are_counted_with_one_head_left():
    found = layers_with_one_head(needs(7, 5, 2)["layer_needs"])
    assert len(found) == 2 * len(SEEDS)
    assert found[["value", "low", "high"]].to_numpy().tolist() == [[0.7, 0.5, 0.8]] * len(found)


def test_the_penalty_that_leaves_few_heads_is_not_chosen_by_its_score():
    found = few_heads_by_gates(gates(-2, 1)["learned_gates"])
    assert len(found) == 2 * len(SEEDS)
    assert found.groupby("on")["value"].first().to_dict() == {"RTE": -2, "MRPC": 1}


def test_structure_is_the_opposite_of_heterogeneous():
    found = structure_correlations(structure(0.3, -0.2, 0.1)["important_heads"])
    rte = found[(found["on"] == "RTE") & (found["definition"] == "leave-one-out loss")]
    assert rte[["value", "low", "high"]].to_numpy().tolist() == [pytest.approx([-0.3, -0.4, -0.2])]


def test_shares_of_the_largest_sets():
    table = pd.DataFrame({"heads": [36], "largest": [9], "ci_low": [0], "ci_high": [18]})
    found = largest_shares(table.assign(task="RTE", metric="accuracy"))
    assert found[["value", "low", "high"]].to_numpy().tolist() == [[0.25, 0, 0.5]]


@pytest.mark.parametrize(
    ("lows", "said"),
    [
        ((0.1, 0.2), "absolute gradient follows the validation score best: rank correlation 0.40"),
        ((0.1, -0.2), "No definition of heads' importance follows the validation score"),
    ],
)
def test_a_headline_names_a_definition_only_if_every_interval_is_above_0(lows, said):
    rows = pd.DataFrame(
        {
            "part": "head",
            "reference": SCORE,
            "definition": "absolute gradient",
            "spearman": [0.3, 0.5],
            "ci_low": lows,
        }
    )
    assert said in _best_definition(rows)
