"""Section 4.2 on the published sentences: heads that know nothing pass none of the controls.

`tests/unit/test_adversaries.py` tries made-up sentences, and heads that follow links.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from adversarial import families, frames, maps
from adversarial.maps import IGNORANT

from darksecrets.core.stats.paired import sign_flips
from darksecrets.paper.framenet import heads
from darksecrets.paper.framenet.heads import Sentence, elsewhere, greatest, measure, tables
from darksecrets.paper.framenet.links import words_of
from darksecrets.paper.framenet.sources import read_tsv

NAMES, FARTHEST = list(IGNORANT), "farthest word, over uniform"


PRONOUNS = frozenset(
    ["he", "she", "it", "they", "i", "we", "you", "him", "her", "them", "us", "me"]
)


def tag(word: str) -> str:
    """A part of speech as far as the word shows it; there is no tagger here."""
    if word in PRONOUNS:
        return maps.PRONOUN
    if not word[0].isalnum():
        return maps.PUNCTUATION
    return maps.VERB if word.endswith(("ed", "ing")) else maps.NOUN if len(word) > 4 else maps.OTHER


@pytest.fixture(scope="module")
def published():
    """The 473 sentences that the authors printed, a token per word, with the adversaries' maps."""
    folder = os.environ.get("DARKSECRETS_TEST_DATA")
    if not folder:
        pytest.skip("set DARKSECRETS_TEST_DATA to the folder with framenet/links_473.tsv")
    annotations = read_tsv(Path(folder) / "framenet" / "links_473.tsv")
    spans = [words_of(one.sentence) for one in annotations]
    words = [
        [one.sentence[slice(*span)].lower() for span in of]
        for one, of in zip(annotations, spans, strict=True)
    ]
    counts, rng = families.counted(words), np.random.default_rng(0)
    found = []
    for one, of, own in zip(annotations, spans, words, strict=True):

        def tokens(span, of=of):
            return 1 + np.array([i for i, s in enumerate(of) if s[0] < span[1] and s[1] > span[0]])

        text = families.text_of(own, [tag(word) for word in own], counts)
        links = [(tokens(e.span), tokens(one.predicate)) for e in one.elements]
        found.append(Sentence(maps.heads(text, rng, noises=5), links, text.usable))
    return frames.together(found)


@pytest.fixture(scope="module")
def measured(published):
    return measure(published)


@pytest.mark.slow
def test_on_the_published_sentences_none_passes(measured):
    found, controls = tables(measured, draws=1999, seed=0)
    assert (found["sentences"] == 473).all()
    assert (controls.loc[controls["control"] == "place", "sentences"] == 473).all()
    known = found[found["head"] <= len(NAMES)]
    assert (known["p_value"] > 0.05).all(), known[known["p_value"] <= 0.05]
    assert not found["exceeds_controls"].any()


def test_only_the_place_stops_a_head_that_attends_to_the_farthest_word(measured):
    weights = measured.of(slice(*[NAMES.index(FARTHEST) + n for n in (0, 1)]))
    controls = tables(weights, 1999, 0)[1].query("direction == 'predicate_to_element'")
    p = controls.set_index("control")["p_value"]
    assert p.drop("place").max() < 0.01
    assert p["place"] > 0.2


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
