"""The trained classifier that ships with the project is the one that training yields."""

import shutil

import numpy as np
import pytest
import torch

from darksecrets.patterns import annotations, cnn, crossvalidation, trained
from darksecrets.patterns.quality import of_network
from darksecrets.patterns.tables import PATTERN_PREDICTIONS
from darksecrets.run.provenance import read_record
from workflow.lib.configuration import resolve

CONFIG = resolve({"run": "x", "data": {"source": "builtin"}, "model": {"source": "builtin"}})
SETTINGS = CONFIG["patterns"]


def test_it_serves_the_default_settings_and_those_that_do_not_concern_training():
    assert trained.serves(SETTINGS)
    assert trained.serves({**SETTINGS, "resamples": 100, "label_maps": {"size": 9, "seed": 1}})


@pytest.mark.parametrize(
    "other", [{"epochs": 29}, {"seed": 1}, {"folds": 4}, {"annotations": ["folder"]}]
)
def test_it_serves_no_other_settings(other):
    assert not trained.serves({**SETTINGS, **other})


@pytest.mark.parametrize("name", ["labels.csv", "maps.csv", "maps.npz"])
def test_it_does_not_serve_once_the_labelled_maps_have_changed(tmp_path, monkeypatch, name):
    for file in annotations.files(annotations.SHIPPED):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(annotations, "SHIPPED", tmp_path)
    assert trained.serves(SETTINGS)
    with (tmp_path / name).open("ab") as stream:
        stream.write(b"\n")
    assert not trained.serves(SETTINGS)


def test_the_code_that_trained_it_is_the_code_as_it_is():
    assert read_record(trained.CLASSIFIER).get("training_code") == trained.training_code(), (
        "patterns/cnn.py or patterns/crossvalidation.py has changed since the classifier that "
        "ships was trained: run `make pattern-classifier`"
    )


def test_only_what_runs_counts_as_code():
    code = "RATE = 0.1\n\ndef train(data):\n    return data * RATE\n"
    described = (
        '"""A module."""\nRATE = 0.1  # of learning\n"""A constant."""\n\n'
        'def train(data):\n    """Train."""\n    return (data\n        * RATE)\n'
    )
    assert trained.digest_of([described]) == trained.digest_of([code])
    assert trained.digest_of([code.replace("0.1", "0.2")]) != trained.digest_of([code])
    assert trained.digest_of([code.replace("* RATE", "+ RATE")]) != trained.digest_of([code])


def test_a_fold_trained_again_gives_the_predictions_that_ship():
    """Other CPUs round otherwise, so a few maps near a boundary may change sides."""
    data = annotations.load([annotations.SHIPPED])
    numbers = crossvalidation.folds(data, SETTINGS["folds"], SETTINGS["seed"])
    pictures = cnn.images(data.maps)
    learned, tested = np.flatnonzero(numbers != 1), np.flatnonzero(numbers == 1)
    training = cnn.Training(SETTINGS["epochs"], SETTINGS["seed"])
    torch.set_num_threads(1)  # as many as the one that ships was trained with
    net = cnn.train(pictures[learned], [data.labels[i] for i in learned], training)
    found = cnn.logits(net, pictures[tested])
    shipped = of_network(PATTERN_PREDICTIONS.read(trained.PREDICTIONS)).set_index("map")
    shipped = shipped.loc[data.table["map"].iloc[tested]]
    assert (shipped["fold"] == 1).all()
    expected = shipped[crossvalidation.logit_columns()].to_numpy()
    assert np.mean(found.argmax(1) == expected.argmax(1)) >= 0.95
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.97


def test_its_temperature_is_that_of_its_cross_validation():
    _, temperature = cnn.load(trained.CLASSIFIER)
    predictions = PATTERN_PREDICTIONS.read(trained.PREDICTIONS)
    assert temperature == pytest.approx(crossvalidation.network_temperature(predictions), rel=1e-6)
