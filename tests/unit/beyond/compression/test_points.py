"""The models that no cheaper one beats, and the published numbers beside them."""

import numpy as np
import pytest

from darksecrets.beyond.compression import declared, shown
from darksecrets.core.run.files import RESOURCES

PUBLISHED = declared.PUBLISHED.read(RESOURCES / "paper" / "compression_rogers2020.csv")


def test_the_front_has_what_no_cheaper_model_beats():
    rng = np.random.default_rng(1)
    costs, kept = rng.integers(0, 9, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    found = shown.front(costs, kept)
    assert (np.diff(costs[found]) > 0).all()
    assert (np.diff(kept[found]) > 0).all()
    for one in range(40):
        beaten = any(
            costs[o] <= costs[one]
            and kept[o] >= kept[one]
            and (costs[o], kept[o]) != (costs[one], kept[one])
            for o in range(40)
        )
        listed = (costs[one], kept[one]) in set(zip(costs[found], kept[found], strict=True))
        assert listed == (not beaten)


TRANSCRIBED = """
    BERT-small 26 91 -; DistilBERT 66 90 62; BERT6-PKD 62 98 52; BERT3-PKD 41 92 27;
    BERT-48 1 87 1; BERT-192 17 93 4; TinyBERT 13 96 10; MobileBERT 23 100 25; PD 62 98 40;
    WaLDORf 22 93 11; MiniLM 60 99 50; MiniBERT 16 98 3; BiLSTM-soft 0.9 91 0.2; Q-BERT-MP 7 98 -;
    BERT-QAT 25 99 -; GOBO 10 99 -; RPP 58 99 -; Soft_MvP 3 94 -; ALBERT-base 11 97 -;
    BERT-of-Theseus 62 98 52; PoWER-BERT 100 99 -
"""
"""Percent of BERT's size, score and time, as someone else has read and rounded them; no ranges."""


def test_published_rows_are_those_that_others_read():
    rows = PUBLISHED.set_index("model")
    read = [each.split() for each in TRANSCRIBED.split(";")]
    assert len(read) == 21
    for name, size, retention, seconds in read:
        own = rows.loc[name.replace("_", " ")]
        assert own["retention"] == float(retention), name
        assert 100 / own["smaller"] == pytest.approx(float(size), abs=1, rel=0.01), name
        if seconds == "-":
            assert np.isnan(own["speedup"]), name
        else:
            assert 100 / own["speedup"] == pytest.approx(float(seconds), abs=1, rel=0.01), name
