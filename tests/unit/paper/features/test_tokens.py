"""From annotated words to word pieces: awkward text, related pairs, words in both sentences."""

import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from transformers import AutoTokenizer

from darksecrets.core.data.alignment import overlaps, tokens_of_span
from darksecrets.core.data.encoding import encode
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.features import tokens
from darksecrets.paper.features.labels import FEATURES

FIRST = (
    "Don't “naïve” Zoë's 3,000-year-old co-operation can’t cost $2.50 … 😀 ok?! Ångström\u00a0x̂qz"
)
SECOND = "  She won't re-read café's  e\u0301tude #1 (U.S.) — „why“ ，日本 isn't it's Don't"


@pytest.fixture(scope="module")
def tokenizer(root_of_project):
    return AutoTokenizer.from_pretrained(RESOURCES / "tiny-bert")


@pytest.fixture(scope="module")
def root_of_project(request):
    return request.config.rootpath


def split(text):
    """Words as a parser of English splits them: clitics and punctuation are separate."""
    pattern = r"(?:\w|\u0301|\u0302)+?(?=n['’]t\b)|n['’]t\b|['’]s\b|(?:\w|\u0301|\u0302)+|[^\w\s]"
    return [
        {"text": m[0], "start": m.start(), "end": m.end(), "tag": "XX", "dep": "dep", "head": 0}
        | {"antecedent": None}
        for m in re.finditer(pattern, text)
    ]


def layout(tokenizer, first, second, max_length=128):
    columns = {"sentence1": [first], "sentence2": [second]}
    encoded = encode(columns, tokenizer, max_length, layout=True)
    pieces = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    arrays = (
        np.array(encoded["offset_mapping"][0]),
        np.array(encoded["segments"][0]),
        np.array(encoded["special_tokens_mask"][0], dtype=bool),
    )
    return pieces, *arrays


def plain(text):
    """Lower case, without accents: what the tokenizer makes of a text."""
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in letters if unicodedata.category(c) != "Mn")


@pytest.mark.parametrize("max_length", [128, 41, 12])
def test_awkward_text(tokenizer, max_length):
    pieces, offsets, segments, special = layout(tokenizer, FIRST, SECOND, max_length)
    assert len(pieces) == max_length or max_length == 128
    for number, text in enumerate((FIRST, SECOND)):
        words = split(text)
        assert {"Do", "n't"} <= {word["text"] for word in words}
        spans = np.array([[word["start"], word["end"]] for word in words])
        found = overlaps(offsets, segments, special, number, spans)
        seen = {
            (token, word)
            for token in range(len(pieces))
            if segments[token] == number and not special[token]
            for character in range(*offsets[token])
            for word in range(len(words))
            if words[word]["start"] <= character < words[word]["end"]
        }
        assert {tuple(cell) for cell in np.argwhere(found)} == seen
        for word, (start, end) in enumerate(spans):
            one = tokens_of_span(offsets, segments, special, number, start, end)
            assert np.array_equal(one, np.flatnonzero(found[:, word]))
        # Every piece is of some word, and says the same as the characters it stands for.
        for token in np.flatnonzero((segments == number) & ~special):
            assert found[token].any(), pieces[token]
            start, end = offsets[token]
            if pieces[token] != tokenizer.unk_token:
                assert pieces[token].removeprefix("##") == plain(text[start:end])
        if max_length == 128:
            assert found.any(axis=0).all(), "no word is lost"
    assert tokenizer.unk_token in pieces or max_length != 128


def word(start, text, tag="XX", dep="dep", head=0, antecedent=None):
    return {"text": text, "start": start, "end": start + len(text), "tag": tag, "dep": dep} | {
        "head": head,
        "antecedent": antecedent,
    }


# [CLS] kim ' s do ##g bark ##s [SEP] It barks , kim [SEP]
OFFSETS = np.array(
    [
        [0, 0],
        [0, 3],
        [3, 4],
        [4, 5],
        [6, 8],
        [8, 9],
        [10, 14],
        [14, 15],
        [0, 0],
        [0, 2],
        [3, 8],
        [8, 9],
        [10, 13],
        [0, 0],
    ]
)
SEGMENTS = np.array([0] * 9 + [1] * 5)
SPECIAL = np.isin(np.arange(14), [0, 8, 13])
SENTENCES = [
    [
        word(0, "Kim", "NNP", "poss", 2),
        word(3, "'s", "POS", "case", 0),
        word(6, "dog", "NN", "nsubj", 3),
        word(10, "barks", "VBZ", "ROOT", 3),
    ],
    [
        word(0, "It", "PRP", "nsubj", 1, antecedent=3),
        word(3, "barks", "VBZ", "ROOT", 1),
        word(8, ",", ",", "punct", 1),
        word(10, "kim", "NN", "nsubj", 2),  # its head is no verb
    ],
]


