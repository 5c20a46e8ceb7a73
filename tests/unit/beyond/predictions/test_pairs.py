"""Pairs in the layouts in which they are published, and messages about malformed ones."""

import json

import pytest

from darksecrets.beyond.predictions.pairs import Pair, read_pairs
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

BLIMP = {
    "sentence_good": "The cats annoy Tim.",
    "sentence_bad": "The cats annoys Tim.",
    "UID": "regular_plural_subject_verb_agreement_1",
    "linguistics_term": "subject_verb_agreement",
}


def test_blimp_and_tsv_are_read_alike_a_file_or_a_folder(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(BLIMP) + "\n\n", encoding="utf-8")
    (tmp_path / "goldberg.tsv").write_text(
        "sentence\tright\twrong\tattractors\n"
        "The game near the guards [MASK] bad .\tis\tare\t1\n"
        "The dogs ***mask*** .\tbark\tbarks\t\n",
        encoding="utf-8",
    )
    found = read_pairs(tmp_path)
    assert found == [
        Pair(BLIMP["sentence_good"], BLIMP["sentence_bad"], BLIMP["UID"]),
        Pair(
            "The game near the guards is bad .", "The game near the guards are bad .", "goldberg", 1
        ),
        Pair("The dogs bark .", "The dogs barks .", "goldberg"),
    ]
    assert read_pairs(tmp_path / "a.jsonl") == found[:1]


def test_pairs_that_ship_are_different_and_of_six_kinds():
    found = read_pairs(RESOURCES / "corpus" / "pairs.jsonl")
    kinds = {(pair.phenomenon, pair.attractors) for pair in found}
    assert len(found) == len(set(found)) == 360
    assert len(kinds) == 6
    for pair in found:
        right, wrong = pair.right.split(), pair.wrong.split()
        assert len(right) == len(wrong)
        assert sum(one != other for one, other in zip(right, wrong, strict=True)) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"sentence_good": "A."}\n', r"a\.jsonl, line 1: expected a JSON object"),
        ("a.jsonl", "\n{broken\n", r"a\.jsonl, line 2: expected a JSON object"),
        ("a.jsonl", json.dumps({**BLIMP, "sentence_bad": BLIMP["sentence_good"]}), "are the same"),
        ("a.jsonl", json.dumps({**BLIMP, "sentence_bad": " "}), "is empty"),
        ("a.jsonl", json.dumps({**BLIMP, "attractors": "two"}), "expected a number from 0"),
        ("a.jsonl", "", "has no pairs"),
        ("a.tsv", "sentence\tright\nThe [MASK]\tis\n", "line 2: expected the columns"),
        ("a.tsv", "sentence\tright\twrong\nThe dog\tis\tare\n", r"must have \[MASK\] once"),
        ("a.txt", None, "expected a file of pairs"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_pairs(tmp_path / name)


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"sentence\tright\twrong\n\xff [MASK]\ta\tb\n")
    with pytest.raises(InputError, match="not in UTF-8"):
        read_pairs(tmp_path / "a.tsv")
