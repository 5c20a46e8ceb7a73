"""Heads that stand out, that may, and that do not."""

import numpy as np
import pandas as pd

from darksecrets.framenet.claims import heads_beyond_random, heads_that_exceed_controls


def test_one_control_rules_a_head_out_but_a_missing_one_does_not():
    heads = pd.DataFrame(
        {
            "exceeds_controls": [True, False, False, False],
            "over_control_high": [0.3, 0.3, 0.3, 0.0],
            "over_unlinked_high": [0.3, 0.3, -0.1, np.nan],
            "over_places_high": [0.3, np.nan, 0.3, np.nan],
            "excess_high": [0.3, np.nan, 0.3, np.nan],
            "excess_product_high": [0.3, np.nan, 0.3, np.nan],
        }
    )
    found = heads_that_exceed_controls(heads)
    assert found["value"].tolist() == found["low"].tolist() == [1, 0, 0, 0]
    assert found["high"].tolist() == [1, 1, 0, 0]


def test_heads_are_counted_beyond_those_of_random_weights():
    """Two of three heads stand out and none of the third is refuted; with random weights, one."""
    names = ("control", "unlinked", "places")
    columns = {f"over_{name}_high": 0.3 for name in names}
    columns |= {"excess_high": 0.3, "excess_product_high": 0.3}
    rows = [
        *({"state": "pretrained", "exceeds_controls": flag} for flag in (True, True, False)),
        *({"state": "random", "exceeds_controls": flag} for flag in (True, False, False)),
    ]
    found = heads_beyond_random(pd.DataFrame(rows).assign(**columns))
    expected = [{"state": "pretrained", "value": 1.0, "low": 1.0, "high": 2.0}]
    assert found.to_dict("records") == expected