COUNTS = Counter({"kim": 2, "barks": 3, "it": 1, ",": 6, "dog": 4, "'s": 1})


def test_features_pairs_and_equal_words_of_an_example():
    found = tokens.describe_example(3, SENTENCES, OFFSETS, SEGMENTS, SPECIAL, COUNTS)
    having = {
        name: np.flatnonzero(has).tolist()
        for name, has in zip(FEATURES, found.features.T, strict=True)
    }
    assert having == {
        "noun": [1, 4, 5, 12],
        "verb": [6, 7, 10],
        "pronoun": [9],
        "subject": [4, 5, 9, 12],
        "object": [],
        "negation": [],
        "punctuation": [11],
        "[CLS]": [0],
        "[SEP]": [8, 13],
    }
    verb_subject, subject_verb, pronoun_noun, noun_pronoun = (p.tolist() for p in found.pairs)
    assert verb_subject == [[6, 4], [6, 5], [7, 4], [7, 5], [10, 9]]
    assert subject_verb == [[4, 6], [4, 7], [5, 6], [5, 7], [9, 10]]
    assert (pronoun_noun, noun_pronoun) == ([[9, 12]], [[12, 9]])
    # "barks" is bark + ##s in the first and one piece in the second sentence
    assert found.equal.tolist() == [[1, 12], [6, 10], [10, 6], [12, 1]]
    # "Kim" and "kim" are one word; of what shares a piece, the first word counts
    assert found.words[[1, 12]].tolist() == [0, 0]
    assert len(set(found.words[[4, 6, 7, 10]].tolist())) == 2
    assert found.words[SPECIAL].tolist() == [-1] * SPECIAL.sum()
    assert found.forms[[1, 6, 9, 11], :2].tolist() == [[3, 2], [5, 2], [2, 1], [1, 3]]
    letters = [[chr(letter) for letter in letters] for letters in found.forms[[1, 6], 2:].tolist()]
    assert letters == [["k", "m"], ["b", "s"]]


def test_a_single_sentence_has_no_equal_words():
    found = tokens.describe_example(
        3, SENTENCES[:1], OFFSETS[:9], SEGMENTS[:9], SPECIAL[:9], COUNTS
    )
    assert found.equal.shape == (0, 2)


def test_an_example_without_words_has_special_tokens_only():
    found = tokens.describe_example(
        3, [[]], np.zeros((2, 2), int), np.zeros(2, int), np.ones(2, bool), Counter()
    )
    assert found.features[:, -2:].tolist() == [[True, False], [False, True]]
    assert not found.features[:, :-2].any()


def test_an_example_that_no_parser_read_has_tokens_without_words():
    found = tokens.describe_example(0, [], OFFSETS, SEGMENTS, SPECIAL, Counter())
    assert not found.features[:, :-2].any()
    assert len(found.segments) == len(SEGMENTS)


def test_an_annotation_that_lacks_an_example_is_named(tmp_path):
    class Store:
        origin, idx = "store", np.array([4, 9])

    (tmp_path / "a.jsonl").write_text('{"idx": 9, "sentence1": {"text": "", "tokens": []}}\n')
    with pytest.raises(InputError, match=r"a\.jsonl lacks 1 examples of store, such as idx 4"):
        tokens.describe(Store(), tmp_path / "a.jsonl")


def test_a_piece_that_is_of_both_words_of_a_pair_is_not_paired_with_itself():
    """One piece, "it's", is of a subject and its verb: it attends to no other."""
    words = [word(0, "it", "PRP", "nsubj", 1), word(2, "'s", "VBZ", "ROOT", 1), word(5, "so")]
    offsets = np.array([[0, 0], [0, 4], [5, 7], [0, 0]])
    special = np.array([True, False, False, True])
    found = tokens.describe_example(1, [words], offsets, np.zeros(4, int), special, Counter())
    assert [pairs.tolist() for pairs in found.pairs] == [[]] * 4
    offsets = np.array([[0, 0], [0, 3], [2, 4], [0, 0]])  # the first piece is of both words
    found = tokens.describe_example(1, [words], offsets, np.zeros(4, int), special, Counter())
    assert found.pairs[0].tolist() == [[2, 1]]
    assert found.pairs[1].tolist() == [[1, 2]]
