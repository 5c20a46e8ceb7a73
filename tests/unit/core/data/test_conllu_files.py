"""Treebanks in CoNLL-U: words, places and trees; and messages about broken ones."""

from pathlib import Path

import conllu
import pytest
from shipped_sentences import draw_sentences

from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.errors import InputError

FRENCH = """\
# newdoc id = d1
# sent_id = s1
# text = Il rêve du chat.
1	Il	il	PRON	_	_	2	nsubj	_	_
2	rêve	rêver	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	chat	chat	NOUN	_	_	2	obl	_	SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

# sent_id = s2
1	Sue	_	PROPN	_	_	2	nsubj	_	_
2	likes	_	VERB	_	_	0	root	_	_
3	tea	_	NOUN	_	_	2	OBJ	_	SpaceAfter=No
4	,	_	PUNCT	_	_	5	punct	_	_
5	Tom	_	PROPN	_	_	2	conj	_	_
5.1	likes	_	VERB	_	_	_	_	2:conj	_
6	milk	_	NOUN	_	_	5	orphan	_	_

# newdoc
1	Yes	_	INTJ	_	_	0	root	_	_
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "bank.conllu"
    path.write_bytes(text.encode())
    return path


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> list[Sentence]:
    return conllu_files.read(written(tmp_path_factory.mktemp("conllu"), FRENCH))


def test_words_are_syntactic_words_and_empty_nodes_are_none(sentences):
    """The parts of *du* share its place; *likes* of 5.1 is said nowhere."""
    first, second, third = sentences
    assert first.words == ("Il", "rêve", "de", "le", "chat", ".")
    assert first.text == "Il rêve du chat."
    places = zip(first.starts, first.ends, strict=True)
    shown = [first.text[start:end] for start, end in places]
    assert shown == ["Il", "rêve", "du", "du", "chat", "."]
    assert first.heads == (1, ROOT, 4, 4, 1, 1)
    assert first.tags[2:4] == ("ADP", "DET")
    assert second.words == ("Sue", "likes", "tea", ",", "Tom", "milk")
    assert second.text == "Sue likes tea, Tom milk"
    assert second.labels[2] == "obj"
    assert (third.words, third.heads) == (("Yes",), (ROOT,))
    assert [each.document for each in sentences] == [0, 0, 1]
    assert [each.name for each in sentences] == ["s1", "s2", "line 21"]
    assert all(each.mentions is None for each in sentences)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_is_written_is_read_back(tmp_path, ending):
    """Trees that ship, written by the library."""
    bank = draw_sentences(20, 1)
    lists = []
    for sentence in bank:
        rows = [
            {
                **{"id": n + 1, "form": word, "lemma": "_", "upos": sentence.tags[n], "xpos": "_"},
                **{"feats": None, "head": sentence.heads[n] + 1, "deprel": sentence.labels[n]},
                "deps": None,
                "misc": None
                if sentence.text[sentence.ends[n] :][:1] in (" ", "")
                else {"SpaceAfter": "No"},
            }
            for n, word in enumerate(sentence.words)
        ]
        lists.append(conllu.TokenList(rows, metadata={"sent_id": sentence.name}).serialize())
    found = conllu_files.read(written(tmp_path, "".join(lists).replace("\n", ending)))
    for one, other in zip(found, bank, strict=True):
        assert (one.text, one.words, one.heads) == (other.text, other.words, other.heads)
        assert (one.starts, one.ends, one.labels) == (other.starts, other.ends, other.labels)


def changed(line: int, column: int, value: str) -> str:
    """The file with another value in one line, from 1, and column, from 0."""
    lines = FRENCH.split("\n")
    fields = lines[line - 1].split("\t")
    lines[line - 1] = "\t".join([*fields[:column], value, *fields[column + 1 :]])
    return "\n".join(lines)


ID, HEAD = 0, 6


@pytest.mark.parametrize(
    ("line", "column", "value", "message"),
    [
        (5, HEAD, "5", "line 4: 0 words of the sentence have the head 0"),
        (9, HEAD, "0", "line 9: 2 words of the sentence have the head 0"),
        (4, HEAD, "7", "line 4: the head of 'Il' is 7"),
        (4, HEAD, "_", "line 4: the head of 'Il' is _"),
        (4, HEAD, "1", "line 4: this is no tree: 'Il'"),
        (7, HEAD, "3", "line 7: this is no tree: 'de'"),
        (9, HEAD, "4", "line 7: this is no tree: 'de'"),
        (15, 1, "tea\ttea", "line 15: 11 columns instead of the 10"),
        (15, ID, "4", "sentence from line 12: the words are numbered 1, 2, 4, 4"),
        (15, ID, "x", "sentence from line 12: this is not CoNLL-U"),
    ],
)
def test_a_broken_sentence_is_named_with_its_line(tmp_path, line, column, value, message):
    path = written(tmp_path, changed(line, column, value))
    with pytest.raises(InputError, match=message) as caught:
        conllu_files.read(path)
    assert str(caught.value).startswith(str(path))


def row(number, form, head="_"):
    """A line of a sentence."""
    return f"{number}\t{form}\t_\tNOUN\t_\t_\t{head}\tdep\t_\t_\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (row(1, "", 0), "line 1: the form '' has no visible character"),
        (row(1, "\u3164", 0), "line 1: the form .* has no visible character"),
        (row(1, "a\0b", 0), "line 1: the form .* has a NUL"),
        (row(1, "a", 0) + row(2, "b", 1) + row("1-2", "ab"), "line 3: the token 1-2 must stand"),
        (row("1-3", "ab") + row(1, "a", 0) + row(2, "b", 1), "line 1: the token 1-3 .* 2 words"),
        (
            row("1-2", "ab") + row(1, "a", 0) + row("2-3", "bc") + row(2, "b", 1) + row(3, "c", 1),
            "line 3: the token 2-3 must stand",
        ),
    ],
)
def test_words_that_cannot_be_seen_and_ranges_out_of_order_are_named(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        conllu_files.read(written(tmp_path, lines + "\n"))


def test_ranges_in_order_are_read(tmp_path):
    words = row("1-2", "ab") + row(1, "a", 0) + row(2, "b", 1) + row("3-4", "cd")
    words += row(3, "c", 1) + row(4, "d", 1) + row("4.1", "x")
    (sentence,) = conllu_files.read(written(tmp_path, words + "\n"))
    assert (sentence.text, sentence.words) == ("ab cd", ("a", "b", "c", "d"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="No file"):
        conllu_files.read(tmp_path / "missing")
    with pytest.raises(InputError, match="the file is empty"):
        conllu_files.read(written(tmp_path, "\n\n"))
    with pytest.raises(InputError, match="has no sentence"):
        conllu_files.read(written(tmp_path, "# only a comment\n"))
    path = tmp_path / "latin.conllu"
    path.write_bytes(FRENCH.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 3: not UTF-8"):
        conllu_files.read(path)
