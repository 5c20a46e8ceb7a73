"""Claims about syntax: their numbers, and tables that decide them each way."""

import pandas as pd
import pytest
from claim_cases.syntax import HEADS, best, nouns

from darksecrets.syntax.claims import over_offset, second_distractor


def test_shares_are_compared_with_equal_parts():
    (row,) = (
        second_distractor(nouns(one=0.1, two=0.05)["distractors"])
        .query("state == 'pretrained'")
        .to_dict("records")
    )
    found = row["value"], row["low"], row["high"]
    assert found == pytest.approx((0.05 / 0.25 - 0.1 / 0.5, -0.08 - 0.04, 0.08 + 0.04))


def test_objects_have_one_name():
    both = pd.concat([best("obj", 0.1)[HEADS], best("det", 0.2)[HEADS]])
    assert over_offset(both).query("state == 'pretrained'")["label"].tolist() == ["dobj", "det"]
