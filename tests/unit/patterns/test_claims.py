"""Numbers that claims about patterns need, beside formulas by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from darksecrets.patterns.claims import shares_of_labels


def test_shares_of_labels_with_wilsons_interval():
    labels = ["vertical"] * 30 + ["block"] * 70
    network = {"classifier": "convolutional network", "left_out": "example"}
    predictions = pd.DataFrame({"label": labels} | network)
    other = predictions.assign(classifier="majority class")
    found = shares_of_labels(pd.concat([predictions, other])).set_index("label")
    centre, half = (
        (0.3 + 1.96**2 / 200) / (1 + 1.96**2 / 100),
        math.sqrt(0.3 * 0.7 / 100 + 1.96**2 / 40000) * 1.96 / (1 + 1.96**2 / 100),
    )
    expected = [30, 100 * (centre - half), 100 * (centre + half)]
    assert found.loc["vertical"].to_list() == pytest.approx(expected, abs=0.01)
