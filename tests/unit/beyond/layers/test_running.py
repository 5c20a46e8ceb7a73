"""All tables of a tiny encoder, from a treebank and a task to declared columns."""

import numpy as np
import pandas as pd
import pytest
from encoders import FAMILIES
from glue import TASKS
from shipped_sentences import draw_sentences
from toy_data import save_dataset

from darksecrets.beyond.layers import declared
from darksecrets.beyond.layers.declared import TABLES, Settings
from darksecrets.beyond.layers.measure import removal
from darksecrets.beyond.layers.measure.running import Examples, example_tables, treebank_tables
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.tables import identify

SENTENCES = draw_sentences(90, 3)
SETTINGS = Settings(sentences=80, examples=60, rank=4)


@pytest.fixture(scope="module", params=["MRPC", "STS-B", "SST-2"])
def found(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("running")
    task = TASKS[request.param]
    FAMILIES["BERT"].save(folder / "bert")
    save_dataset(folder / "data", task, 70, 66)
    model, _ = load_classifier(folder / "bert", task, 1)
    model.save_pretrained(folder / "model")
    load_tokenizer(folder / "bert").save_pretrained(folder / "model")
    examples = Examples.read(task, folder / "data", SETTINGS)
    reading = Reading(folder / "model", 32, 8)
    tables = treebank_tables(reading, SENTENCES, SETTINGS, examples)
    return examples, tables, example_tables(reading, examples, SETTINGS), folder


def test_every_table_has_its_declared_columns(found, tmp_path):
    examples, of_words, of_examples, _ = found
    for table in TABLES:
        parts = [each[table] for each in (of_words, of_examples) if len(each.get(table, ()))]
        rows = identify(pd.concat(parts), examples.task.name, "finetuned/seed-1")
        table.write(rows.reindex(columns=list(table.names)), tmp_path / table.file)
        assert len(table.read(tmp_path / table.file)) == len(rows) > 0


def test_examples_have_each_text_once_and_labels_of_two_classes_or_more(found):
    examples, _, of_examples, _ = found
    properties = set(of_examples[declared.LAYER_PROBES]["property"])
    assert (declared.SENTENCE in properties) == (len(examples.task.columns) == 2)
    assert len(examples.labels) == len(examples.training) == len(examples.columns["sentence1"])
    if examples.task.is_regression:
        shares = [examples.labels[mask].mean() for mask in (examples.training, ~examples.training)]
        assert 0.3 < shares[0] < 0.7
        assert 0 < shares[1] < 1
    texts = list(zip(*examples.columns.values(), strict=True))
    for mask in (examples.training, ~examples.training):
        own = [text for text, kept in zip(texts, mask, strict=True) if kept]
        assert len(set(own)) == len(own), "each text once"


def test_a_removal_that_removes_nothing_costs_nothing(found):
    _, of_words, _, _ = found
    rows = of_words[declared.REMOVED_PROPERTIES]
    nothing = rows[rows["dimensions"] == 0]
    np.testing.assert_allclose(nothing["delta"], 0)
    assert (rows["score"] - rows["intact"]).round(9).equals(rows["delta"].round(9))
    assert set(rows["property"]) == {*declared.REMOVED}
    assert removal.RANDOM > 1
