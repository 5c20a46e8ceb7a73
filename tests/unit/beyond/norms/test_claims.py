"""Claims of Kobayashi et al. (2020): their numbers, and tables that decide them each way."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.beyond.norms.shown import (
    length_of_frequent_words,
    norm_over_uniform,
    norm_weight_ratio,
)


def levels(**columns: list[float]) -> pd.DataFrame:
    """Rows of the whole pre-trained encoder, one for every task."""
    count = len(next(iter(columns.values())))
    fixed = {"state": "pretrained", "seed": None, "kind": "special", "layer": None}
    return pd.DataFrame({"task": [f"t{n}" for n in range(count)], **fixed, **columns})


def test_means_over_tasks_have_the_interval_of_independent_numbers():
    rng = np.random.default_rng(0)
    values, halves = np.array([0.3, 0.5, 0.4]), np.array([0.02, 0.1, 0.05])
    table = levels(
        norm_weight_ratio=values,
        norm_weight_ratio_low=values - halves,
        norm_weight_ratio_high=values + halves,
    )
    (row,) = norm_weight_ratio(table).to_dict("records")
    drawn = (values + halves / 1.96 * rng.normal(size=(200_000, 3))).mean(axis=1)
    assert row["value"] == pytest.approx(0.4)
    ends = np.quantile(drawn, [0.025, 0.975])
    np.testing.assert_allclose((row["low"], row["high"]), ends, rtol=0, atol=5e-4)


def test_one_task_keeps_its_interval():
    table = levels(norm=[0.1], norm_low=[0.08], norm_high=[0.15], uniform=[0.2])
    (row,) = norm_over_uniform(table).to_dict("records")
    found = row["value"], row["low"], row["high"]
    np.testing.assert_allclose(found, (-0.1, -0.12, -0.05))


def test_a_difference_of_lengths_covers_any_dependence():
    parts = [
        levels(length=[value], length_low=[value - 0.1], length_high=[value + 0.2]).assign(
            kind=kind
        )
        for value, kind in ((0.9, "frequent word"), (1.2, "other word"))
    ]
    (row,) = length_of_frequent_words(pd.concat(parts)).to_dict("records")
    np.testing.assert_allclose(
        (row["value"], row["low"], row["high"]), (-0.3, -0.6, 0.0), atol=1e-9
    )
