"""Tokenizing: truncation, layout and the model's inputs."""

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset
from tiny_models import bert_tokenizer, roberta_tokenizer
from transformers import CanineTokenizer

from darksecrets.core.data.encoding import encode
from darksecrets.core.run.errors import InputError

PAIR = {
    "sentence1": ["Unbelievable  dogs don't bark.", "The dog."],
    "sentence2": ["Dogs bark.", "The naïve dogs"],
    "label": [0, 1],
}


def test_offsets_point_to_the_characters_of_each_sentence():
    tokenizer = bert_tokenizer()
    encoded = encode(PAIR, tokenizer, 64, layout=True)
    found = []
    for row in range(2):
        columns = zip(
            encoded["segments"][row],
            encoded["offset_mapping"][row],
            encoded["special_tokens_mask"][row],
            strict=True,
        )
        for segment, (start, end), special in columns:
            text = PAIR[("sentence1", "sentence2")[segment]][row]
            assert special == (start == end)
            found.append(text[start:end])
    assert "|".join(found) == (
        "|Un|believ|able|dog|s|don|'|t|bark|.||Dog|s|bark|.|||The|dog|.||The|naïve|dog|s|"
    )


def test_segments_without_segment_ids():
    encoded = encode(PAIR, roberta_tokenizer(), 64, layout=True)
    assert "token_type_ids" not in encoded
    # <s> the dog . </s> </s> the naïve dogs </s>
    assert encoded["segments"][1] == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert encoded["special_tokens_mask"][1] == [1, 0, 0, 0, 1, 1, 0, 0, 0, 1]


def test_pairs_lose_tokens_of_the_longer_sentence():
    tokenizer = bert_tokenizer()
    encoded = encode(PAIR, tokenizer, 12)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    cut = "[CLS] un ##believ ##able dog ##s [SEP] dog ##s bark . [SEP]"
    assert tokens == cut.split()
    assert len(encoded["input_ids"][1]) == 10  # short enough: whole, and not padded


@pytest.mark.parametrize(
    "texts",
    [
        ("The dog.", "A dog."),
        np.array(["The dog.", "A dog."]),
        pd.Series(["The dog.", "A dog."]),
        Dataset.from_dict({"x": ["The dog.", "A dog."]})["x"],
        (text for text in ("The dog.", "A dog.")),
    ],
    ids=["tuple", "array", "series", "column", "generator"],
)
def test_any_sequence_of_texts_is_one_of_examples(texts):
    expected = encode({"sentence1": ["The dog.", "A dog."]}, bert_tokenizer(), 64)
    assert encode({"sentence1": texts}, bert_tokenizer(), 64) == expected


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"sentence1": "a cat ."}, ["the text 'a cat .'", "['a cat .']"]),
        ({"sentence1": ["a", None]}, ["sentence1[1]", "None"]),
        ({"sentence1": ["a", float("nan")]}, ["sentence1[1]", "nan"]),
        ({"sentence1": ["a", ""]}, ["sentence1[1]", "''"]),
        ({"sentence1": [["a", "b"]]}, ["sentence1[0]"]),
        ({"sentence1": [b"a"]}, ["sentence1[0]", "b'a'"]),
        ({"sentence1": ["a"], "sentence2": "b"}, ["sentence2", "'b'"]),
        ({"sentence1": ["a"], "sentence2": ["b", "c"]}, ["1 in sentence1", "2 in sentence2"]),
        ({"sentence2": ["b"]}, ["sentence2", "as sentence1"]),
        ({"text": ["b"]}, ["text", "as sentence1"]),
        ({}, ["none"]),
    ],
    ids=str,
)
def test_columns_that_are_no_lists_of_texts_are_refused(columns, words):
    with pytest.raises(InputError) as caught:
        encode(columns, bert_tokenizer(), 64)
    for word in words:
        assert word in str(caught.value)


def test_longer_than_the_model_takes():
    with pytest.raises(InputError, match=r"max_length is 65 tokens, but the model takes 64"):
        encode(PAIR, bert_tokenizer(64), 65)


def test_a_tokenizer_without_offsets():
    assert encode(PAIR, CanineTokenizer(), 12)["input_ids"]
    with pytest.raises(InputError, match=r"CanineTokenizer.* does not report the positions"):
        encode(PAIR, CanineTokenizer(), 12, layout=True)
