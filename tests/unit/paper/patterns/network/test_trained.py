"""The trained classifier that ships with the project is the one that training yields."""

import shutil

import numpy as np
import pytest
import torch
from shipped import DATA, MODEL

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import DEFINITIONS, PATTERNS
from darksecrets.paper.patterns.maps import labelled_maps
from darksecrets.paper.patterns.network import classifier, crossvalidation, teaching, trained
from darksecrets.paper.patterns.network.classification import LONGEST
from darksecrets.paper.patterns.network.quality import predictions_of
from darksecrets.paper.patterns.network.seen import Seen
from darksecrets.paper.patterns.tables import EXAMPLE, FEATURES, PATTERN_PREDICTIONS
from workflow.lib.configuration import resolve

CONFIG = resolve({"run": "x", "data": DATA, "model": MODEL})
SETTINGS = CONFIG["patterns"]


def test_it_serves_the_default_settings_and_those_that_do_not_concern_training():
    assert trained.serves(SETTINGS)
    assert trained.serves({**SETTINGS, "resamples": 100, "label_maps": {"size": 9, "seed": 1}})


@pytest.mark.parametrize(
    "other", [{"epochs": 9}, {"seed": 1}, {"folds": 4}, {"annotations": ["folder"]}]
)
def test_it_serves_no_other_settings(other):
    assert not trained.serves({**SETTINGS, **other})


@pytest.mark.parametrize("name", ["labels.csv", "maps.csv", "maps.npz"])
def test_it_does_not_serve_once_the_labelled_maps_have_changed(tmp_path, monkeypatch, name):
    for file in labelled_maps.files(labelled_maps.SHIPPED):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(labelled_maps, "SHIPPED", tmp_path)
    assert trained.serves(SETTINGS)
    with (tmp_path / name).open("ab") as stream:
        stream.write(b"\n")
    assert not trained.serves(SETTINGS)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"settings": {}}'])
def test_a_damaged_record_of_the_training_is_named_before_any_job(tmp_path, monkeypatch, text):
    monkeypatch.setattr(trained, "CLASSIFIER", tmp_path)
    with pytest.raises(InputError, match=r"training\.json does not say .*make pattern-classifier"):
        trained.serves(SETTINGS)
    (tmp_path / "training.json").write_text(text)
    with pytest.raises(InputError, match=r"training\.json does not say .*make pattern-classifier"):
        trained.serves(SETTINGS)


@pytest.fixture(scope="module")
def shipped():
    return classifier.load(trained.CLASSIFIER)


@pytest.mark.thorough
def test_a_fold_trained_again_gives_the_predictions_that_ship():
    """Other CPUs round otherwise, so a few maps near a boundary may change sides."""
    data = labelled_maps.load([labelled_maps.SHIPPED])
    numbers = crossvalidation.folds(data, SETTINGS["folds"], SETTINGS["seed"])
    learned, tested = np.flatnonzero(numbers != 1), np.flatnonzero(numbers == 1)
    prepared = teaching.Prepared.of(data, SETTINGS["seed"])
    regression = teaching.train_regression(prepared, learned)
    found = regression(prepared.inputs.features[tested])
    known = PATTERN_PREDICTIONS.read(trained.PREDICTIONS)
    for definition in DEFINITIONS:
        rows = predictions_of(FEATURES, known, EXAMPLE, definition).set_index("map")
        rows = rows.loc[data.table["map"].iloc[tested]]
        assert (rows["fold"] == 1).all()
        degrees = rows["temperature"].iloc[0]
        outputs = crossvalidation.class_log_probabilities(found.double().numpy(), definition)
        chances = crossvalidation.softmax(outputs / degrees)
        names = np.array(list(PATTERNS))[chances.argmax(axis=1)]
        assert np.mean(names == rows["predicted"]) >= 0.98
        expected = rows[crossvalidation.probability_columns()].to_numpy()
        assert np.abs(chances - expected).mean() < 0.005


def test_the_temperature_is_that_of_the_cross_validation(shipped):
    predictions = PATTERN_PREDICTIONS.read(trained.PREDICTIONS)
    expected = crossvalidation.mean_temperature(predictions)
    assert shipped.temperature == pytest.approx(expected, rel=1e-3)


def plain_map(pattern, length):
    """Weights that show a pattern plainly, with a little noise, in the first or no column."""
    scores = torch.randn(10, length, length, generator=torch.Generator().manual_seed(length)) / 2
    half = torch.arange(length) < length // 2
    scores += {
        "vertical": 8.0 * (torch.arange(length) == 0),
        "diagonal": 8.0 * torch.eye(length),
        "block": 4.0 * (half[:, None] == half[None, :]),
        "heterogeneous": torch.zeros(length, length),
    }[pattern]
    return torch.softmax(scores, dim=2).half()


@pytest.mark.parametrize("pattern", ["vertical", "diagonal", "block", "heterogeneous"])
@pytest.mark.parametrize("length", [8, 16, 32, 64, 128, 256, LONGEST])
def test_plain_patterns_of_any_length_are_told_apart(shipped, pattern, length):
    maps = plain_map(pattern, length)
    special = torch.isin(torch.arange(length), torch.tensor([0, length - 1])).expand(10, -1)
    segments = (torch.arange(length) >= length // 2).long().expand(10, -1)
    with torch.inference_mode():
        outputs = shipped(Seen.of(maps, special, segments))
    right = shipped.read(outputs, "strict").argmax(dim=1) == list(PATTERNS).index(pattern)
    assert right.float().mean() >= 0.9


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("length", [8, 15, 30, 60])
def test_almost_uniform_maps_are_not_vertical(shipped, noise, length):
    """An adversary: maps without a pattern, whose greatest weights are drawn dark all the same."""
    random = torch.Generator().manual_seed(length)
    maps = torch.softmax(noise * torch.randn(100, length, length, generator=random), dim=2)
    special = torch.isin(torch.arange(length), torch.tensor([0, length - 1])).expand(100, -1)
    segments = (torch.arange(length) > length // 2).long().expand(100, -1)
    with torch.inference_mode():
        outputs = shipped(Seen.of(maps.half(), special, segments))
    for definition in DEFINITIONS:
        places = shipped.read(outputs, definition).argmax(dim=1)
        shares = torch.bincount(places, minlength=len(PATTERNS)) / 100
        named = dict(zip(PATTERNS, shares.tolist(), strict=True))
        assert named["vertical"] + named["vertical+diagonal"] <= 0.05
        assert named["heterogeneous"] >= 0.9
