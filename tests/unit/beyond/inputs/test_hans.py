"""HANS in its published layout; accuracy by heuristic against a loop."""

from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from glue import TASKS
from toy_data import save_dataset

from darksecrets.beyond.inputs import hans, heuristics
from darksecrets.beyond.inputs.declared import HANS
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

HEADER = "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\theuristic\n"
LINES = [
    "non-entailment\t( x )\tThe dog saw the cat.\tThe cat saw the dog.\tex0\tlexical_overlap\n",
    "entailment\t( x )\tThe old dog barked.\tThe dog barked.\tex1\tlexical_overlap\n",
    "non-entailment\t( x )\tIf the dog barked, I ran.\tThe dog barked.\tex2\tconstituent\n",
]


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "heuristics_evaluation_set.txt"
    path.write_text(HEADER + "".join([*LINES, LINES[1]]), encoding="utf-8")
    return path


def test_examples_are_read_in_the_published_layout(file):
    found = hans.read_hans(file)
    assert found.columns["sentence1"][0] == "The dog saw the cat."
    assert found.entailed.tolist() == [False, True, False]
    assert found.heuristic.tolist() == ["lexical_overlap", "lexical_overlap", "constituent"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gold_label\tsentence1\n", "the columns sentence2, heuristic are missing"),
        (HEADER, "has no examples"),
        (HEADER + LINES[0].replace("non-entailment", "neutral"), "line 2: the label is 'neutral'"),
        (HEADER + LINES[0].replace("lexical_overlap", ""), "line 2: a value is missing"),
        (None, "cannot be read"),
    ],
)
def test_what_is_wrong_is_said(file, content, message):
    if content is None:
        file.unlink()
    else:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        hans.read_hans(file)


def test_tasks_without_entailment_are_not_asked(file):
    tasks = {
        "MRPC": {"labels": ["no", "yes"], "text": ["a", "b"]},
        "RTE": {"labels": ["entailment", "not_entailment"], "text": ["a", "b"]},
        "STS-B": {"range": [0, 5], "text": ["a", "b"]},
    }
    config = {"tasks": tasks, "inputs": {"tasks": list(tasks), "hans": str(file)}}
    assert hans.tasks_of(config) == ["RTE"]
    hans.check(config)
    config["inputs"]["tasks"] = ["MRPC"]
    with pytest.raises(InputError, match="Add MNLI or RTE"):
        hans.check(config)
    config["inputs"]["hans"] = None
    hans.check(config)


@pytest.mark.parametrize("name", ["RTE", "MNLI"])
def test_rows_are_those_of_a_loop(name, file, tmp_path):
    task, found = TASKS[name], hans.read_hans(file)
    FAMILIES["BERT"].save(tmp_path / "bert")
    save_dataset(tmp_path / "data", task, 40, 20)
    torch.manual_seed(1)
    model, _ = load_classifier(tmp_path / "bert", task, 1)
    model.save_pretrained(tmp_path / "model")
    tokenizer = load_tokenizer(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "model")
    words = heuristics.words_of_task(task, tmp_path / "data", found)
    rows = heuristics.hans_rows(Reading(tmp_path / "model", 32, 8), task, found, words)
    right = []
    for first, second, entailed in zip(*found.columns.values(), found.entailed, strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(first, second, return_tensors="pt")).logits[0]
        right.append((int(logits.argmax()) == task.labels.index("entailment")) == entailed)
    expected = [np.mean(right[1:2]), np.mean(right[:1]), np.mean(right[2:])]
    assert rows["accuracy"].tolist() == pytest.approx(expected)
    assert rows["label"].tolist() == ["entailment", "non-entailment", "non-entailment"]
    table = identify(rows, name, "finetuned/seed-1").reindex(columns=list(HANS.names))
    HANS.write(table, tmp_path / "t.csv")
    assert len(HANS.read(tmp_path / "t.csv")) == 3
