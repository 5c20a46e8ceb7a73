"""Claims about syntax: their numbers, and tables that decide them each way."""

import pandas as pd
from claim_cases.syntax import HEADS, best

from darksecrets.beyond.syntax.shown import gain_over_offset


def test_objects_have_one_name():
    both = pd.concat([best("obj", 0.1)[HEADS], best("det", 0.2)[HEADS]])
    assert gain_over_offset(both).query("state == 'pretrained'")["label"].tolist() == [
        "dobj",
        "det",
    ]
