"""Claims about attention and decisions: tables that decide each way, and their numbers."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.beyond.faithfulness.shown import (
    gain_over_random_order,
    separator_in_upper_layers,
    separator_over_random,
    separator_upper_over_lower,
)


def layers(**states: list[tuple[float, float, float]]) -> pd.DataFrame:
    rows = [
        {"task": "a", "state": state, "seed": 1, "layer": layer, "relative": value}
        | {"relative_low": low, "relative_high": high, "kind": "separator", "head": None}
        for state, values in states.items()
        for layer, (value, low, high) in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows).astype({"layer": "Int64"})


def test_halves_are_means_of_layers():
    table = layers(
        finetuned=[(1, 0.8, 1.1), (5, 5, 5), (0.5, 0.4, 0.8)],
        random=[(9, 9, 9), (5, 5, 5), (1, 0.9, 1.2)],
    )

    def of(found: pd.DataFrame) -> tuple[float, ...]:
        row = found[found["state"] == "finetuned"].iloc[0]
        return tuple(row[["value", "low", "high"]].astype(float))

    assert of(separator_in_upper_layers(table)) == pytest.approx((0.5, 0.4, 0.8))
    expected = -0.5, -0.5 - 0.1 - 0.1, -0.5 + 0.3 + 0.2
    assert of(separator_upper_over_lower(table)) == pytest.approx(expected)
    assert of(separator_over_random(table)) == pytest.approx((-0.5, -0.5 - 0.1 - 0.2, -0.1))


def test_one_layer_is_the_upper_half_and_has_no_lower_one():
    table = layers(finetuned=[(0.5, 0.4, 0.8)], random=[(1, 0.9, 1.2)])
    assert separator_in_upper_layers(table)["value"].tolist() == [0.5, 1]
    assert separator_upper_over_lower(table).empty


def test_tasks_are_independent():
    table = pd.DataFrame(
        {
            "task": ["a", "b"],
            "state": "finetuned",
            "seed": 1,
            "importance": "norms",
            "over_random": [-0.2, 0.0],
            "over_random_low": [-0.3, -0.1],
            "over_random_high": [-0.1, 0.1],
        }
    )
    (row,) = gain_over_random_order(table).to_dict("records")
    reach = np.hypot(0.1, 0.1) / 2
    found = row["value"], row["low"], row["high"]
    assert found == pytest.approx((-0.1, -0.1 - reach, -0.1 + reach))
