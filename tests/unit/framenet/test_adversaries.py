"""Section 4.2 on the published sentences: heads that know nothing pass none of the controls.

`tests/unit/test_adversaries.py` tries made-up sentences, and heads that follow links.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from adversarial import maps
from adversarial.maps import ADVERSARIES, Text

from darksecrets.framenet import heads
from darksecrets.framenet.heads import Sentence, elsewhere, greatest, measure, table
from darksecrets.framenet.links import words_of
from darksecrets.framenet.sources import from_tsv
from darksecrets.stats.paired import sign_flips

NAMES = list(ADVERSARIES)


@pytest.fixture(scope="module")
def published():
    """The 473 sentences that the authors printed, a token per word, with the adversaries' maps."""
    folder = os.environ.get("DARKSECRETS_TEST_DATA")
    if not folder:
        pytest.skip("set DARKSECRETS_TEST_DATA to the folder with framenet/links_473.tsv")
    pronouns = ["he", "she", "it", "they", "i", "we", "you", "him", "her", "them", "us", "me"]
    found = []
    for one in from_tsv(Path(folder) / "framenet" / "links_473.tsv"):
        spans = words_of(one.sentence)
        length = len(spans) + 2

        def tokens(span, spans=spans):
            return 1 + np.array(
                [i for i, s in enumerate(spans) if s[0] < span[1] and s[1] > span[0]]
            )

        usable = np.isin(np.arange(length), np.arange(1, length - 1))
        words = ["", *(one.sentence[slice(*s)].lower() for s in spans), ""]
        none = np.zeros(length, dtype=np.bool_)
        text = Text(usable, np.isin(words, pronouns), none, none)
        links = [(tokens(e.span), tokens(one.predicate)) for e in one.elements]
        found.append(Sentence(maps.heads(text, np.random.default_rng(0)), links, usable))
    return found


def test_on_the_published_sentences_none_passes(published):
    found = table(measure(published), draws=9999, seed=0)
    assert (found["sentences"] == 473).all()
    assert (found["p_value"] > 0.05).all(), found[found["p_value"] <= 0.05]
    assert not found["exceeds_controls"].any()


@pytest.mark.parametrize(
    ("name", "along", "at_the_distance"),
    [("first word", 0.579, 0.29), ("any pronoun", 0.40, 0.14), ("last word but one", 0.05, 0.02)],
)
def test_the_predicate_alone_and_the_distance_alone_are_fooled(
    published, name, along, at_the_distance
):
    """What happens if the predicate stays in both directions, as if it were always the key."""
    index = NAMES.index(name)
    own, moved, stays = [], [], []
    for one in published:
        query_stays = [
            greatest(one.maps, predicate[None], elsewhere(element, one.free()))[0, index, 0]
            for element, predicate in one.links
        ]
        if all(map(len, query_stays)):
            own.append(heads.along(one, 1)[0, index])
            moved.append(heads.moved(one, 1)[0, index])
            stays.append(heads.mean_of_greatest(query_stays))
    rng = np.random.default_rng(0)
    gaps = np.array(own)[:, None] - np.array([moved, stays]).T
    fooled = sign_flips(gaps, 999, rng).p
    assert fooled[0] < 0.01
    if name != "last word but one":
        assert fooled[1] < 0.01
    assert np.mean(own) == pytest.approx(along, abs=0.03)
    assert np.mean(moved) == pytest.approx(at_the_distance, abs=0.03)
