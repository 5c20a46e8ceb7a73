"""The demonstration's data: annotation, labels that words do not give away, tokenizer.

That the grammar makes the shipped files byte by byte is tested in `test_shipped_corpus.py`.
"""

import hashlib
import os
import re
import string
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from glue import TASKS

from tools.corpus.documents import documents, pretraining_documents
from tools.corpus.grammar import Sentence
from tools.corpus.tasks import Example, generate, rows
from tools.pretraining.tokenizer import train_tokenizer

ROOT = Path(__file__).resolve().parents[4]
_PENN = (
    "CC CD DT IN JJ JJR JJS MD NN NNS NNP POS PRP PRP$ RB RBR RBS TO UH VB VBD VBG VBN VBP VBZ "
    "WDT WP WP$ WRB . ,"
)
PENN = frozenset(_PENN.split())
# Labels of the ClearNLP scheme that the grammar uses.
_LABELS = (
    "acl acomp advcl advmod agent amod attr aux auxpass case cc ccomp compound conj csubj dative "
    "det dobj intj mark neg npadvmod nsubj nsubjpass nummod pcomp pobj poss preconj prep punct "
    "relcl root xcomp"
)
LABELS = frozenset(_LABELS.split())
SIZES = {"train": 300, "validation": 100}


@pytest.fixture(scope="module")
def data() -> dict[str, dict[str, list[Example]]]:
    return {name: generate(name, SIZES, 11) for name in TASKS}


@pytest.fixture(scope="module")
def sentences(data: dict[str, dict[str, list[Example]]]) -> list[Sentence]:
    examples = [e for splits in data.values() for split in splits.values() for e in split]
    pairs = [s for e in examples for s in (e.sentence1, e.sentence2) if s is not None]
    return pairs + [s for document in documents(500, 5) for s in document]


# -------------------------------------------------------------------------------------- annotation


def test_spans_cover_the_text_and_only_spaces_lie_between(sentences):
    for sentence in sentences:
        end = 0
        for token in sentence.tokens:
            assert sentence.text[token.start : token.end] == token.text
            assert sentence.text[end : token.start] in ("", " ")
            end = token.end
        assert end == len(sentence.text)


def test_heads_form_a_projective_tree_with_one_root(sentences):
    for sentence in sentences:
        heads = [token.head for token in sentence.tokens]
        roots = [i for i, head in enumerate(heads) if head == i]
        assert [sentence.tokens[i].dep for i in roots] == ["root"], sentence.text
        for i in range(len(heads)):
            seen = {i}
            while heads[i] != i:
                i = heads[i]
                assert i not in seen
                seen.add(i)
        for i, head in enumerate(heads):
            low, high = min(i, head), max(i, head)
            for j in range(low + 1, high):
                assert low <= heads[j] <= high, sentence.text


def test_tags_and_labels_belong_to_their_sets(sentences):
    assert {token.tag for s in sentences for token in s.tokens} <= PENN
    used = {token.dep for s in sentences for token in s.tokens}
    assert used <= LABELS
    wanted = {"nsubj", "nsubjpass", "dobj", "dative", "agent", "attr", "neg", "relcl", "conj"}
    assert wanted <= used


def test_links_lie_in_the_sentence_and_name_their_role(sentences):
    linked = 0
    for sentence in sentences:
        for link in sentence.links:
            linked += 1
            assert 0 <= link.start < link.end <= len(sentence.tokens)
            assert 0 <= link.predicate < len(sentence.tokens)
            assert not link.start <= link.predicate < link.end
            assert link.role
            assert link.role[0].isupper()
    assert linked > len(sentences)


