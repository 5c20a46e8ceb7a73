"""What is kept of every example, against plain loops; and all tables of a task."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from glue import TASKS
from scipy.stats import kendalltau
from tiny_models import save_classifier
from toy_data import save_dataset

from darksecrets.beyond.faithfulness.declared import (
    ATTENTION_GRADIENTS,
    COMPARED,
    ERASURE,
    FAITHFULNESS,
    Settings,
)
from darksecrets.beyond.faithfulness.measure.erasure import orders
from darksecrets.beyond.faithfulness.measure.examples import Examples, read
from darksecrets.beyond.faithfulness.measure.explanations import Measured, measure, run, stretched
from darksecrets.beyond.faithfulness.measure.running import tables
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.reading import readings
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.columns import TOKEN_KINDS
from darksecrets.core.run.tables import identify

SEED, SAMPLED = 5, 9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier, data and a sample for MRPC and STS-B."""

    root = tmp_path_factory.mktemp("faithfulness")
    for name in ("MRPC", "STS-B"):
        task = TASKS[name]
        save_classifier(root / name / "model", "bert", task)
        data = save_dataset(root / name / "data", task, 2, 14)
        from datasets import load_from_disk

        numbers = sorted(load_from_disk(str(data))["validation"]["idx"])[:SAMPLED]
        (root / name / "sample.json").write_text(json.dumps(numbers))
    return root


def sample_of(folder: Path) -> list[int]:
    sample: list[int] = json.loads((folder / "sample.json").read_text())
    return sample


def examples_of(folder: Path, name: str, size: int = SAMPLED) -> Examples:
    place = folder / name
    tokenizer = load_tokenizer(place / "model")
    arguments = {"size": size, "seed": SEED, "max_length": 40}
    return read(place / "data", sample_of(place), tokenizer, TASKS[name], **arguments)


def measured_of(folder: Path, name: str, batch_size: int = 4) -> tuple[Examples, Measured]:
    examples = examples_of(folder, name)
    model, _ = load_classifier(folder / name / "model", TASKS[name], 0)
    return examples, measure(model, TASKS[name], examples, batch_size=batch_size, seed=SEED)


def test_examples_have_their_labels_and_kinds(folder):
    from datasets import load_from_disk

    examples = examples_of(folder, "MRPC", size=6)
    assert len(examples) == 6
    assert examples.lengths == sorted(examples.lengths, reverse=True)
    split = load_from_disk(str(folder / "MRPC" / "data"))["validation"]
    rows = {row["idx"]: row for row in split}
    tokenizer = load_tokenizer(folder / "MRPC" / "model")
    for place, idx in enumerate(examples.idx.tolist()):
        assert examples.labels[place] == rows[idx]["label"]
        ids = examples.inputs["input_ids"][place].tolist()
        words = tokenizer.convert_ids_to_tokens(ids)
        special = {"[CLS]": "first special", "[SEP]": "separator"}
        marks = {".": "punctuation", "'": "punctuation"}
        expected = [{**special, **marks}.get(word, "word") for word in words]
        assert [TOKEN_KINDS[kind] for kind in examples.kinds[place]] == expected
    assert examples_of(folder, "STS-B").labels.dtype == np.float32


@pytest.mark.parametrize("name", ["MRPC", "STS-B"])
def test_gradients_are_means_over_pairs_of_tokens(folder, name):
    """Each example by itself, without padding, in a loop over all pairs."""
    examples, found = measured_of(folder, name)
    model, _ = load_classifier(folder / name / "model", TASKS[name], 0)
    for place in range(len(examples)):
        labels = torch.from_numpy(examples.labels[[place]])
        passed = run(model, TASKS[name], examples.batch([place]), labels)
        assert found.decisions[place] == passed.decisions[0]
        kinds = examples.kinds[place]
        length = len(kinds)
        for number, layer in enumerate(passed.layers):
            for head in range(layer.by_loss.shape[1]):
                sizes = layer.by_loss[0, head].abs().double().numpy()
                mean = math.fsum(sizes.ravel()) / length**2
                assert found.all_gradients[place, number, head] == pytest.approx(mean, rel=1e-4)
                for kind in range(len(TOKEN_KINDS)):
                    values = [
                        sizes[i, j]
                        for i in range(length)
                        for j in range(length)
                        if kinds[j] == kind
                    ]
                    expected = math.fsum(values) / len(values) if values else math.nan
                    here = found.gradients[place, kind, number, head]
                    assert here == pytest.approx(expected, rel=1e-4, abs=1e-9, nan_ok=True)


