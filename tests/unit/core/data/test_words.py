"""Words of texts in many scripts, as a reader would count them."""

import re
import unicodedata

import pytest
from glue import TASKS

from darksecrets.core.data import files
from darksecrets.core.data.words import spans_of, words_of
from darksecrets.core.run.files import RESOURCES

WORDS = {
    "The cat isn't here!": ["The", "cat", "isn", "'", "t", "here", "!"],
    "snake_case 3.14": ["snake_case", "3", ".", "14"],
    "1000km² ½": ["1000km²", "½"],
    "这部电影真的很好。": ["这", "部", "电", "影", "真", "的", "很", "好", "。"],
    "我有3只cats": ["我", "有", "3", "只", "cats"],
    "コーヒーを飲む": ["コ", "ー", "ヒ", "ー", "を", "飲", "む"],
    "मैं हिन्दी बोलता हूँ": ["मैं", "हिन्दी", "बोलता", "हूँ"],
    "ที่นี่": ["ที่", "นี่"],
    "مَرْحَبًا بالعالم": ["مَرْحَبًا", "بالعالم"],
    "안녕하세요 세계": ["안녕하세요", "세계"],
    "Кошка спит": ["Кошка", "спит"],
    "👍 ok": ["👍", "ok"],
    " \t\n": [],
}


@pytest.mark.parametrize("text", WORDS)
def test_words_of_a_text(text):
    assert words_of(text) == WORDS[text]
    assert [text[start:end] for start, end in spans_of(text)] == words_of(text)


@pytest.mark.parametrize("text", ["café", "Ünïcödé", "हिन्दी", "안녕"])
def test_a_word_is_the_same_composed_and_decomposed(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert words_of(decomposed) == words_of(composed)
    assert len(spans_of(decomposed)) == 1


@pytest.mark.parametrize("name", TASKS)
def test_words_of_english_are_those_of_a_plain_pattern(name):
    plain = re.compile(r"\w+|[^\w\s]")
    for row in files.text_of(RESOURCES / "corpus" / name / "train.tsv").splitlines():
        assert words_of(row) == plain.findall(row)
