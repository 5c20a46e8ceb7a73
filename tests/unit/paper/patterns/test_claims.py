"""Numbers that claims about patterns need, beside formulas by hand."""

import pandas as pd
import pytest

from darksecrets.paper.patterns.claims import more_than_random


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
