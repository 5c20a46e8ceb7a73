"""Mentions of CorefUD: read back as they were written, and messages about malformed ones."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from darksecrets.beyond.syntax.declared import NOMINAL, PRONOUN, PROPER, Settings
from darksecrets.beyond.syntax.measure import sources
from darksecrets.beyond.syntax.measure.antecedents import resolve_all
from darksecrets.beyond.syntax.measure.coreference import (
    anaphors,
    documents,
    texts_of,
)
from darksecrets.core.data import conllu_files, entities, treebank
from darksecrets.core.data.sentences import ROOT, Mention, Sentence
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError

GIRL = """\
# newdoc id = d1
# global.Entity = eid-etype-head-other
# sent_id = s1
1	The	_	DET	_	_	2	det	_	Entity=(e1-person-2
2	girl	_	NOUN	_	Number=Sing	6	nsubj	_	_
3-4	who'd	_	_	_	_	_	_	_	_
3	who	_	PRON	_	PronType=Rel	5	nsubj	_	Entity=(e1--1)
4	'd	_	AUX	_	_	5	aux	_	_
5	slept	_	VERB	_	_	2	acl:relcl	_	Entity=e1)
6	saw	_	VERB	_	_	0	root	_	_
7	Tom	_	PROPN	_	Number=Sing	6	obj	_	Entity=(e3-group(e2-person-1)
8	and	_	CCONJ	_	_	9	cc	_	_
9	Sue	_	PROPN	_	_	7	conj	_	Entity=(e4)e3)
10	.	_	PUNCT	_	_	6	punct	_	_

# sent_id = s2
1	He	_	PRON	_	Gender=Masc|Number=Sing|Person=3	4	nsubj	_	Entity=(e2-person-1)
2	and	_	CCONJ	_	_	3	cc	_	_
3	she	_	PRON	_	_	1	conj	_	Entity=(e1)
4	saw	_	VERB	_	_	0	root	_	_
4.1	_	_	PRON	_	_	_	_	4:obj	Entity=(e4)
5	nice	_	ADJ	_	_	6	amod	_	Entity=(e5[1/2]-thing-3
6	cars	_	NOUN	_	Number=Plur	4	obj	_	Entity=e5[1/2])
7	there	_	ADV	_	_	4	advmod	_	_
8	in	_	ADP	_	_	9	case	_	Entity=(e5[2/2]-thing-3
9	red	_	ADJ	_	_	6	nmod	_	Entity=e5[2/2])

# newdoc id = d2
1	She	_	PRON	_	_	2	nsubj	_	Entity=(e1)
2	left	_	VERB	_	_	0	root	_	SpaceAfter=No
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "bank.conllu"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def girl(tmp_path_factory: pytest.TempPathFactory) -> list[Sentence]:
    return conllu_files.read(written(tmp_path_factory.mktemp("entities"), GIRL))


def mentions(sentence: Sentence) -> list[tuple[str, str]]:
    """Words and head word of each mention."""
    found = []
    for each in sentence.mentions or ():
        words = [n for n in range(each.start, each.end) if n not in each.gaps]
        found.append((" ".join(sentence.words[n] for n in words), sentence.words[each.head]))
    return found


def test_mentions_have_the_words_and_heads_of_the_file(girl):
    """Of *e3* and *e4*, no head is named; 4.1 is said nowhere; *in red* names the third word."""
    assert mentions(girl[0]) == [
        ("The girl who 'd slept", "girl"),
        ("who", "who"),
        ("Tom and Sue", "Tom"),
        ("Tom", "Tom"),
        ("Sue", "Sue"),
    ]
    assert mentions(girl[1]) == [("He", "He"), ("she", "she"), ("nice cars in red", "in")]
    entities = [mention.entity for each in girl for mention in each.mentions or ()]
    girls, relative, both, tom, _, he, she, _, other = entities
    assert girls == relative == she
    assert tom == he
    assert len({girls, both, tom, other}) == 4, "the same name in another document is another"


