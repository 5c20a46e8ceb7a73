"""Annotation: gold or spaCy's, the guess of antecedents, and pipelines that cannot be used."""

import json
from pathlib import Path

import pytest
import spacy
from datasets import Dataset, DatasetDict
from glue import TASKS, in_folder
from shipped import DATA, FEW, MODEL, WORDS

from darksecrets.beyond.syntax.measure import sources
from darksecrets.core.data import conllu_files, prepare
from darksecrets.core.data.sentences import ROOT
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features import annotation, labels, parser
from darksecrets.paper.features.annotated import Examples
from workflow.lib import preflight
from workflow.lib.configuration import resolve


def words(*tokens):
    return [dict(zip(("text", "tag"), token.rsplit("/", 1), strict=True)) for token in tokens]


@pytest.mark.parametrize(
    ("tokens", "first", "expected"),
    [
        (["dogs/NNS", "saw/VBD", "Kim/NNP", "and/CC", "she/PRP"], 0, 2),
        (["dogs/NNS", "saw/VBD", "Kim/NNP", "and/CC", "they/PRP"], 0, 0),
        (["Kim/NNP", "./.", "She/PRP"], 2, None),  # in the sentence before
        (["Kim/NNP", "saw/VBD", "me/PRP"], 0, None),  # the first person stands for no noun
        (["He/PRP", "saw/VBD", "Kim/NNP"], 2, None),
        (["cats/NNS", "like/VBP", "its/PRP$"], 0, None),
    ],
)
def test_antecedent_is_the_nearest_noun_before_that_agrees(tokens, first, expected):
    assert labels.antecedent(words(*tokens), len(tokens) - 1, first) == expected


@pytest.fixture
def few(tmp_path):
    """The prepared data of a task of pairs."""
    prepare.prepare(in_folder("RTE", Path(FEW["folder"])), tmp_path / "data")
    return tmp_path / "data"


def test_words_from_a_file_are_those_of_the_sampled_texts(few, tmp_path):
    output = tmp_path / "RTE.jsonl"
    used = annotation.annotate(few, [7, 2], output, TASKS["RTE"], WORDS)
    assert used == {"files": WORDS["conllu"]}
    found = Examples(output)
    assert list(found) == [7, 2]
    gold = {each.name: each for each in conllu_files.read(Path(WORDS["conllu"][0]))}
    for idx, example in found.items():
        for place in (1, 2):
            own, expected = example[f"sentence{place}"], gold[f"RTE-{idx}-{place}"]
            assert own["text"] == expected.text
            read = {name: tuple(word[name] for word in own["tokens"]) for name in own["tokens"][0]}
            assert (read["text"], read["start"], read["end"]) == (
                expected.words,
                expected.starts,
                expected.ends,
            )
            assert (read["tag"], read["dep"]) == (expected.tags, expected.labels)
            above = [n if head == ROOT else head for n, head in enumerate(expected.heads)]
            assert [*read["head"]] == above


def test_an_example_without_annotation_is_named(few, tmp_path):
    with pytest.raises(InputError, match=r"lacks 1 of 2 sampled examples, such as idx 99"):
        annotation.annotate(few, [3, 99], tmp_path / "out.jsonl", TASKS["RTE"], WORDS)
    assert not (tmp_path / "out.jsonl").exists()


TEXT = (
    "Kim's dog didn't bark, so she\u00a0gave 3,000 “old” bones – naïve! 😀 "
    "They weren't eaten by cats."
)


