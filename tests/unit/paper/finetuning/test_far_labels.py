"""Regression on labels far from 0, against a training on labels that a person has standardized."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import DatasetDict, load_from_disk
from glue import TASKS
from small_training import SETTINGS, weights
from tiny_models import save_classifier

from darksecrets.core.models import loading, tokenizing
from darksecrets.core.models.losses import LabelScale
from darksecrets.core.models.outputs import rescale_outputs
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import pretrained, training

STSB = TASKS["STS-B"]
#: How the labels 0 and 5 become others: years, prices, small shares, negative numbers.
UNITS = {
    "years": (6.0, 1990.0),
    "prices": (98_000.0, 10_000.0),
    "shares": (0.002, 0.0),
    "below zero": (4.0, -300.0),
}


def in_units(inputs, folder, factor, shift):
    """The data set of STS-B with other labels."""
    data = load_from_disk(str(inputs / "STS-B"))
    changed = {
        split: rows.map(lambda row: {**row, "label": factor * row["label"] + shift})
        for split, rows in data.items()
    }
    DatasetDict(changed).save_to_disk(folder)
    return np.array(changed["train"]["label"], dtype=float)


def finetune(inputs, data, folder, **settings):
    """A training of seed 3 on a data set."""
    task = dataclasses.replace(STSB, label_range=(-1e9, 1e9), metrics=("r2", "pearson"))
    return training.finetune(
        inputs / "model",
        data,
        folder / "model",
        task=task,
        state="finetuned",
        seed=3,
        settings=training.Settings(**{**SETTINGS, **settings}),
        threads=1,
        scores=folder / "scores.csv",
        predictions=folder / "predictions.csv",
        curve=folder / "curve.csv",
    )


@pytest.fixture(scope="module")
def by_hand(inputs, tmp_path_factory):
    """A training on standardized labels."""
    folder = tmp_path_factory.mktemp("by_hand")
    labels = np.array(load_from_disk(str(inputs / "STS-B"))["train"]["label"], dtype=float)
    in_units(inputs, folder / "data", 1 / labels.std(), -labels.mean() / labels.std())
    found = finetune(inputs, folder / "data", folder, epochs=2)
    assert "label_scale" not in found, "labels near 0 are learned as they are"
    return folder


@pytest.mark.parametrize("unit", UNITS)
def test_training_is_that_on_standardized_labels(unit, inputs, by_hand, tmp_path):
    factor, shift = UNITS[unit]
    labels = in_units(inputs, tmp_path / "data", factor, shift)
    mean, deviation = labels.mean(), labels.std()
    found = finetune(inputs, tmp_path / "data", tmp_path, epochs=2)
    assert found["label_scale"]["mean"] == pytest.approx(mean, rel=1e-6)
    assert found["label_scale"]["deviation"] == pytest.approx(deviation, rel=1e-6)
    own, expected = weights(tmp_path), weights(by_hand)
    expected["classifier.weight"] = expected["classifier.weight"] * deviation
    expected["classifier.bias"] = expected["classifier.bias"] * deviation + mean
    for name, tensor in expected.items():
        if name.endswith("key.bias"):  # no output depends on it, so rounding moves it
            continue
        size = tensor.abs().max().item()
        torch.testing.assert_close(own[name], tensor, rtol=0, atol=2e-3 * size, msg=name)
    tables = [pd.read_csv(folder / "predictions.csv") for folder in (tmp_path, by_hand)]
    restored = tables[1]["prediction"] * deviation + mean
    np.testing.assert_allclose(tables[0]["prediction"], restored, rtol=0, atol=0.02 * deviation)


def test_whoever_loads_the_model_gets_the_unit_of_the_labels(inputs, tmp_path):
    in_units(inputs, tmp_path / "data", *UNITS["years"])
    finetune(inputs, tmp_path / "data", tmp_path)
    model, _ = loading.load_classifier(tmp_path / "model", STSB, 0, attention="eager")
    tokenizer = tokenizing.load_tokenizer(tmp_path / "model")
    rows = load_from_disk(str(tmp_path / "data"))["validation"]
    with torch.inference_mode():
        made = [
            model(
                **tokenizer(row["sentence1"], row["sentence2"], return_tensors="pt")
            ).logits.item()
            for row in rows
        ]
    table = pd.read_csv(tmp_path / "predictions.csv").set_index("idx")
    np.testing.assert_allclose(table.loc[rows["idx"], "prediction"], made, atol=0.01)
    assert 1985 < min(made) < max(made) < 2025


@pytest.mark.slow
def test_years_are_learned(inputs, tmp_path):
    """On the labels as they are, the offset of −2005 makes R² −10⁵ and less."""
    in_units(inputs, tmp_path / "data", *UNITS["years"])
    found = finetune(inputs, tmp_path / "data", tmp_path, epochs=8, learning_rate=5e-3)
    assert found["scores"]["r2"] > 0


def test_a_trained_classifier_on_the_frozen_encoder_has_the_unit_of_the_labels(inputs, tmp_path):
    in_units(inputs, tmp_path / "data", *UNITS["prices"])
    task = dataclasses.replace(STSB, label_range=(-1e9, 1e9))
    folders = [
        {state: tmp_path / kind / state for state in ("pretrained", "frozen")}
        for kind in ("scores", "predictions")
    ]
    pretrained.evaluate_pretrained(
        inputs / "model",
        tmp_path / "data",
        task=task,
        seeds=[1],
        settings=pretrained.Settings(epochs=10, frozen_learning_rate=0.05),
        max_length=32,
        threads=1,
        scores=folders[0],
        predictions=folders[1],
    )
    for state in ("pretrained", "frozen"):
        table = pd.read_csv(folders[1][state] / "seed-1.csv")
        assert table["prediction"].between(200_000, 400_000).all()


@pytest.mark.parametrize(
    ("labels", "is_needed"),
    [
        ([0.0, 5.0, 2.5], False),
        ([-1.0, 1.0], False),
        ([0.0, 1.0], False),
        ([0, 10, 10, 10], False),
        ([1, 2, 3, 20], False),
        ([1990, 2020], True),
        ([0, 100], True),
        ([0.001, 0.002], True),
        ([99.9, 100.1], True),
    ],
)
def test_labels_far_from_0_are_standardized(labels, is_needed):
    scale = LabelScale.fit(STSB, np.array(labels, dtype=np.float32))
    assert scale.is_needed == is_needed
    standardized = scale.standardize(np.array(labels, dtype=float))
    if is_needed:
        assert standardized.mean() == pytest.approx(0, abs=1e-4)
        assert standardized.std() == pytest.approx(1, rel=1e-4)
    np.testing.assert_allclose(scale.restore(standardized), labels, rtol=1e-6)


def test_classes_have_no_scale():
    assert not LabelScale.fit(TASKS["MNLI"], np.arange(1000, 1003)).is_needed


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_scale_becomes_part_of_the_last_linear_map(family, tmp_path):
    model, _ = loading.load_classifier(save_classifier(tmp_path, family, STSB), STSB, 1)
    ids = torch.tensor([[4, 5, 6], [5, 5, 4]])
    with torch.no_grad():
        before = model(input_ids=ids).logits
        rescale_outputs(model, LabelScale())
        assert torch.equal(model(input_ids=ids).logits, before)
        rescale_outputs(model, LabelScale(2005.0, 8.5))
        torch.testing.assert_close(
            model(input_ids=ids).logits, before * 8.5 + 2005, rtol=1e-6, atol=0
        )


def test_a_classifier_that_does_not_end_with_a_linear_map_is_refused(tmp_path):
    model, _ = loading.load_classifier(save_classifier(tmp_path, "bert", STSB), STSB, 1)
    model.classifier = torch.nn.Sequential(model.classifier, torch.nn.Tanh())
    with pytest.raises(InputError, match="does not end with a linear map"):
        rescale_outputs(model, LabelScale(2005.0, 8.5))