def test_what_is_written_is_read_back(girl, tmp_path):
    treebank.write(girl, tmp_path / "treebank.jsonl")
    assert treebank.read(tmp_path / "treebank.jsonl") == girl


def test_texts_have_one_expression_per_head_word(girl):
    """*Tom* stands for itself, not for *Tom and Sue*; features are those of the file."""
    first, second = texts_of(girl)
    heads = ["girl", "who", "tom", "sue", "he", "she", "in"]
    assert [each.head for each in first.expressions] == heads
    kinds = [each.kind for each in first.expressions]
    assert kinds == [NOMINAL, PRONOUN, PROPER, PROPER, PRONOUN, PRONOUN, NOMINAL]
    by_head = {each.head: each for each in first.expressions}
    assert by_head["he"].features == {"third", "singular", "masculine"}
    assert by_head["she"].features == {"third", "singular", "feminine"}, "not annotated: the word's"
    assert by_head["girl"].features == {"third", "singular"}
    assert by_head["in"].phrase == "nice cars in red"
    for each in first.expressions:
        assert first.text[each.start : each.end].lower() in (each.head, "who'd")
    assert [first.expressions[place].head for place in anaphors(first.expressions)] == ["he", "she"]
    assert len(second.expressions) == 1


def test_heads_look_for_antecedents_in_the_file(girl):
    model = Path(sources.__file__).parents[3] / "resources" / "tiny-bert"
    found = resolve_all(Reading(model, 64, 2), texts_of(girl))
    assert len(found.kind) == 2
    assert found.methods.shape[0] == 2
    assert set(found.heads.ravel()) <= {0, 1}


def test_documents_are_drawn_whole(girl):
    drawn = {tuple(each.name for each in documents(girl, 1, seed)) for seed in range(20)}
    assert drawn == {("s1", "s2"), (girl[2].name,)}
    assert documents(girl, 5, 1) == girl


# --------------------------------------------------------------------------- brackets at random

Made = tuple[str, tuple[int, ...], int]
"""Entity, words and head of a mention."""


def made_up(rng: random.Random, words: int) -> list[Made]:
    """Mentions that may be nested, cross and be interrupted; one per entity and sentence."""
    found = []
    for number in range(rng.randint(0, 6)):
        own = range(rng.randrange(words), rng.randint(1, words))
        kept = tuple(word for word in own if rng.random() < 0.8) or (rng.randrange(words),)
        found.append((f"e{number}", kept, rng.choice(kept)))
    return found


def stretches(words: Sequence[int]) -> list[tuple[int, int]]:
    """First and last word of every part without gaps."""
    starts = [word for word in words if word - 1 not in words]
    ends = [word for word in words if word + 1 not in words]
    return list(zip(starts, ends, strict=True))


def brackets(made: Sequence[Made], words: int) -> list[str]:
    """The attribute of every word: what ends, then what begins, then single words."""
    ends, begins, alone = ([""] * words for _ in range(3))
    for entity, own, head in made:
        parts = stretches(own)
        for number, (start, end) in enumerate(parts, start=1):
            name = entity if len(parts) == 1 else f"{entity}[{number}/{len(parts)}]"
            opening = f"({name}-thing-{own.index(head) + 1}-any:other"
            if start == end:
                alone[start] += f"{opening})"
            else:
                begins[start] += opening
                ends[end] += f"{name})"
    return ["".join(each) for each in zip(ends, begins, alone, strict=True)]


def test_any_brackets_are_read_as_they_were_meant(tmp_path):
    rng = random.Random(3)
    blocks, expected = [], []
    for number in range(300):
        words = rng.randint(1, 9)
        made = made_up(rng, words)
        lines = [f"# newdoc id = {number}", "# global.Entity = eid-etype-head-other"]
        for word, entity in enumerate(brackets(made, words)):
            misc = f"Entity={entity}" if entity else "_"
            lines.append(f"{word + 1}\tw\t_\tX\t_\t_\t{word}\tdep\t_\t{misc}")
        blocks.append("\n".join(lines) + "\n")
        expected.append(Counter((own, head) for _, own, head in made))
    for sentence, meant in zip(
        conllu_files.read(written(tmp_path, "\n".join(blocks))), expected, strict=True
    ):
        read = [(_words(each), each.head) for each in sentence.mentions or ()]
        assert Counter(read) == meant
        assert len({each.entity for each in sentence.mentions or ()}) == len(read)


