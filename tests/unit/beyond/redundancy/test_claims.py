"""Claims of Clark et al. (2019) about types of heads and layers: tables that decide each way."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.beyond.redundancy.shown import (
    broad_in_lower_layers,
    same_layer,
    same_layer_over_random,
    types_over_random,
)


def test_differences_from_random_weights_cover_any_dependence():
    rows = [
        ("a", "pretrained", None, -0.2, -0.3, -0.15),
        ("a", "random", 1, -0.05, -0.06, -0.02),
        ("b", "pretrained", None, -0.1, -0.2, 0.0),
        ("b", "random", 1, 0.0, -0.1, 0.1),
    ]
    names = ["task", "state", "seed", "difference", "difference_low", "difference_high"]
    table = pd.DataFrame(rows, columns=names).assign(pairs="same layer")
    (row,) = same_layer_over_random(table).to_dict("records")
    assert row["value"] == pytest.approx((-0.15 - 0.1) / 2)
    below = np.hypot(0.1 + 0.03, 0.1 + 0.1) / 2
    above = np.hypot(0.05 + 0.01, 0.1 + 0.1) / 2
    assert (row["low"], row["high"]) == pytest.approx((row["value"] - below, row["value"] + above))
    alone = same_layer(table[table["task"] == "a"]).set_index("state")
    assert tuple(alone.loc["pretrained", ["value", "low", "high"]]) == (-0.2, -0.3, -0.15)


def test_heads_of_a_type_are_counted_beyond_random_weights():
    rows = [
        ("a", "pretrained", None, None, "next", 5, 4, 6),
        ("a", "pretrained", None, 1, "next", 50, 40, 60),
        ("a", "random", 1, None, "next", 1, 0, 1),
    ]
    names = ["task", "state", "seed", "layer", "type", "heads", "ci_low", "ci_high"]
    (row,) = types_over_random(pd.DataFrame(rows, columns=names)).to_dict("records")
    assert (row["type"], row["value"], row["low"], row["high"]) == ("next", 4, 3, 6)


@pytest.mark.parametrize(("heads", "expected"), [((3, 1), 2), ((3, 9, 1), 2), ((4, 3, 2, 1), 4)])
def test_halves_of_the_layers_leave_out_a_middle_one(heads, expected):
    table = pd.DataFrame({"layer": range(1, len(heads) + 1), "heads": heads})
    table = table.assign(
        task="a", state="pretrained", seed=None, type="broad for its length"
    ).assign(ci_low=table["heads"] - 1, ci_high=table["heads"] + 1)
    (row,) = broad_in_lower_layers(table).to_dict("records")
    layers = 2 * (len(heads) // 2)
    found = row["value"], row["low"], row["high"]
    assert found == (expected, expected - layers, expected + layers)


def test_one_layer_has_no_halves():
    row = {"task": "a", "state": "pretrained", "seed": None, "layer": 1, "heads": 3}
    table = pd.DataFrame([row]).assign(type="broad for its length", ci_low=1, ci_high=4)
    assert broad_in_lower_layers(table).empty
