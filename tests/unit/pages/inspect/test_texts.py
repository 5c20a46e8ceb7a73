"""Forms in which a user's text may be given, and messages for those in which it may not."""

import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.pages.inspect.texts import columns, digest, file_of, read

SENTENCES = [("The cat sat.",), ("It slept.",)]
PAIR = [("The cat sat.", "It slept.")]


@pytest.mark.parametrize(
    ("text", "examples"),
    [
        ("The cat sat.", SENTENCES[:1]),
        ("  The cat sat. \n\n It slept.\r\n", SENTENCES),
        ("The cat sat. ||| It slept.", PAIR),
        ("The cat sat.|||It slept.", PAIR),
        ("The cat sat.\tIt slept.", PAIR),
        (["The cat sat.", "It slept."], SENTENCES),
        ([["The cat sat.", "It slept."]], PAIR),
        ([("The cat sat.", "It slept."), "a ||| b"], [*PAIR, ("a", "b")]),
        ([["a | b"], "c"], [("a | b",), ("c",)]),
        ("$x$ {b} \u05e9\u05dc \U0001f600", [("$x$ {b} \u05e9\u05dc \U0001f600",)]),
        ("and/or", [("and/or",)]),
        ("I read notes yesterday", [("I read notes yesterday",)]),
        (["notes.txt"], [("notes.txt",)]),
        ("word " * 2000, [(("word " * 2000).strip(),)]),
    ],
)
def test_texts_in_every_form(text, examples):
    assert read(text) == examples


def test_files_have_an_example_a_line(tmp_path):
    file = tmp_path / "my text.txt"
    file.write_bytes("\ufeffThe cat sat.\tIt slept.\r\n\r\nÀ la carte ||| 中\u2028文\r\n".encode())
    assert file_of(str(file)) == file
    assert read(str(file)) == [*PAIR, ("À la carte", "中\u2028文")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, ["text is missing"]),
        ("", ["no sentence", "empty"]),
        (" \t\n", ["empty"]),
        ([], ["empty"]),
        (["a", " "], ["example 2", "a sentence is empty"]),
        (" ||| b", ["example 1", "a sentence is empty"]),
        ("a ||| b ||| c", ["example 1", "3 sentences"]),
        ([["a"], []], ["example 2", "0 sentences"]),
        (["a", 5], ["example 2", "5 is no text"]),
        ([["a", None]], ["example 1", "no text"]),
        (1984, ["1984 (int)", "in a list"]),
        ({"Yes": "it is"}, ["(dict)", "YAML reads ': '"]),
        (["a", ["b", "c"]], ["example 1 has 1, example 2 has 2"]),
        ("none.txt", ["none.txt", "is not there", "in a list"]),
        ("no such file.tsv", ["is not there"]),
        ("half of \udc80 character", ["half of a character"]),
    ],
)
def test_what_is_no_text_is_named(text, words):
    with pytest.raises(InputError) as caught:
        read(text)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "is empty"), (b" \n\t\n", "is empty"), (b"caf\xe9", "byte 3: 0xe9"), (b"a\tb\tc", "3")],
)
def test_files_that_cannot_be_used_are_named(tmp_path, content, word):
    file = tmp_path / "text.txt"
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file}.*{word}"):
        read(str(file))
    with pytest.raises(InputError, match="is a folder"):
        read(str(tmp_path))


def test_a_digest_follows_from_the_text_alone():
    assert digest(read("The cat sat.\nIt slept.")) == digest(read(["The cat sat.", "It slept."]))
    assert digest(SENTENCES) != digest(PAIR)
    assert columns(PAIR) == {"sentence1": ["The cat sat."], "sentence2": ["It slept."]}
    assert columns(SENTENCES) == {"sentence1": ["The cat sat.", "It slept."]}
