"""Treebanks as files of a run, and classes of tags."""

import pytest
from shipped_sentences import draw_sentences, draw_stories

from darksecrets.core.data import treebank
from darksecrets.core.data.treebank import word_class


def test_a_file_holds_all_of_a_treebank(tmp_path):
    sentences = draw_sentences(100, 3) + draw_stories(20, 3)
    file = tmp_path / "treebank.jsonl"
    treebank.write(sentences, file)
    assert treebank.read(file) == sentences


@pytest.mark.parametrize(
    ("tags", "together"),
    [
        (("NN", "NNS", "NNP", "NNPS"), True),
        (("NOUN", "PROPN"), True),
        (("VBD", "VBZ"), True),
        (("ADJ", "ADP", "ADV"), False),
        (("PRON", "PROPN"), False),
        (("PRP", "NN"), False),
    ],
)
def test_classes_of_words_are_those_of_either_set_of_tags(tags, together):
    assert len({word_class(tag) for tag in tags}) == (1 if together else len(tags))
