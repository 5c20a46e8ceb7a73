"""Heads that stand out, that may, and that do not."""

import numpy as np
import pandas as pd

from darksecrets.paper.framenet.claims import heads_beyond_random, heads_that_exceed_controls

CONTROLS = ("distance", "key", "place", "sum", "product")


def tables(
    state: str, flags: list[bool], ends: list[list[float]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Heads, and the upper ends of the differences from their controls."""
    place = {"state": state, "direction": "element_to_predicate", "layer": 1}
    heads = [place | {"head": n, "exceeds_controls": flag} for n, flag in enumerate(flags, 1)]
    controls = [
        place | {"head": number, "control": control, "difference_high": high}
        for number, of_head in enumerate(ends, 1)
        for control, high in zip(CONTROLS, of_head, strict=True)
    ]
    return pd.DataFrame(heads), pd.DataFrame(controls)


def test_one_control_rules_a_head_out_but_a_missing_one_does_not():
    nan = np.nan
    ends = [[0.3] * 5, [0.3, 0.3, nan, nan, nan], [0.3, -0.1, 0.3, 0.3, 0.3], [0.0, *[nan] * 4]]
    found = heads_that_exceed_controls(*tables("pretrained", [True, False, False, False], ends))
    assert found["value"].tolist() == found["low"].tolist() == [1, 0, 0, 0]
    assert found["high"].tolist() == [1, 1, 0, 0]


def test_heads_are_counted_beyond_those_of_the_random_encoder_with_most():
    """Two of three heads stand out and none of the third is refuted; with random weights, one."""
    own = tables("pretrained", [True, True, False], [[0.3] * 5] * 3)
    untrained = tables("random", [True, False, False], [[-0.3] * 5] * 3)
    both = [pd.concat(parts) for parts in zip(own, untrained, strict=True)]
    random = pd.DataFrame({"seed": range(20), "exceeding": [0] * 18 + [1, 1]})
    found = heads_beyond_random(*both, random)
    assert found.to_dict("records") == [
        {"state": "pretrained", "value": 1.0, "low": 1.0, "high": 2.0},
        {"state": "random", "value": 0.0, "low": 0.0, "high": 0.0},
    ]
