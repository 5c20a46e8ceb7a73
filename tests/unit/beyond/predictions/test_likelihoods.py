"""Likelihoods against plain loops; what knows nothing is right in half of the pairs."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from transformers import AutoModelForMaskedLM

from darksecrets.beyond.predictions.declared import MINIMAL_PAIRS
from darksecrets.beyond.predictions.measure.judging import choose_pairs, judge
from darksecrets.beyond.predictions.measure.likelihoods import NGrams, pseudo_log_likelihoods
from darksecrets.beyond.predictions.pairs import Pair, read_pairs
from darksecrets.core.models.loading import Draw, draw_from_normal, load_masked
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify

TINY = RESOURCES / "tiny-bert"
LONGEST = 128
TEXTS = ["The dog slept.", "Unbelievable screwdrivers were sold to Alice.", "No."]
PAIRS = read_pairs(RESOURCES / "corpus" / "pairs.jsonl")


@pytest.fixture(scope="module")
def tiny():
    return load_masked(TINY), load_tokenizer(TINY)


@pytest.mark.parametrize("whole_words", [False, True])
def test_likelihoods_are_those_of_a_loop_over_words(tiny, whole_words):
    model, tokenizer = tiny
    found = pseudo_log_likelihoods(model, tokenizer, TEXTS, whole_words=whole_words)
    reference = AutoModelForMaskedLM.from_pretrained(TINY).eval()
    for text, total in zip(TEXTS, found, strict=True):
        encoded = tokenizer(text, return_tensors="pt")
        ids, words = encoded["input_ids"][0], encoded.word_ids()
        expected = 0.0
        for place in range(1, len(ids) - 1):
            masked = ids.clone()
            masked[place] = tokenizer.mask_token_id
            if whole_words:
                for later in range(place + 1, len(ids)):
                    if words[later] == words[place]:
                        masked[later] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = reference(input_ids=masked[None]).logits[0, place].double()
            expected += float(torch.log_softmax(logits, 0)[ids[place]])
        assert total == pytest.approx(expected, abs=1e-3)
    assert any("##" in piece for piece in tokenizer.tokenize(TEXTS[1])), "words have several pieces"


def test_counts_are_those_of_a_loop():
    tokenizer = load_tokenizer(TINY)
    texts = ["The dog slept.", "The dog was old.", "A cat slept."]
    counts = NGrams(tokenizer, texts)
    sequences = [tokenizer(text)["input_ids"] for text in texts]
    single = Counter(number for ids in sequences for number in ids[1:])
    pairs = Counter(pair for ids in sequences for pair in itertools.pairwise(ids))
    ids = tokenizer("The cat slept.")["input_ids"]
    one = [math.log((single[n] + 1) / (sum(single.values()) + len(tokenizer))) for n in ids[1:]]
    assert counts.log_likelihoods(["The cat slept."], pairs=False)[0] == pytest.approx(sum(one))
    two = 0.0
    for (before, number), alone in zip(itertools.pairwise(ids), one, strict=True):
        after = sum(count for pair, count in pairs.items() if pair[0] == before)
        share = pairs[before, number] / after if after else None
        two += alone if share is None else math.log(0.9 * share + 0.1 * math.exp(alone))
    assert counts.log_likelihoods(["The cat slept."], pairs=True)[0] == pytest.approx(two)


def test_random_weights_are_right_in_half_of_the_pairs(tiny, tmp_path):
    model, tokenizer = load_masked(TINY), tiny[1]
    draw = Draw.of("random/seed-1", 0.02)
    draw_from_normal(model, draw.seed, draw.std)
    some = choose_pairs(PAIRS, 60, 0)
    rows = judge(model, tokenizer, NGrams(tokenizer, []), some, LONGEST)
    weighted = float((rows["accuracy"] * rows["pairs"]).sum() / rows["pairs"].sum())
    assert weighted == pytest.approx(0.5, abs=0.12)
    table = identify(rows, None, "random/seed-1")
    MINIMAL_PAIRS.write(table.reindex(columns=list(MINIMAL_PAIRS.names)), tmp_path / "t.csv")
    assert len(MINIMAL_PAIRS.read(tmp_path / "t.csv")) == 6


def test_counts_of_nothing_are_equal_and_count_half(tiny):
    model, tokenizer = tiny
    pairs = [Pair("The dog slept.", "The cat slept.", "x"), Pair("A dog.", "A cat.", "x")]
    row = judge(model, tokenizer, NGrams(tokenizer, []), pairs, LONGEST).iloc[0]
    assert row["unigrams"] == row["bigrams"] == 0.5
    assert row["pairs"] == 2


def test_unknown_words_are_left_out_and_counted(tiny):
    model, tokenizer = tiny
    strange = Pair("The dog 犬.", "The cat 犬.", "x")
    known = Pair("The dog slept.", "The dog sleep.", "x")
    row = judge(model, tokenizer, NGrams(tokenizer, []), [strange, known], LONGEST).iloc[0]
    assert (row["pairs"], row["left_out"]) == (1, 1)
    with pytest.raises(InputError, match="Of none of the 1 pairs"):
        judge(model, tokenizer, NGrams(tokenizer, []), [strange], LONGEST)


def test_pairs_that_the_encoder_cannot_read_are_left_out_and_counted(tiny):
    model, tokenizer = tiny
    positions = model.config.max_position_embeddings
    words = "very " * positions
    long = Pair(f"The dog is {words} old.", f"The dog are {words} old.", "x")
    short = Pair("The dog slept.", "The dog sleep.", "x")
    row = judge(model, tokenizer, NGrams(tokenizer, []), [long, short], positions).iloc[0]
    assert (row["pairs"], row["left_out"]) == (1, 1)
    with pytest.raises(InputError, match=f"makes at most {positions} tokens") as error:
        judge(model, tokenizer, NGrams(tokenizer, []), [long], positions)
    assert len(str(error.value)) < 400, "the sentence is cut"


def test_pairs_are_drawn_by_kind():
    some = choose_pairs([*PAIRS, *PAIRS], 25, 3)
    assert len(some) == len(set(some)) == 6 * 25
    assert choose_pairs(PAIRS, 1000, 3) == PAIRS


def test_a_checkpoint_without_a_head_is_refused(tmp_path):
    folder = FAMILIES["BERT"].save(tmp_path / "model")
    with pytest.raises(InputError, match="no head that predicts masked words"):
        load_masked(folder)
    assert np.isfinite(
        pseudo_log_likelihoods(load_masked(TINY), load_tokenizer(TINY), ["A."])
    ).all()