def test_a_real_pipeline_gives_words_with_their_characters(test_data, tmp_path):
    texts = {"idx": [5, 6], "sentence1": [TEXT, "They run ."], "label": [0, 1]}
    split = Dataset.from_dict(texts)
    DatasetDict(train=split, validation=split).save_to_disk(tmp_path / "data")
    output = tmp_path / "out.jsonl"
    pipeline = str(test_data / "en_ewt")
    settings = {"source": "pipeline", "pipeline": pipeline}
    used = annotation.annotate(tmp_path / "data", [6, 5], output, TASKS["SST-2"], settings)
    meta = json.loads((test_data / "en_ewt" / "meta.json").read_text())
    known = {"name": f"en_{meta['name']}", "version": meta["version"]}
    assert used == {"pipeline": known | {"spacy": spacy.__version__}}
    found = Examples(output)
    assert list(found) == [6, 5]
    nlp = spacy.load(pipeline)
    for idx, text in ((5, TEXT), (6, "They run .")):
        doc = nlp(text)
        tokens = found[idx]["sentence1"]["tokens"]
        assert [token["text"] for token in tokens] == [word.text for word in doc]
        for token, word in zip(tokens, doc, strict=True):
            assert text[token["start"] : token["end"]] == word.text
            assert (token["tag"], token["dep"]) == (word.tag_, word.dep_)
            assert (token["head"], token["antecedent"] is None) == (
                word.head.i,
                word.text.lower() not in ("she",),
            )
    she = next(t for t in found[5]["sentence1"]["tokens"] if t["text"] == "she")
    assert found[5]["sentence1"]["tokens"][she["antecedent"]]["text"] == "dog"  # nearest, wrong


def save_pipeline(folder, tagger=("NN",), parser=("nsubj",)):
    nlp = spacy.blank("en")
    for name, known in (("tagger", tagger), ("parser", parser)):
        if known is not None:
            pipe = nlp.add_pipe(name)
            for label in known:
                pipe.add_label(label)
    nlp.initialize()
    nlp.to_disk(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"tagger": None}, r"has the components parser, but no trained tagger"),
        ({"parser": None}, r"has the components tagger, but no trained parser"),
        (
            {"tagger": ("NN", "NOUN")},
            r"the tagger of .* has the unknown labels 'NOUN'; expected Penn",
        ),
        (
            {"parser": ("nsubj", "sb", "oa")},
            r"the parser of .* unknown labels 'oa', 'sb'; expected",
        ),
    ],
    ids=["no-tagger", "no-parser", "tags", "dependencies"],
)
def test_pipelines_that_cannot_be_used(tmp_path, parts, message):
    folder = save_pipeline(tmp_path / "pipeline", **parts)
    with pytest.raises(InputError, match=message):
        parser.load_pipeline(folder)


def test_a_pipeline_of_the_right_kind_is_loaded(tmp_path):
    folder = save_pipeline(tmp_path / "pipeline", ("NN", "VBZ"), ("nsubj", "dobj", "nmod:poss"))
    assert parser.load_pipeline(folder).pipe_names == ["tagger", "parser"]


def test_a_pipeline_is_checked_only_if_words_are_parsed():
    asked = {"source": "pipeline", "pipeline": "no_such_pipeline"}
    same = {"run": "r", "data": DATA, "model": MODEL}
    annotation.check(resolve({**same, "annotation": {**asked, **WORDS}}))
    config = resolve({**same, "annotation": asked})
    with pytest.raises(InputError, match="no_such_pipeline"):
        annotation.check(config)
    preflight.check(config)  # planning needs no pipeline


def test_without_a_source_examples_have_no_words(few, tmp_path):
    output = tmp_path / "RTE.jsonl"
    assert annotation.annotate(few, [7, 2], output, TASKS["RTE"], {"source": "none"}) == {}
    assert dict(Examples(output)) == {7: {"idx": 7}, 2: {"idx": 2}}
    same = {"run": "r", "data": DATA, "model": MODEL, "annotation": {"source": "none"}}
    annotation.check(resolve(same))
    assert "annotation.source is 'none'" in annotation.left_out(resolve(same), tmp_path)
    with pytest.raises(InputError, match="so that no text has a tree"):
        sources.check(resolve({**same, "syntax": {"source": "annotation"}}))
