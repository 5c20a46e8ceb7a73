"""Treebanks in CoNLL-U: words, places and trees; and messages about broken ones."""

from pathlib import Path

import conllu
import pytest

from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.errors import InputError
from tools.corpus.treebank import sentences_with_trees

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
    """Trees of the grammar, written by the library."""
    bank = sentences_with_trees(20, 1)
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
        (5, HEAD, "5", "line 4: found 0 words with the head 0"),
        (9, HEAD, "0", "line 9: found 2 words with the head 0"),
        (4, HEAD, "7", "line 4: found the head 7 of 'Il'"),
        (4, HEAD, "_", "line 4: found the head _ of 'Il'"),
        (4, HEAD, "1", "line 4: found a circle: 'Il'"),
        (7, HEAD, "3", "line 7: found a circle: 'de'"),
        (9, HEAD, "4", "line 7: found a circle: 'de'"),
        (15, 1, "tea\ttea", "line 15: found 11 columns, expected 10"),
        (15, ID, "4", "sentence from line 12: found words numbered 1, 2, 4, 4"),
        (15, ID, "x", "sentence from line 12: found what is not CoNLL-U"),
    ],
)
def test_a_broken_sentence_is_named_with_its_line(tmp_path, line, column, value, message):
    path = written(tmp_path, changed(line, column, value))
    with pytest.raises(InputError, match=message) as caught:
        conllu_files.read(path)
    assert str(caught.value).startswith(str(path))


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="No file"):
        conllu_files.read(tmp_path / "missing")
    with pytest.raises(InputError, match="the file is empty"):
        conllu_files.read(written(tmp_path, "\n\n"))
    with pytest.raises(InputError, match="found no sentence"):
        conllu_files.read(written(tmp_path, "# only a comment\n"))
    path = tmp_path / "latin.conllu"
    path.write_bytes(FRENCH.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 3: not UTF-8"):
        conllu_files.read(path)
