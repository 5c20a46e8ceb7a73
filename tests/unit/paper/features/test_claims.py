"""Numbers that claims about changes of attention need."""

import pandas as pd
import pytest

from darksecrets.paper.features.claims import (
    greatest_change,
    levels_beyond_random,
    multiples_beyond_random,
)


def test_the_greatest_change_of_all_layers_allows_for_their_number():
    """Of three layers: intervals of 1 - 0.05 / 3, by the quantiles of the normal distribution."""
    values = [0.1, 0.3, -0.2]
    layers = pd.DataFrame({"layer": [1, 2, 3], "over_control": values})
    layers = layers.assign(task="RTE", feature="noun", seeds=2)
    layers = layers.assign(
        over_control_low=layers["over_control"] - 0.1,
        over_control_high=layers["over_control"] + 0.2,
    )
    whole = layers.iloc[:1].assign(layer=None, over_control=9.0, over_control_high=9.5)
    (row,) = greatest_change(pd.concat([layers, whole])).to_dict("records")
    wider = 2.3939797998 / 1.9599639845
    assert (row["value"], row["seeds"]) == (0.3, 2)
    assert (row["low"], row["high"]) == pytest.approx((0.3 - 0.1 * wider, 0.3 + 0.2 * wider))


def test_levels_beyond_random_weights_are_differences_of_the_same_task_and_layer():
    keys = {"measure": "greatest", "feature": "[SEP]"}
    rows = [
        ("RTE", "finetuned", 1, 0.5, 0.4, 0.8, 0.1),
        ("RTE", "finetuned", None, 0.6, 0.5, 0.7, 0.1),
        ("SST-2", "finetuned", 1, 0.7, 0.6, 0.8, 0.2),
        ("RTE", "random", 1, 0.2, 0.16, 0.23, 0.1),
        ("RTE", "random", None, 0.1, 0.1, 0.1, 0.1),
        ("SST-2", "random", 1, 0.4, 0.4, 0.4, 0.2),
    ]
    names = ["task", "state", "layer", "weight", "weight_low", "weight_high", "uniform"]
    table = pd.DataFrame(rows, columns=names).astype({"layer": "Int64"}).assign(**keys, seeds=1)
    found = levels_beyond_random(table)
    assert found["value"].tolist() == pytest.approx([0.3, 0.5, 0.3, 0, 0, 0])
    low, high = (0.1**2 + 0.03**2) ** 0.5, (0.3**2 + 0.04**2) ** 0.5
    assert found.loc[0, ["low", "high"]].tolist() == pytest.approx([0.3 - low, 0.3 + high])
    multiples = multiples_beyond_random(table)
    assert multiples["value"].tolist() == pytest.approx([3, 5, 1.5, 0, 0, 0])
