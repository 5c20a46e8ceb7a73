"""Annotation: gold or spaCy's, the guess of antecedents, and pipelines that cannot be used."""

import json

import pytest
import spacy
from datasets import Dataset, DatasetDict
from glue import TASKS

from darksecrets.data import prepare
from darksecrets.features import annotation
from darksecrets.run.errors import InputError
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
    assert annotation.antecedent(words(*tokens), len(tokens) - 1, first) == expected


def test_the_gold_annotation_is_used_for_the_sampled_examples(tmp_path):
    source = {"source": "builtin", "train": 32, "validation": 16, "seed": 1}
    prepare.prepare(TASKS["RTE"], source, tmp_path / "data")
    output = tmp_path / "RTE.jsonl"
    used = annotation.annotate(tmp_path / "data", [7, 2], output, TASKS["RTE"], "none at all")
    assert used is None
    found = annotation.Examples(output)
    assert list(found) == [7, 2]
    gold = [json.loads(line) for line in (tmp_path / "data/annotation.jsonl").open()]
    for idx, example in found.items():
        for name in ("sentence1", "sentence2"):
            assert example[name]["tokens"] == gold[idx][name]["tokens"]
            assert example[name]["text"] == gold[idx][name]["text"]


def test_an_example_without_annotation_is_named(tmp_path):
    source = {"source": "builtin", "train": 32, "validation": 16, "seed": 1}
    prepare.prepare(TASKS["SST-2"], source, tmp_path / "data")
    with pytest.raises(InputError, match=r"lacks 1 of 2 sampled examples, such as idx 99"):
        annotation.annotate(tmp_path / "data", [3, 99], tmp_path / "out.jsonl", TASKS["SST-2"], "")
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
    used = annotation.annotate(tmp_path / "data", [6, 5], output, TASKS["SST-2"], pipeline)
    meta = json.loads((test_data / "en_ewt" / "meta.json").read_text())
    assert used == {"name": f"en_{meta['name']}", "version": meta["version"]} | {
        "spacy": spacy.__version__
    }
    found = annotation.Examples(output)
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
    for name, labels in (("tagger", tagger), ("parser", parser)):
        if labels is not None:
            pipe = nlp.add_pipe(name)
            for label in labels:
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
        annotation.load_pipeline(folder)


def test_a_pipeline_of_the_right_kind_is_loaded(tmp_path):
    folder = save_pipeline(tmp_path / "pipeline", ("NN", "VBZ"), ("nsubj", "dobj", "nmod:poss"))
    assert annotation.load_pipeline(folder).pipe_names == ["tagger", "parser"]


def test_only_data_without_gold_annotation_need_a_pipeline(tmp_path):
    wanted = {"annotation": {"pipeline": "no_such_pipeline"}}
    builtin = {"source": "builtin"}
    annotation.check(resolve({"run": "r", "data": builtin, "model": builtin, **wanted}))
    config = resolve({"run": "r", "data": {"source": "hub"}, "model": builtin, **wanted})
    with pytest.raises(InputError, match="no_such_pipeline"):
        annotation.check(config)
    preflight.check(config)  # planning needs no pipeline
