"""Section 4.2 on heads that know nothing: none may stand out; heads that follow links must."""

import os
from pathlib import Path

import numpy as np
import pytest
from adversarial import frames, maps
from adversarial.maps import ADVERSARIES, Text
from scipy.stats import binom

from darksecrets.framenet import heads
from darksecrets.framenet.heads import Sentence, elsewhere, greatest, measure, table
from darksecrets.framenet.links import words_of
from darksecrets.framenet.sources import from_tsv
from darksecrets.stats.paired import sign_flips

NAMES = list(ADVERSARIES)


@pytest.fixture(scope="module")
def tables():
    """Tables of 25 made-up corpora of 60 sentences; each has 30 heads of noise and 1 that knows."""
    rng = np.random.default_rng(0)
    every = [*ADVERSARIES.values(), *[maps.noise] * 30]
    return [
        frames.measured(frames.corpus(rng, every, [(2 / 3, 0.5)]), draws=999, seed=corpus)
        for corpus in range(25)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_head_of_one_place_class_or_distance_passes(tables, name):
    """Each has exactly nothing left in one of the controls, however many corpora are drawn."""
    for found in tables:
        rows = found[found["head"] == NAMES.index(name) + 1]
        assert (rows["p_value"] > 0.05).all()
        assert not rows["stands_out"].any()


def test_noise_passes_no_more_often_than_stated(tables):
    noise = [found[found["head"].between(len(NAMES) + 1, len(NAMES) + 30)] for found in tables]
    passed = [rows["p_value"] < 0.05 for rows in noise]
    total = sum(len(rows) for rows in passed)
    assert sum(rows.sum() for rows in passed) <= binom.ppf(0.999, total, 0.05)
    for control in ("over_control_p", "over_unlinked_p", "excess_p", "excess_product_p"):
        share = np.mean([rows[control] < 0.05 for rows in noise])
        assert 0.02 < share < 0.08, f"{control}: neither too small nor too large"
    families = sum(bool(rows["stands_out"].any()) for rows in noise)
    assert families <= binom.ppf(0.999, len(tables), 0.05)


def test_heads_that_follow_links_pass(tables):
    knows = [found[found["head"] == found["head"].max()] for found in tables]
    assert np.mean([rows["stands_out"].mean() for rows in knows]) > 0.9
    assert all((rows["p_value"] < 0.05).all() for rows in knows)


def test_heads_that_treat_words_alike_in_all_sentences_pass_no_more_often_than_stated():
    """Random weights: the score of two words is random, but the same in every sentence."""
    rng = np.random.default_rng(1)
    passed, families, alone = [], [], []
    for corpus in range(15):
        sentences = frames.alike(rng)
        found = frames.measured(sentences, draws=499, seed=corpus)
        passed.append((found["p_value"] < 0.05).mean())
        families.append(bool(found["stands_out"].any()))
        unaware = [Sentence(s.maps, s.links, s.usable) for s in sentences]
        alone.append((frames.measured(unaware, draws=499, seed=corpus)["excess_p"] < 0.05).mean())
    assert np.mean(passed) < 0.05
    assert sum(families) <= binom.ppf(0.999, len(families), 0.05)
    assert np.mean(alone) > 0.08, "sentences are not independent"


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
    assert not found["stands_out"].any()


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
