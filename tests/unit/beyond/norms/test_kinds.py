"""Kinds of tokens, for tokenizers that mark word pieces in different ways."""

from pathlib import Path

import numpy as np
import pytest
from encoders import FAMILIES

from darksecrets.beyond.norms.declared import FREQUENT, KINDS, OTHER
from darksecrets.beyond.norms.measure.kinds import kinds_of
from darksecrets.core.attention.extraction import encode_longest_first
from darksecrets.core.models.tokenizing import load_tokenizer

TEXTS = {
    "idx": [7, 4],
    "sentence1": ["The cat, the cat, the horses …", "The cat sleeps on “the” chair!"],
    "sentence2": ["Painter?", "The cat."],
}


def described(family: str, folder: Path, texts=TEXTS) -> list[tuple[list[str], list[str]]]:
    """Of every example, in the order given, the text and the kind of each token."""
    tokenizer = load_tokenizer(FAMILIES[family].save(folder))
    table, _ = encode_longest_first(texts, tokenizer, 64)
    found = {}
    for row, flags in zip(table.to_dict("records"), kinds_of(table, texts), strict=True):
        assert (flags[:, KINDS.index("special")] == np.array(row["special"])).all()
        apart = np.delete(flags, KINDS.index("special"), axis=1)
        assert (apart.sum(axis=1) == 1).all(), "every token is of one kind"
        names = [kind for kind in KINDS if kind != "special"]
        words = [
            texts[f"sentence{segment + 1}"][texts["idx"].index(row["idx"])][start:end].strip()
            for segment, start, end in zip(row["segments"], row["starts"], row["ends"], strict=True)
        ]
        found[row["idx"]] = words, [names[number] for number in apart.argmax(axis=1)]
    return [found[idx] for idx in texts["idx"]]


@pytest.mark.parametrize("family", ["BERT", "RoBERTa", "ALBERT"])
def test_special_tokens_and_punctuation(family, tmp_path):
    for words, kinds in described(family, tmp_path):
        assert kinds[0] == "first special"
        assert kinds[-1] == "separator"
        assert kinds.count("separator") == (3 if family == "RoBERTa" else 2)
        marks = {word for word, kind in zip(words, kinds, strict=True) if kind == "punctuation"}
        letters = {
            word for word, kind in zip(words, kinds, strict=True) if kind in (FREQUENT, OTHER)
        }
        assert marks
        assert all(not any(map(str.isalnum, mark)) for mark in marks)
        assert not marks & letters
        assert "," not in letters


def test_frequent_words_are_more_frequent_than_the_median_token(tmp_path):
    texts = {
        "idx": [0, 1],
        "sentence1": ["the the the the she she old", "horses painter old"],
    }
    (words, kinds), (_, others) = described("BERT", tmp_path, texts)
    by_word = dict(zip(words, kinds, strict=True))
    assert by_word["the"] == FREQUENT
    assert set(others) - {"first special", "separator"} == {OTHER}


def test_words_that_are_all_as_frequent_are_not_frequent(tmp_path):
    ((_, kinds),) = described("BERT", tmp_path, {"idx": [0], "sentence1": ["cat horse"]})
    assert set(kinds[1:-1]) == {OTHER}
