"""Numbers that claims about patterns need, beside formulas by hand."""

import pandas as pd
import pytest

from darksecrets.paper.patterns.claims import more_than_random


def test_the_first_three_patterns_are_compared_with_random_weights():
    """Half-widths add up; other patterns, states and definitions do not count."""
    rows = [
        (state, definition, pattern, share if definition == "strict" else 0.9)
        for state, share in (("pretrained", 0.75), ("random", 0.3), ("finetuned", 0.9))
        for definition in ("strict", "lenient")
        for pattern in ("vertical or diagonal", "vertical", "block")
    ]
    table = pd.DataFrame(rows, columns=["state", "definition", "pattern", "share"])
    share = table["share"]
    table = table.assign(task="RTE", ci_low=share - 0.01, ci_high=share + 0.02)
    (row,) = more_than_random(table).to_dict("records")
    assert (row.pop("task"), row.pop("state")) == ("RTE", "pretrained")
    assert row == pytest.approx({"value": 0.45, "low": 0.42, "high": 0.48})
