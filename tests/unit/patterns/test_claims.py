"""Numbers that claims about patterns need, beside formulas by hand."""

import math

import pandas as pd
import pytest

from darksecrets.patterns.claims import more_than_random, shares_of_labels


def test_shares_of_labels_with_wilsons_interval():
    labels = ["vertical"] * 30 + ["block"] * 70
    rows = {
        "classifier": "hand-made features",
        "left_out": "example",
        "repetition": 1,
        "definition": "strict",
    }
    predictions = pd.DataFrame({"label": labels} | rows)
    others = [
        {"classifier": "majority class"},
        {"left_out": "model"},
        {"repetition": 2},
        {"definition": "lenient"},
    ]
    # other rows of the table, in which every map is a block, do not count
    tables = [predictions, *(predictions.assign(label="block", **other) for other in others)]
    found = shares_of_labels(pd.concat(tables)).set_index("label")
    centre, half = (
        (0.3 + 1.96**2 / 200) / (1 + 1.96**2 / 100),
        math.sqrt(0.3 * 0.7 / 100 + 1.96**2 / 40000) * 1.96 / (1 + 1.96**2 / 100),
    )
    expected = [30, 100 * (centre - half), 100 * (centre + half)]
    assert found.loc["vertical"].to_list() == pytest.approx(expected, abs=0.01)


def test_the_first_three_patterns_are_compared_with_random_weights():
    """Shares add up, and half-widths with them; other patterns and definitions do not count."""
    rows = [
        (state, definition, pattern, share if definition == "strict" else 0.9)
        for state, share in (("pretrained", 0.25), ("random", 0.1), ("finetuned", 0.9))
        for definition in ("strict", "lenient")
        for pattern in ("vertical", "diagonal", "vertical+diagonal", "block")
    ]
    table = pd.DataFrame(rows, columns=["state", "definition", "pattern", "corrected"])
    share = table["corrected"]
    table = table.assign(task="RTE", corrected_low=share - 0.01, corrected_high=share + 0.02)
    (found,) = more_than_random(table).to_dict("records")
    assert (found.pop("task"), found.pop("state")) == ("RTE", "pretrained")
    assert found == pytest.approx({"value": 0.45, "low": 0.45 - 0.09, "high": 0.45 + 0.09})