def test_rankings_agree_as_scipy_says(folder):
    task = TASKS["MRPC"]
    examples, found = measured_of(folder, "MRPC")
    model, _ = load_classifier(folder / "MRPC" / "model", task, 0)
    values = []
    for place in range(len(examples)):
        passed = run(
            model, task, examples.batch([place]), torch.from_numpy(examples.labels[[place]])
        )
        layers, ordinary = passed.layers, examples.ordinary(place)
        values.append(
            {
                "weights": [layer.weights[0][:, ordinary] for layer in layers],
                "norms": [layer.norms[0][:, ordinary] for layer in layers],
                "gradient": [[passed.tokens[0][ordinary]] * 4 for _ in layers],
                "attention gradient": [layer.by_decision[0][:, ordinary].abs() for layer in layers],
            }
        )
    for place, own in enumerate(values):
        other = values[place - 1]
        size = len(examples.ordinary(place))
        for number, (first, second) in enumerate(COMPARED.values()):
            for layer, head in np.ndindex(2, 4):
                one = np.asarray(own[first][layer][head])
                expected = kendalltau(one, own[second][layer][head]).statistic
                here = found.tau[place, number, layer, head]
                assert here == pytest.approx(expected, abs=0.05, nan_ok=True)  # ties by rounding
                long = stretched(np.asarray(other[second][layer][head]), size)
                expected = kendalltau(one, long).statistic
                here = found.other_text[place, number, layer, head]
                assert here == pytest.approx(expected, abs=0.05, nan_ok=True)
    assert np.isfinite(found.tau).mean() > 0.8


def test_importance_in_the_last_layer_is_that_of_all_heads(folder):
    task = TASKS["MRPC"]
    examples, found = measured_of(folder, "MRPC")
    model, _ = load_classifier(folder / "MRPC" / "model", task, 0)
    passed = run(model, task, examples.batch([0]), torch.from_numpy(examples.labels[[0]]))
    last = passed.layers[-1]
    ordinary = examples.ordinary(0)
    ranking = found.rankings[0]
    close = {"rtol": 1e-3, "atol": 1e-6}
    np.testing.assert_allclose(ranking["weights"], last.weights[0].mean(0)[ordinary], **close)
    np.testing.assert_allclose(ranking["norms"], last.norms[0].mean(0)[ordinary], **close)
    by_decision = last.by_decision[0].sum(0)[ordinary]
    np.testing.assert_allclose(ranking["attention gradient"], by_decision, **close)
    np.testing.assert_allclose(ranking["gradient"], passed.tokens[0][ordinary], **close)


def test_batches_change_nothing(folder):
    _, one = measured_of(folder, "MRPC", batch_size=1)
    _, many = measured_of(folder, "MRPC", batch_size=50)
    np.testing.assert_allclose(one.gradients, many.gradients, rtol=1e-3, atol=1e-8)
    np.testing.assert_allclose(one.tau, many.tau, atol=0.2)


@pytest.mark.parametrize(("size", "places"), [(3, [0, 2, 4]), (5, [0, 1, 2, 3, 4]), (1, [0])])
def test_other_texts_are_stretched(size, places):
    values = np.arange(10.0).reshape(2, 5)
    np.testing.assert_array_equal(stretched(values, size), values[:, places])


@pytest.mark.parametrize("name", ["MRPC", "STS-B"])
def test_a_task_has_its_tables(folder, name):
    task, place = TASKS[name], folder / name
    names = ["finetuned/seed-1", "finetuned/seed-3", "random/seed-1"]
    models = readings(names, [place / "model"] * 3, std=0.5, max_length=40, batch_size=4)
    settings = Settings(examples=8, erased=6)
    found = tables(task, models, place / "data", sample_of(place), settings, SEED)
    for table in (ATTENTION_GRADIENTS, FAITHFULNESS):
        models = found[table.name]
        assert list(models) == ["finetuned/seed-1", "finetuned/seed-3", "random/seed-1"]
        for model, rows in models.items():
            checked = table.check(identify(rows, name, model), table.file, "")
            kinds = checked.iloc[:, 3].nunique()
            assert len(checked) == kinds * (2 * 4 + 2 + 1)
            assert checked["head"].isna().sum() == kinds * 3
    erased = found[ERASURE.name]
    assert list(erased) == ([] if task.is_regression else ["finetuned/seed-1", "finetuned/seed-3"])
    for model, rows in erased.items():
        checked = ERASURE.check(identify(rows, name, model), ERASURE.file, "")
        assert list(checked["importance"]) == [
            *("weights", "norms", "gradient", "attention gradient")
        ]
        assert (checked["examples"] == 6).all()


def test_orders_are_those_of_the_rankings():
    ranking = {
        "weights": np.array([0.1, 0.5, 0.4]),
        "norms": np.array([3.0, 1.0, 2.0]),
        "gradient": np.array([0.0, 0.0, 1.0]),
        "attention gradient": np.array([-5.0, 0.0, 1.0]),
    }
    found = orders([ranking], 2, 0)
    assert found["weights"][0].tolist() == [1, 2, 0]
    assert found["weights reversed"][0].tolist() == [0, 2, 1]
    assert found["norms"][0].tolist() == [0, 2, 1]
    assert found["gradient"][0].tolist() in ([2, 0, 1], [2, 1, 0]), "ties in any order"
    assert found["gradient reversed"][0].tolist() == found["gradient"][0].tolist()[::-1]
    assert found["attention gradient"][0].tolist() == [2, 1, 0], "signs count"
    assert {len(set(found[f"random {n}"][0].tolist())) for n in (1, 2)} == {3}
    assert len(found) == 2 * 4 + 2


def test_what_says_nothing_of_any_token_erases_no_place_first():
    same = dict.fromkeys(("weights", "norms", "gradient", "attention gradient"), np.ones(5))
    for order in orders([same] * 400, 1, 0).values():
        # Of 400 texts, each of 5 places is first in 80, ± 4 standard deviations.
        counts = np.bincount([places[0] for places in order], minlength=5)
        assert (np.abs(counts - 80) < 32).all()