# ------------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("name", list(TASKS))
def test_labels_and_columns(name, data):
    task = TASKS[name]
    for split, size in SIZES.items():
        table = rows(data[name][split])
        assert [row["idx"] for row in table] == list(range(size))
        assert set(table[0]) == {"idx", "label", *task.columns}
        labels = [row["label"] for row in table]
        if task.is_regression:
            assert all(isinstance(label, float) and 0 <= label <= 5 for label in labels)
            assert len({round(label) for label in labels}) == 6
            continue
        counts = Counter(labels)
        assert set(counts) == set(range(task.num_labels))
        share = {"MRPC": 0.67, "QQP": 0.37}.get(name, 1 / task.num_labels)
        assert counts[1] / size == pytest.approx(share, abs=0.011)
        # Shuffled: the labels of the first half are those of the whole, about.
        assert abs(Counter(labels[: size // 2])[1] - counts[1] / 2) < 0.1 * size


@pytest.mark.parametrize("name", list(TASKS))
def test_no_pair_occurs_twice(name, data):
    texts = [
        frozenset((e.sentence1.text, e.sentence2.text if e.sentence2 else ""))
        for split in data[name].values()
        for e in split
    ]
    assert len(texts) == len(set(texts)) == sum(SIZES.values())
    assert all((e.sentence2 is None) == (not TASKS[name].is_pair) for e in data[name]["train"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MRPC", "RTE", "QNLI", "MNLI"])
def test_no_kind_of_word_gives_the_label_away(name):
    """Per sentence and class: how many words, negations, adjectives, places, passives."""
    examples = generate(name, {"train": 2400}, 3)["train"]
    groups: dict[int | float, list[Example]] = {}
    for example in examples:
        groups.setdefault(example.label, []).append(example)

    def rates(chosen: list[Example], second: bool) -> dict[str, float]:
        found = Counter[str]()
        for example in chosen:
            sentence = example.sentence2 if second else example.sentence1
            assert sentence is not None
            for token in sentence.tokens:
                found["words"] += 1
                found[token.dep] += 1
        return {
            kind: found[kind] / len(chosen)
            for kind in ("words", "neg", "amod", "prep", "agent", "advmod", "mark", "nummod")
        }

    for second in (False, True):
        tables = [rates(chosen, second) for chosen in groups.values()]
        for kind in tables[0]:
            values = [table[kind] for table in tables]
            # 2400 examples: three standard errors of a rate near 0.5 are 0.06 to 0.08.
            allowed = 0.6 if kind == "words" else 0.12
            assert max(values) - min(values) < allowed, (kind, second, values)


# ----------------------------------------------------------------------------------- pre-training


def test_documents_are_coherent_lists_of_sentences():
    found = list(pretraining_documents(300, 1))
    assert len(found) == 300
    assert all(4 <= len(document) <= 10 for document in found)
    shared = strangers = 0
    for one, other in pairwise(found):
        first = _content(one[0])
        shared += bool(first & _content(" ".join(one[1:])))
        strangers += bool(first & _content(" ".join(other[1:])))
    assert shared > 0.7 * len(found)
    assert shared > 1.5 * strangers


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 4}


def test_other_seeds_give_other_texts():
    one, same, other = (list(pretraining_documents(40, seed)) for seed in (1, 1, 2))
    assert one == same
    assert not {tuple(d) for d in one} & {tuple(d) for d in other}


_DIGEST = """
import hashlib
from tools.corpus.documents import pretraining_documents
from tools.corpus.tasks import NAMES, generate, rows
texts = [list(pretraining_documents(50, 3))]
texts += [rows(generate(name, {"train": 40}, 3)["train"]) for name in NAMES]
print(hashlib.sha256(repr(texts).encode()).hexdigest())
"""


def test_the_same_in_every_process():
    digests = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


# --------------------------------------------------------------------------------------- tokenizer


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [text for document in pretraining_documents(3000, 1) for text in document]


@pytest.fixture(scope="module")
def tokenizer_folder(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(texts, folder=folder)
    return folder


@pytest.mark.slow
def test_the_tokenizer_splits_words(texts, tokenizer_folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    assert 1600 <= len(tokenizer) <= 1650
    counts = Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))
    split = [word for word in counts if len(tokenizer.tokenize(word)) > 1]
    assert 0.15 < len(split) / len(counts) < 0.6
    assert sum(counts[word] for word in split) / sum(counts.values()) > 0.02
    for word in split[:50]:
        first, *others = tokenizer.tokenize(word)
        assert not first.startswith("##")
        assert all(piece.startswith("##") for piece in others)


@pytest.mark.slow
def test_nothing_is_unknown(data, tokenizer_folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    examples = [e for splits in data.values() for split in splits.values() for e in split]
    for example in examples:
        second = example.sentence2.text if example.sentence2 else None
        encoded = tokenizer(example.sentence1.text, second)
        assert tokenizer.unk_token_id not in encoded["input_ids"]
        assert len(encoded["input_ids"]) <= 56
        decoded = tokenizer.decode(encoded["input_ids"], skip_special_tokens=True)
        both = example.sentence1.text + (second or "")
        assert decoded.replace(" ", "") == both.lower().replace(" ", "")
    printable = " ".join(sorted(set(string.printable) - set(string.whitespace)))
    inside = f"x{string.ascii_lowercase}{string.digits}"
    assert tokenizer.unk_token_id not in tokenizer(f"{printable} {inside}")["input_ids"]


@pytest.mark.slow
def test_the_tokenizer_is_berts(tokenizer_folder):
    from transformers import AutoTokenizer, BertTokenizerFast

    for kind in (AutoTokenizer, BertTokenizerFast):
        tokenizer = kind.from_pretrained(tokenizer_folder)
        assert tokenizer.model_max_length == 128
        encoded = tokenizer("Anna slept.", "She was tired.")
        tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
        assert tokens[0] == "[CLS]"
        assert [i for i, t in enumerate(tokens) if t == "[SEP]"][1] == len(tokens) - 1
        middle = tokens.index("[SEP]")
        assert encoded["token_type_ids"] == [0] * (middle + 1) + [1] * (len(tokens) - middle - 1)
        assert tokenizer.convert_tokens_to_ids("[PAD]") == 0


@pytest.mark.slow
def test_training_the_tokenizer_is_deterministic(texts, tokenizer_folder, tmp_path):
    train_tokenizer(reversed(texts), folder=tmp_path)
    digests = [
        hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
        for folder in (tokenizer_folder, tmp_path)
    ]
    assert digests[0] == digests[1]
