"""Numbers that claims about patterns need, beside formulas by hand."""

import pandas as pd
import pytest

from darksecrets.paper.patterns.claims import more_than_random


def test_the_first_three_patterns_are_compared_with_random_weights():
    """Shares add up, and half-widths with them; other patterns and definitions do not count."""
    rows = [
        (classifier, state, definition, pattern, share if definition == "strict" else 0.9)
        for classifier, own in (("cnn", 0.0), ("features", 0.05))
        for state, share in (("pretrained", 0.25 + own), ("random", 0.1), ("finetuned", 0.9))
        for definition in ("strict", "lenient")
        for pattern in ("vertical", "diagonal", "vertical+diagonal", "block")
    ]
    table = pd.DataFrame(
        rows, columns=["classifier", "state", "definition", "pattern", "corrected"]
    )
    share = table["corrected"]
    table = table.assign(task="RTE", corrected_low=share - 0.01, corrected_high=share + 0.02)
    found = more_than_random(table).to_dict("records")
    for row, classifier, value in zip(found, ("cnn", "features"), (0.45, 0.6), strict=True):
        assert (row.pop("task"), row.pop("state")) == ("RTE", "pretrained")
        assert row.pop("classifier") == classifier
        assert row == pytest.approx({"value": value, "low": value - 0.09, "high": value + 0.09})
