"""Treebanks: the sentences of the grammar, and the file."""

import pytest

from darksecrets.core.data import treebank
from darksecrets.core.data.sentences import ROOT, Mention, Sentence
from darksecrets.core.data.treebank import word_class
from tools.corpus.grammar import finish, phrase
from tools.corpus.treebank import from_grammar, sentences_with_trees


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return sentences_with_trees(200, 3)


def test_every_sentence_of_the_grammar_is_one_tree(sentences):
    for sentence in sentences:
        assert sentence.heads.count(ROOT) == 1
        assert sentence.labels[sentence.heads.index(ROOT)] == "root"
        for word in range(len(sentence)):
            steps = 0
            while word != ROOT:
                word, steps = sentence.heads[word], steps + 1
                assert steps <= len(sentence)


def test_words_are_where_the_sentence_says(sentences):
    for sentence in sentences:
        places = zip(sentence.starts, sentence.ends, strict=True)
        assert tuple(sentence.text[start:end] for start, end in places) == sentence.words


def test_a_seed_determines_the_sentences_and_no_two_are_alike():
    assert sentences_with_trees(50, 1) == sentences_with_trees(80, 1)[:50]
    assert sentences_with_trees(50, 1) != sentences_with_trees(50, 2)
    assert len({sentence.text for sentence in sentences_with_trees(300, 1)}) == 300


def test_a_pronoun_refers_to_what_its_antecedent_refers_to():
    root = phrase(
        "The/DT/det/2 boy/NN/nsubj/3 found/VBD/root/0 his/PRP$/poss/6 old/JJ/amod/6 dog/NN/dobj/3"
    )
    nodes = {node.text: node for node in root.walk()}
    nodes["boy"].key = nodes["his"].key = "boy"
    found = from_grammar(finish(root), "1.1", 0)
    assert found.mentions == (Mention(0, 2, 1, 0), Mention(3, 4, 3, 0), Mention(3, 6, 5, 1))


def test_mentions_are_whole_phrases_without_punctuation(sentences):
    seen = 0
    for sentence in sentences:
        for mention in sentence.mentions or ():
            inside = range(mention.start, mention.end)
            assert mention.head in inside
            assert "punct" not in {sentence.labels[inside[0]], sentence.labels[inside[-1]]}
            outside = [word for word in inside if sentence.heads[word] not in inside]
            assert outside == [mention.head]
            seen += 1
    assert seen > 200


def test_a_file_holds_all_of_a_treebank(sentences, tmp_path):
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
