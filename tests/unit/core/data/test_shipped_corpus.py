"""The demonstration's data: tasks, their annotation, stories, and the tokenizer that reads them."""

from collections import Counter

import pytest
from datasets import DatasetDict
from glue import TASKS, in_folder

from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.data.sources import read_files
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.files import RESOURCES

CORPUS = RESOURCES / "corpus"
MOST = 3_000_000
"""Bytes."""
_PENN = (
    "CC CD DT IN JJ JJR JJS MD NN NNS NNP POS PRP PRP$ RB RBR RBS TO UH VB VBD VBG VBN VBP VBZ "
    "WDT WP WP$ WRB . ,"
)
PENN = frozenset(_PENN.split())
# Labels of the ClearNLP scheme that the sentences use.
_LABELS = (
    "acl acomp advcl advmod agent amod attr aux auxpass case cc ccomp compound conj csubj dative "
    "det dobj intj mark neg npadvmod nsubj nsubjpass nummod pcomp pobj poss preconj prep punct "
    "relcl root xcomp"
)
LABELS = frozenset(_LABELS.split())
SIZES = {"train": 800, "validation": 250}
NOUNS = ("NN", "NNS", "NNP")


@pytest.fixture(scope="module")
def data() -> dict[str, DatasetDict]:
    return {name: read_files(in_folder(name, CORPUS)) for name in TASKS}


@pytest.fixture(scope="module")
def annotated() -> dict[str, list[Sentence]]:
    return {path.name: conllu_files.read(path) for path in CORPUS.glob("*.conllu.gz")}


def test_the_files_are_small():
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert 500_000 < sum(path.stat().st_size for path in files) < MOST


# ------------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("name", list(TASKS))
def test_labels_are_as_frequent_as_in_glue_and_shuffled(name, data):
    task, sizes = TASKS[name], SIZES | ({"train": 2000} if name == "SST-2" else {})
    for split, size in sizes.items():
        labels = data[name][split]["label"]
        assert len(labels) == size
        if task.is_regression:
            assert all(0 <= label <= 5 for label in labels)
            assert len({round(label) for label in labels}) == 6
            continue
        counts = Counter(labels)
        assert set(counts) == set(range(task.num_labels))
        share = {"MRPC": 0.67, "QQP": 0.37}.get(name, 1 / task.num_labels)
        assert counts[1] / size == pytest.approx(share, abs=0.011)
        assert abs(Counter(labels[: size // 2])[1] - counts[1] / 2) < 0.1 * size


@pytest.mark.parametrize("name", list(TASKS))
def test_no_pair_occurs_twice(name, data):
    columns = TASKS[name].columns
    splits = [
        zip(*(split[column] for column in columns), strict=True) for split in data[name].values()
    ]
    texts = [frozenset(pair) for split in splits for pair in split]
    assert len(texts) == len(set(texts))


# -------------------------------------------------------------------------------------- annotation


def test_every_validation_text_is_annotated(data, annotated):
    own = {each.name: each.text for each in annotated["words.conllu.gz"]}
    for name, task in TASKS.items():
        for place, column in enumerate(task.columns, start=1):
            for number, text in enumerate(data[name]["validation"][column]):
                assert own.pop(f"{name}-{number}-{place}") == text
    assert not own


@pytest.mark.parametrize("file", ["words", "treebank", "stories"])
def test_sentences_are_projective_trees_of_known_tags_and_labels(file, annotated):
    used = set()
    for sentence in annotated[f"{file}.conllu.gz"]:
        assert sentence.heads.count(ROOT) == 1
        assert sentence.labels[sentence.heads.index(ROOT)] == "root"
        assert {*sentence.tags} <= PENN
        used |= {*sentence.labels}
        for word, head in enumerate(sentence.heads):
            low, high = sorted((word, head)) if head != ROOT else (word, word)
            assert all(low <= sentence.heads[one] <= high for one in range(low + 1, high))
    assert used <= LABELS
    assert used >= {"nsubj", "dobj", "neg", "conj", "advmod"}


def test_sentences_of_the_treebank_are_of_different_texts(annotated):
    bank = annotated["treebank.conllu.gz"]
    assert len({each.text for each in bank}) == len({each.document for each in bank}) == 500


def test_a_noun_of_a_story_stands_for_one_thing_and_pronouns_agree(annotated):
    genders = ({"he", "him", "his"}, {"she", "her"}, {"it", "its"})
    things: dict[tuple[int, str], int] = {}
    pronouns: dict[tuple[int, int], set[str]] = {}
    for sentence in annotated["stories.conllu.gz"]:
        for mention in sentence.mentions or ():
            word = sentence.words[mention.head].lower()
            if sentence.tags[mention.head] in NOUNS:
                assert (
                    things.setdefault((sentence.document, word), mention.entity) == mention.entity
                )
            else:
                pronouns.setdefault((sentence.document, mention.entity), set()).add(word)
    assert len({document for document, _ in things}) == 100
    for words in pronouns.values():
        assert sum(bool(words & gender) for gender in genders) <= 1


# --------------------------------------------------------------------------------------- tokenizer


def test_the_tokenizer_is_berts_and_knows_every_piece(data):
    tokenizer = load_tokenizer(RESOURCES / "tiny-bert")
    tokens = tokenizer.convert_ids_to_tokens(
        tokenizer("Anna slept.", "She was tired.")["input_ids"]
    )
    assert (tokens[0], tokens[-1], tokens.count("[SEP]")) == ("[CLS]", "[SEP]", 2)
    split = 0
    for name, task in TASKS.items():
        texts = [list(data[name]["validation"][column]) for column in task.columns]
        for own in tokenizer(*texts)["input_ids"]:
            assert tokenizer.unk_token_id not in own
            assert len(own) <= 56
            split += sum(piece.startswith("##") for piece in tokenizer.convert_ids_to_tokens(own))
    assert split > 1000, "some words have several pieces"


def test_corpus_files_have_unix_lines():
    for path in CORPUS.rglob("*.tsv"):
        assert b"\r" not in path.read_bytes(), path
