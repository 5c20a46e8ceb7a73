"""Shares of decisions against plain loops; a bag of words notices no shuffling."""

import json

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from glue import TASKS
from scipy.special import softmax
from toy_data import save_dataset

from darksecrets.beyond.inputs import measure
from darksecrets.beyond.inputs.declared import (
    CHANGED_INPUTS,
    EMPTY,
    FIRST_ALONE,
    HALVED,
    SHUFFLED,
    Settings,
)
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.tables import identify


@pytest.fixture(scope="module", params=["MRPC", "STS-B", "SST-2"])
def found(request, tmp_path_factory):
    folder, task = tmp_path_factory.mktemp("inputs"), TASKS[request.param]
    FAMILIES["BERT"].save(folder / "bert")
    save_dataset(folder / "data", task, 70, 40)
    model, _ = load_classifier(folder / "bert", task, 1)
    draw_from_normal(model, 3, 0.3)  # else all inputs have about the same output
    model.save_pretrained(folder / "model")
    load_tokenizer(folder / "bert").save_pretrained(folder / "model")
    sample = list(range(100, 140))
    examples = measure.read_examples(task, folder / "data", sample, None, Settings(examples=30))
    reading = Reading(folder / "model", 32, 8)
    return examples, measure.measure(reading, examples), folder / "model"


def test_rows_are_those_of_loops_one_example_at_a_time(found):
    examples, rows, folder = found
    tokenizer = load_tokenizer(folder)
    model, _ = load_classifier(folder, examples.task, 1)

    def outputs(*texts):
        with torch.inference_mode():
            columns = [[text] for text in texts]  # of a single pair, "" would count as none
            encoded = tokenizer(*columns, return_tensors="pt", max_length=32, truncation=True)
            return model(**encoded).logits[0].double().numpy()

    pairs = list(zip(*examples.columns.values(), strict=True))
    before = [outputs(*texts) for texts in pairs]
    for row in rows.to_dict("records"):
        if row["change"] == EMPTY:
            texts, numbers = [("",) * len(examples.columns)] * len(pairs), range(len(pairs))
        else:
            columns, kept = examples.changed[row["change"]]
            texts = list(zip(*columns.values(), strict=True))
            numbers = np.flatnonzero(kept)
        after = [outputs(*each) for each in texts]
        same, sure, now = [], [], []
        for number, new in zip(numbers, after, strict=True):
            old = before[number]
            if examples.task.is_regression:
                same.append(abs(old[0] - new[0]) <= 0.5)
            else:
                same.append(old.argmax() == new.argmax())
                sure.append(softmax(old).max())
                now.append(softmax(new).max())
        assert row["unchanged"] == pytest.approx(np.mean(same)), row["change"]
        assert row["examples"] == len(same)
        if sure:
            assert row["confidence_kept"] == pytest.approx(sum(now) / sum(sure), abs=1e-5)
        else:
            assert np.isnan(row["confidence_kept"])


def test_without_words_a_model_sees_the_special_tokens_of_as_many_sentences(found):
    examples, _, folder = found
    tokenizer = load_tokenizer(folder)
    model, _ = load_classifier(folder, examples.task, 1)
    pairs = len(examples.columns) > 1
    ids = [tokenizer.cls_token_id, tokenizer.sep_token_id, *[tokenizer.sep_token_id] * pairs]
    segments = [0, 0, *[1] * pairs]
    with torch.inference_mode():
        given = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([segments])}
        expected = model(**given).logits.numpy()
    answered = measure.answer_without_words(model, tokenizer, pairs=pairs)
    np.testing.assert_allclose(answered, expected, rtol=1e-5)


def test_a_bag_of_words_notices_no_shuffling(found):
    _, rows, _ = found
    assert rows.set_index("change").loc[SHUFFLED, "bag_of_words"] == 1


def test_the_table_is_as_declared_and_changes_are_those_that_apply(found, tmp_path):
    examples, rows, _ = found
    expected = {SHUFFLED, HALVED, EMPTY} | ({FIRST_ALONE} if len(examples.columns) > 1 else set())
    assert set(rows["change"]) == expected
    table = identify(rows, examples.task.name, "finetuned/seed-1")
    CHANGED_INPUTS.write(table.reindex(columns=list(CHANGED_INPUTS.names)), tmp_path / "t.csv")
    assert len(CHANGED_INPUTS.read(tmp_path / "t.csv")) == len(rows)


def test_chance_is_the_agreement_of_decisions_of_random_examples():
    task = Task.from_entry("T", {"text": ["a"], "labels": ["no", "yes"], "metrics": ["accuracy"]})
    intact = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    new = np.array([[1.0, 0], [0, 1], [0, 1], [0, 1], [1, 0]])
    words = np.zeros(5), np.array([0, 0, 0, 1, 1])
    row = measure.compare(task, intact, new, words)
    assert row["unchanged"] == pytest.approx(3 / 5)
    assert row["by_chance"] == pytest.approx(2 / 5 * 2 / 5 + 3 / 5 * 3 / 5)
    assert row["bag_of_words"] == pytest.approx(3 / 5)
    same = measure.compare(task, intact, intact, words)
    assert same["unchanged"] == 1
    assert same["unchanged_low"] < 1, "five examples are few"


def test_annotated_examples_are_found_by_their_number(tmp_path):
    task = TASKS["SST-2"]
    save_dataset(tmp_path / "data", task, 30, 20)
    from datasets import load_from_disk

    split = load_from_disk(str(tmp_path / "data"))["validation"]
    lines = []
    for idx, text in zip(split["idx"], split["sentence1"], strict=True):
        words, end = [], 0
        for word in text.split():
            start = text.index(word, end)
            end = start + len(word)
            tag = "NNP" if word in ("dog", "bark") else "NN"
            words.append(
                {"text": word, "start": start, "end": end, "tag": tag, "head": 0, "dep": "x"}
            )
        lines.append(json.dumps({"idx": idx, "sentence1": {"text": text, "tokens": words}}))
    file = tmp_path / "annotation.jsonl"
    file.write_text("\n".join(reversed(lines)), encoding="utf-8")
    examples = measure.read_examples(
        task, tmp_path / "data", split["idx"], file, Settings(examples=20)
    )
    columns, kept = examples.changed["other names"]
    assert kept.all()
    for old, new in zip(examples.columns["sentence1"], columns["sentence1"], strict=True):
        assert new.split()[:-1] == [
            {"dog": "bark", "bark": "dog"}.get(word, word) for word in old.split()[:-1]
        ]
        assert ("dog" in old.split()) == ("bark" in new.split())
