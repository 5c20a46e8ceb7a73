"""Sentences with a masked word: read, answered as in a loop, compared between conditions."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from darksecrets.beyond.predictions.cloze import Item, read_items
from darksecrets.beyond.predictions.declared import CLOZE
from darksecrets.beyond.predictions.measure.answering import (
    Answer,
    answerable,
    answers,
    cloze_rows,
)
from darksecrets.core.models.loading import load_masked
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify

TINY = RESOURCES / "tiny-bert"
LONGEST = 128
SHIPPED = read_items(RESOURCES / "corpus" / "cloze.jsonl")


def test_sentences_that_ship_have_conditions_and_no_answer_that_is_mostly_right():
    sets = Counter((item.group, item.condition) for item in SHIPPED)
    assert sets == {
        ("facts", "affirmed"): 60,
        ("facts", "negated"): 60,
        ("roles", "original"): 60,
        ("roles", "reversed"): 60,
        ("pronouns", ""): 60,
    }
    for group, condition in sets:
        rights = Counter(i.right for i in SHIPPED if (i.group, i.condition) == (group, condition))
        assert max(rights.values()) < 45


def test_lines_of_lama_are_read_like_ours(tmp_path):
    (tmp_path / "P36.jsonl").write_text(
        json.dumps({"masked_sentences": ["Paris is the capital of [MASK]."], "obj_label": "France"})
        + "\n"
        + json.dumps({"sentence": "A robin is not a [MASK].", "right": "bird", "set": "negation"})
        + "\n"
        + json.dumps({"sentence": "A robin is not a [MASK].", "right": "bird", "set": "negation"})
        + "\n",
        encoding="utf-8",
    )
    first, second = read_items(tmp_path)
    assert (first.right, first.group, first.condition) == ("France", "P36", "")
    assert (second.group, second.number) == ("negation", "P36.jsonl 2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1: expected a JSON object"),
        (json.dumps({"sentence": "A [MASK]."}), "line 1: expected a JSON object"),
        (json.dumps({"sentence": "A dog.", "right": "dog"}), r"must have \[MASK\] once"),
        (json.dumps({"sentence": "A [MASK].", "right": " "}), "the word that belongs there"),
        ("\n", "has no sentences"),
        ((json.dumps({"sentence": "A [MASK].", "right": "a", "item": 1}) + "\n") * 2, "twice"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, content, message):
    file = tmp_path / "a.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_items(file)


def test_answers_are_those_of_a_loop_one_sentence_at_a_time():
    model, tokenizer = load_masked(TINY), load_tokenizer(TINY)
    items, left_out = answerable(tokenizer, SHIPPED[::7], LONGEST)
    assert sum(left_out.values()) == len(SHIPPED[::7]) - len(items)
    reference = AutoModelForMaskedLM.from_pretrained(TINY).eval()
    for answer in answers(model, tokenizer, items):
        text = answer.item.sentence.replace("[MASK]", tokenizer.mask_token)
        encoded = tokenizer(text, return_tensors="pt")
        place = encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        with torch.no_grad():
            logits = reference(**encoded).logits[0, place].double()
        piece = tokenizer.convert_tokens_to_ids(answer.item.right.lower())
        order = logits.argsort(descending=True).tolist()
        assert answer.rank == order.index(piece) + 1
        assert answer.best == order[0]
        expected = float(torch.log_softmax(logits, 0)[piece])
        assert answer.log_probability == pytest.approx(expected, abs=1e-3)


def test_an_encoder_that_prefers_no_word_is_never_right():
    model, tokenizer = load_masked(TINY), load_tokenizer(TINY)
    with torch.no_grad():
        model.get_output_embeddings().weight.zero_()
        model.get_output_embeddings().bias.zero_()
    items, _ = answerable(tokenizer, SHIPPED[::7], LONGEST)
    ranks = {answer.rank for answer in answers(model, tokenizer, items)}
    assert ranks == {model.config.vocab_size}


@pytest.mark.parametrize("sentence", ["the dog sees the [MASK].", "the [MASK], the dog", "[MASK]!"])
def test_punctuation_beside_the_gap_is_no_part_of_the_word(sentence):
    item = Item(sentence, "cat", "made up", "", "1")
    kept, left_out = answerable(load_tokenizer(TINY), [item], LONGEST)
    assert (kept, left_out) == ([item], Counter())


def test_words_of_several_pieces_are_left_out_and_counted():
    tokenizer = load_tokenizer(TINY)
    long = Item("A dog is a [MASK].", "misunderstanding", "x", "", "1")
    short = Item("Emma was sad because [MASK] slept.", "she", "x", "", "2")
    kept, left_out = answerable(tokenizer, [long, short], LONGEST)
    assert kept == [short]
    assert left_out == {"x": 1}
    with pytest.raises(InputError, match="is a single piece"):
        answerable(tokenizer, [long], LONGEST)


def test_sentences_that_the_encoder_cannot_read_are_left_out_and_counted():
    model, tokenizer = load_masked(TINY), load_tokenizer(TINY)
    positions = model.config.max_position_embeddings
    words = " ".join(["dog"] * (positions - 6))
    whole = Item(f"{words} and [MASK] slept.", "she", "x", "", "1")
    long = Item(f"dog {whole.sentence}", "she", "x", "", "2")
    kept, left_out = answerable(tokenizer, [long, whole], positions)
    assert (kept, left_out) == ([whole], {"x": 1})
    assert len(answers(model, tokenizer, kept)) == 1
    with pytest.raises(InputError, match=f"at most {positions} tokens"):
        answerable(tokenizer, [long], positions)


def made(condition: str, ranks: list[int], best: list[int], logs: list[float]) -> list[Answer]:
    return [
        Answer(Item("[MASK]", "ab"[n % 2], "s", condition, str(n)), rank, log, own)
        for n, (rank, own, log) in enumerate(zip(ranks, best, logs, strict=True))
    ]


def test_shares_and_changes_are_those_of_the_definitions(tmp_path):
    plain = made("plain", [1, 1, 20, 5], [7, 7, 8, 9], [-1, -2, -3, -4])
    other = made("other", [2, 1, 1, 30], [7, 6, 8, 9], [-2, -2, -2, -6])
    rows = cloze_rows([*plain, *other], Counter()).set_index("condition")
    assert rows.loc["plain", "first"] == 0.5
    assert rows.loc["plain", "first_ten"] == 0.75
    assert rows.loc["plain", "reciprocal_rank"] == pytest.approx(np.mean([1, 1, 1 / 20, 1 / 5]))
    assert rows.loc["plain", "majority"] == 0.5
    assert math.isnan(rows.loc["plain", "same"])
    assert rows.loc["other", "same"] == 0.75
    assert rows.loc["other", "change"] == pytest.approx(np.mean([-1, 0, 1, -2]))
    assert rows.loc["other", "change_low"] < 0 < rows.loc["other", "change_high"]
    table = identify(rows.reset_index(), None, "pretrained").reindex(columns=list(CLOZE.names))
    CLOZE.write(table, tmp_path / "t.csv")
    assert len(CLOZE.read(tmp_path / "t.csv")) == 2
