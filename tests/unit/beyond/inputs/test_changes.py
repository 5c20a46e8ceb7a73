"""Changed sentences: what they keep, what they lose, and which examples they apply to."""

import numpy as np
import pytest

from darksecrets.beyond.inputs import changes
from darksecrets.beyond.inputs.declared import (
    FIRST_ALONE,
    HALVED,
    NO_SUBJECT,
    OTHER_NAMES,
    SHUFFLED,
)


def annotated(text: str, *tokens: tuple[str, str, int, str]) -> dict:
    """A text with its tokens: word, tag, head, dependency."""
    found, end = [], 0
    for word, tag, head, dep in tokens:
        start = text.index(word, end)
        end = start + len(word)
        found.append(
            {"text": word, "start": start, "end": end, "tag": tag, "head": head, "dep": dep}
        )
    return {"text": text, "tokens": found}


ANN = annotated(
    "The old dog of Ann barked at Tom.",
    ("The", "DT", 2, "det"),
    ("old", "JJ", 2, "amod"),
    ("dog", "NN", 5, "nsubj"),
    ("of", "IN", 4, "case"),
    ("Ann", "NNP", 2, "nmod"),
    ("barked", "VBD", 5, "root"),
    ("at", "IN", 7, "case"),
    ("Tom", "NNP", 5, "obl"),
    (".", ".", 5, "punct"),
)
RAIN = annotated("Go!", ("Go", "VB", 0, "root"), ("!", ".", 0, "punct"))
SUE = annotated(
    "Sue slept.", ("Sue", "NNP", 1, "nsubj"), ("slept", "VBD", 1, "root"), (".", ".", 1, "punct")
)
PASSIVE = annotated(
    "Ann was seen.",
    ("Ann", "NNP", 2, "nsubj:pass"),
    ("was", "VBD", 2, "aux"),
    ("seen", "VBN", 2, "root"),
    (".", ".", 2, "punct"),
)


def test_subjects_go_with_all_that_depends_on_them():
    assert changes.remove_subjects(ANN) == "barked at Tom."
    assert changes.remove_subjects(RAIN) == "Go!"
    assert changes.remove_subjects(PASSIVE) == "was seen."


def test_halves_are_the_first_words():
    assert changes.halve("one two three four") == "one two"
    assert changes.halve("one two three.") == "one two"
    assert changes.halve("one two three") == "one two"
    assert changes.halve("one") == "one"


@pytest.mark.parametrize("text", ["a b c d", "Don't stop, now.", "私は犬が好き"])
def test_shuffled_words_are_the_same_in_another_order(text):
    for seed in range(20):
        found = changes.shuffle(text, np.random.default_rng(seed))
        assert sorted(found.replace(" ", "")) == sorted(text.replace(" ", ""))
        assert found.split() != text.split()
        assert sorted(found.split()) == sorted(text.split()) or " " not in text
    assert changes.shuffle("no no no", np.random.default_rng(0)) == "no no no"


def test_a_name_becomes_another_one_the_same_in_both_sentences():
    pairs = [{"sentence1": ANN, "sentence2": SUE}, {"sentence1": SUE, "sentence2": SUE}]
    first, second = changes.exchange_names(pairs, ["sentence1", "sentence2"], 0)
    assert first["sentence1"].startswith("The old dog of ")
    assert "Ann" not in first["sentence1"]
    assert not first["sentence1"].endswith("Tom.")
    assert second["sentence1"] == second["sentence2"] != "Sue slept."
    assert second["sentence1"].split()[0] in ("Ann", "Tom")


def test_a_name_has_one_other_in_all_places_of_an_example_and_not_in_all_examples():
    repeated = [{"sentence1": SUE, "sentence2": ANN, "sentence3": SUE} for _ in range(30)]
    rows = changes.exchange_names(repeated, ["sentence1", "sentence2", "sentence3"], 0)
    assert all(row["sentence1"] == row["sentence3"] for row in rows)
    assert {row["sentence1"] for row in rows} == {"Ann slept.", "Tom slept."}


def test_examples_that_a_change_does_not_touch_are_left_out():
    columns = {"sentence1": [ANN["text"], "Go!", "Sue slept."]}
    found = changes.change_all(columns, [{"sentence1": each} for each in (ANN, RAIN, SUE)], 0)
    assert found[NO_SUBJECT].examples.tolist() == [True, False, True]
    assert found[NO_SUBJECT].columns == {"sentence1": ["barked at Tom.", "slept."]}
    assert found[OTHER_NAMES].examples.tolist() == [True, False, True]
    assert found[SHUFFLED].columns["sentence1"][1] == "!Go"
    assert found[HALVED].examples.tolist() == [True, True, True]
    assert FIRST_ALONE not in found
    pairs = {**columns, "sentence2": ["a b", "c d", "e f"]}
    plain = changes.change_all(pairs, None, 0)
    assert set(plain) == {SHUFFLED, HALVED, FIRST_ALONE}
    assert plain[FIRST_ALONE].columns == {"sentence1": columns["sentence1"]}
    again = changes.change_all(pairs, None, 0)
    assert plain[SHUFFLED].columns == again[SHUFFLED].columns