def _words(mention: Mention) -> tuple[int, ...]:
    return tuple(n for n in range(mention.start, mention.end) if n not in mention.gaps)


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Entity=e1)", "_", r"line 4: a mention of 'e1' that begins and does not end"),
        (
            "Entity=(e1-person-2",
            "_",
            r"line 9: the end of a mention of 'e1'; it needs its op",
        ),
        ("(e1-person-2", "((e1-person-2", r"line 4: Entity=\(\(e1-person-2; it needs ment"),
        ("(e1-person-2", "(e1-person-9", r"line 4: the head '9' of a mention of 'e1'; it needs"),
        ("(e1-person-2", "(e1-person-x", r"line 4: the head 'x' of a mention of 'e1'"),
        ("(e1-person-2", "(-person-2", r"line 4: the mention '-person-2'; it needs the name"),
        ("e5[2/2]", "e5[3/3]", r"line 25: part 3 of 3 of a mention of 'e5'; it needs all"),
        ("[2/2]-thing-3", "[1/2]-thing-3", r"line 26: the end of a mention of 'e5'"),
        ("Entity=(e5[2/2]-thing-3", "_", r"line 26: the end of a mention of 'e5'"),
        (
            "who'd\t_\t_\t_\t_\t_\t_\t_\t_",
            "who'd\t_\t_\t_\t_\t_\t_\t_\tEntity=(e9)",
            r"line 6: Entity=\(e9\) stands on a token of several words",
        ),
    ],
)
def test_malformed_mentions_are_named_with_their_line(tmp_path, old, new, message):
    assert old in GIRL
    path = written(tmp_path, GIRL.replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        conllu_files.read(path)
    assert str(caught.value).startswith(str(path))


PIECES = [
    "(e1",
    "e1)",
    "(e1)",
    "(e1--2",
    "(e3)",
    "(e2[1/2]",
    "e2[1/2])",
    "(e2[2/2]",
    "e2[2/2])",
    "(e2[1/2])",
    "(e2[2/2])",
    "e",
    ")",
    "(",
    "-",
    "[1/2]",
]


def test_any_brackets_are_read_or_refused():
    rng, heads = random.Random(5), (ROOT, 0, 0)
    read, places = 0, set[int]()
    for _ in range(3000):
        written = ["".join(rng.choices(PIECES, k=rng.choice((0, 0, 1, 2)))) for _ in range(3)]
        words = rng.choice([(0, 1, 2), (0, None, 1)])
        nodes = [entities.Node(word, each, {}) for word, each in zip(words, written, strict=True)]
        try:
            found = entities.Reader().mentions(0, nodes, heads)
        except entities.Malformed as error:
            places.add(error.node)
            continue
        read += bool(found)
        assert all(each.start <= each.head < each.end for each in found)
    assert places == {0, 1, 2}
    assert read > 50


def test_an_interrupted_mention_needs_all_of_its_parts(tmp_path):
    lines = GIRL.replace("Entity=(e5[2/2]-thing-3", "_").replace("Entity=e5[2/2])", "_")
    with pytest.raises(InputError, match="1 of the 2 parts of a mention of 'e5'"):
        conllu_files.read(written(tmp_path, lines))


def test_coreference_needs_a_file_with_mentions(tmp_path):
    bare = written(tmp_path, "1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n")
    config = {"source": "conllu", "path": str(bare), "coreference": {"path": str(bare)}}
    with pytest.raises(InputError, match="no mention is marked"):
        sources.check({"syntax": config})
    right = written(tmp_path, GIRL)
    sources.check({"syntax": {**config, "coreference": {"path": str(right)}}})
    settings = Settings.of({"coreference": {"path": str(right), "texts": 20}})
    assert sources.describe_texts(settings) == "bank.conllu, at most 20"
