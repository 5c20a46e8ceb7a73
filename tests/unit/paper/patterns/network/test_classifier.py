"""The classifier: its parts, its teacher, its files, and a store classified."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from labelled import make_labelled_maps
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression

from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import DEFINITIONS, PATTERNS
from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.network import (
    augmentation,
    classification,
    classifier,
    cnn,
    logistic,
    teaching,
)
from darksecrets.paper.patterns.network.features import NAMES
from darksecrets.paper.patterns.network.kinds import MAP_KINDS, members, possible
from darksecrets.paper.patterns.network.seen import Seen

LAYERS, HEADS, LENGTHS = 2, 3, [40, 17, 17, 17, 5]


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Examples of several lengths; those of equal length have different tokens."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("maps") / "store"
    rows = [
        {
            "idx": 90 - number,
            "tokens": ["t"] * length,
            "special": [int(place in (0, number + 1)) for place in range(length)],
            "segments": [int(place > number + 1) for place in range(length)],
            "starts": [0] * length,
            "ends": [0] * length,
        }
        for number, length in enumerate(LENGTHS)
    ]
    with write_store(folder, pd.DataFrame(rows), LAYERS, HEADS) as writer:
        for length in LENGTHS:
            writer.append(rng.dirichlet(np.full(length, 0.2), size=(LAYERS, HEADS, length)))
    return AttentionStore.open(folder)


@pytest.fixture(scope="module")
def untrained():
    torch.manual_seed(0)
    return classifier.untrained(temperature=1.7)


def softmax(row):
    powers = [math.exp(x) for x in row]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_store_is_classified_as_its_maps_are_one_by_one(store, untrained, batch):
    table = classification.classify(store, untrained, batch_size=batch)
    place = ["idx", "layer", "head"]
    assert {*table.columns} == {*place, "lenient", "pattern", "probability"}
    assert len(table) == len(LENGTHS) * LAYERS * HEADS
    rows = iter(table.to_dict("records"))
    for example, layer, head in np.ndindex(store.examples, LAYERS, HEADS):
        seen = Seen.of(
            torch.from_numpy(store.maps(example)[layer, head].copy())[None],
            torch.from_numpy(store.special(example))[None],
            torch.from_numpy(store.segments(example).copy())[None],
        )
        with torch.inference_mode():
            logits = untrained.network(cnn.images(seen))
        chances = softmax(logits[0].tolist())
        row = next(rows)
        assert tuple(row[name] for name in place) == (90 - example, layer + 1, head + 1)
        for which, name in enumerate(("lenient", "pattern")):
            sums = dict.fromkeys(PATTERNS, 0.0)
            for kind, chance in zip(MAP_KINDS, chances, strict=True):
                sums[kind[which]] += chance
            powers = {key: chance ** (1 / 1.7) for key, chance in sums.items()}
            sums = {key: power / sum(powers.values()) for key, power in powers.items()}
            assert sums[row[name]] == pytest.approx(max(sums.values()), abs=1e-4)
        assert row["probability"] == pytest.approx(sums[row["pattern"]], abs=1e-4)


def test_maps_that_are_too_long_for_the_network_are_warned_of(
    store, untrained, monkeypatch, caplog
):
    classification.classify(store, untrained)
    assert not caplog.records or "Maps of up to" not in caplog.text
    monkeypatch.setattr(classification, "LONGEST", int(store.lengths.max()) - 1)
    classification.classify(store, untrained)
    assert "lower `fine_tuning.max_length`" in caplog.text


def test_outputs_are_those_of_the_regression_by_loops():
    random = torch.Generator().manual_seed(1)
    regression = logistic.Logistic()
    regression.coefficients.normal_(0, 0.3, generator=random)
    regression.constants.normal_(generator=random)
    values = 4 * torch.randn(3, len(NAMES), generator=random)
    found = regression(values)
    expected = np.log([softmax(row) for row in odds(regression, values)])
    np.testing.assert_allclose(found, expected, atol=1e-4)


def odds(regression, features):
    """Log odds of a regression, number by number."""
    slopes = regression.coefficients.double().numpy()
    scaled = [
        [
            max(-5.0, min(5.0, (float(x) - float(m)) / float(s)))
            for x, m, s in zip(row, regression.mean, regression.spread, strict=True)
        ]
        for row in features
    ]
    return [
        [
            float(constant) + sum(x * slope for x, slope in zip(row, column, strict=True))
            for constant, column in zip(regression.constants, slopes.T, strict=True)
        ]
        for row in scaled
    ]


@pytest.mark.parametrize("count", [2, 4])
def test_the_regression_is_that_of_scikit_learn(count):
    rng = np.random.default_rng(count)
    features = rng.normal(3, 2, size=(80, 5))
    kinds = rng.integers(count, size=80) + 1
    weights = rng.uniform(0.5, 2, size=80).astype(np.float32)
    known = np.eye(len(MAP_KINDS), dtype=bool)[kinds]
    tensors = (torch.from_numpy(one) for one in (features.astype(np.float32), known, weights))
    found = logistic.train(*tensors)
    scaled = ((features - features.mean(0)) / features.std(0)).clip(-5, 5)
    model = LogisticRegression(C=logistic.INVERSE_PENALTY, max_iter=1000)
    expected = model.fit(scaled, kinds, weights).predict_proba(scaled)
    outputs = found(torch.from_numpy(features.astype(np.float32))).exp().numpy()
    np.testing.assert_allclose(outputs[:, 1 : count + 1], expected, atol=2e-4)
    assert outputs[:, count + 1 :].max() < 1e-6  # kinds that were not learned


def composed_of(label, strict, seed=0):
    """A labelled map of a class, and what is composed of it."""
    mapset = make_labelled_maps([label], 1, seed)
    table = mapset.table.assign(label=label, strict=strict)
    data = Annotations(table, mapset.maps)
    return data, augmentation.compose(data, seed)


@pytest.mark.parametrize(
    ("label", "strict", "expected"),
    [
        ("vertical", "vertical", ("vertical+diagonal", "vertical+diagonal")),
        ("vertical", "heterogeneous", ("vertical+diagonal", "diagonal")),
        ("diagonal", "diagonal", ("vertical+diagonal", "vertical+diagonal")),
        ("vertical", "", None),
        ("block", "block", None),
        ("heterogeneous", "heterogeneous", None),
    ],
)
def test_columns_and_diagonals_are_composed_and_nothing_else(label, strict, expected):
    data, made = composed_of(label, strict)
    if expected is None:
        assert not made.maps
        return
    assert MAP_KINDS[made.kinds.item()] == expected
    assert made.sources.tolist() == [0]
    found, before = made.maps[0], data.maps[0].astype(np.float64)
    np.testing.assert_allclose(found.sum(axis=1), before.sum(axis=1), atol=2e-3)
    gained = found - before
    length = len(found)
    if label == "vertical":  # every row gains in one cell, at most a token away
        places = gained.argmax(axis=1)
        assert (np.abs(places - np.arange(length)) <= 1).all()
        assert (found[np.arange(length), places] > 0.05).all()
    else:
        assert set(gained.argmax(axis=1)) <= {0, length - 1}  # the special tokens
        assert (found[:, [0, length - 1]].sum(axis=1) > 0.1).all()


def test_varied_maps_are_crops_exchanges_and_mixtures_of_labelled_ones():
    mapset = make_labelled_maps(PATTERNS, 4)
    labels = mapset.labels["label"]
    data = Annotations(mapset.table.assign(label=labels, strict=labels), mapset.maps)
    made = augmentation.vary(data, seed=1)
    marks = list(zip(data.table["special"], data.table["segments"], strict=True))
    kinds = set()
    varied = zip(made.maps, made.sources, made.special, made.segments, strict=True)
    for found, (first, second), special, segments in varied:
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
        before = data.maps[first].astype(np.float64)
        other = data.maps[second].astype(np.float64)
        assert special.count("1") == marks[first][0].count("1")
        if len(found) < len(before):
            kinds.add("crop")
            kept = places_of(found, before)
            assert (special, segments) == tuple(
                "".join(text[i] for i in kept) for text in marks[first]
            )
            continue
        assert (special, segments) == marks[first]
        if first != second:
            kinds.add("mixture")
            rows = before.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True)
            low = np.minimum(before / rows[0], other / rows[1])
            high = np.maximum(before / rows[0], other / rows[1])
            assert ((low - 1e-3 <= found) & (found <= high + 1e-3)).all()
            continue
        unchanged = np.array([mark == "0" for mark in special])
        np.testing.assert_allclose(
            np.sort(found, axis=1), np.sort(before / before.sum(axis=1, keepdims=True), axis=1)
        )
        ratio = before.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found[:, unchanged], (before / ratio)[:, unchanged])
        if not np.allclose(found, before / ratio):
            kinds.add("exchange")
    assert kinds == {"crop", "mixture", "exchange"}


def places_of(crop, whole):
    """Tokens of a map that a crop of it has, by trying every run of tokens that may be left out."""
    length = len(whole)
    for dropped in range(1, length):
        for start in range(length - dropped + 1):
            kept = np.r_[0:start, start + dropped : length]
            for extra in ([], [0], [length - 1], [0, length - 1]):
                places = np.union1d(kept, extra).astype(int)
                part = whole[np.ix_(places, places)]
                same = part.shape == crop.shape and part.sum(axis=1).min() > 0
                if same and np.allclose(crop, part / part.sum(axis=1, keepdims=True)):
                    return places
    raise AssertionError("it is no crop")


def test_varied_maps_are_trained_on_only_with_all_that_they_are_made_of():
    mapset = make_labelled_maps(PATTERNS, 4)
    labels = mapset.labels["label"]
    data = Annotations(mapset.table.assign(label=labels, strict=labels), mapset.maps)
    prepared = teaching.Prepared.of(data, seed=1)
    rows = np.arange(0, len(labels), 2)
    inside = [set(pair) <= set(rows) for pair in prepared.varied_sources.tolist()]
    assert any(inside)
    assert not all(inside)
    found = prepared.varied_from(rows)
    assert torch.equal(found.features, prepared.varied.features[torch.tensor(inside)])
    assert torch.equal(found.images, prepared.varied.images[torch.tensor(inside)])


def test_composed_maps_are_trained_on_only_with_those_that_they_are_made_of():
    mapset = make_labelled_maps(PATTERNS, 4)
    labels = mapset.labels["label"]
    data = Annotations(mapset.table.assign(label=labels, strict=labels), mapset.maps)
    prepared = teaching.Prepared.of(data, seed=1)
    assert set(prepared.sources) == set(np.flatnonzero(labels.isin(["vertical", "diagonal"])))
    for rows in (np.array([0, 1, 17]), np.array([16, 17])):
        inputs, kinds, weights = prepared.examples(rows)
        added = np.isin(prepared.sources, rows)
        assert len(inputs.images) == len(kinds) == len(weights) == len(rows) + added.sum()
        assert torch.equal(inputs.features[: len(rows)], prepared.inputs.features[rows])
        assert weights[: len(rows)].mean() == pytest.approx(1)
        assert (weights[len(rows) :] == np.float32(teaching.COMPOSED)).all()
        if added.any():
            assert torch.equal(inputs.images[len(rows) :], prepared.composed.images[added])


@pytest.mark.slow
def test_separable_maps_are_learned_and_the_same_again():
    known, unseen = make_labelled_maps(PATTERNS, 12), make_labelled_maps(PATTERNS, 6, seed=1)
    known, others = (
        teaching.Prepared.of(
            Annotations(one.table.assign(label=labels, strict=labels), one.maps), seed=0
        )
        for one, labels in ((each, each.labels["label"]) for each in (known, unseen))
    )
    rows = np.arange(len(known.kinds))
    found, again = (teaching.train_regression(known, rows) for _ in range(2))
    reader = classifier.untrained()
    with torch.inference_mode():
        outputs = found(others.inputs.features)
        assert torch.equal(outputs, again(others.inputs.features))
        for definition in DEFINITIONS:
            chances = reader.read(outputs.exp(), definition)
            assert torch.allclose(chances.sum(dim=1), torch.tensor(1.0), atol=1e-5)
            names = np.array(list(PATTERNS))[chances.argmax(dim=1)]
            assert np.mean(names == unseen.labels["label"]) > 0.85


def test_kinds_give_both_readings():
    for definition, place in (("lenient", 0), ("strict", 1)):
        matrix = members(definition)
        assert (matrix.sum(axis=1) == 1).all()
        for kind, row in zip(MAP_KINDS, matrix, strict=True):
            assert list(PATTERNS)[row.argmax()] == kind[place]
    found = possible(["vertical", "vertical", "block"], ["", "heterogeneous", ""])
    kinds = [[kind for kind, one in zip(MAP_KINDS, row, strict=True) if one] for row in found]
    assert kinds == [
        [("vertical", "vertical"), ("vertical", "heterogeneous")],
        [("vertical", "heterogeneous")],
        [("block", "block")],
    ]


def test_rare_classes_weigh_more_but_do_not_outweigh():
    labels = ["block"] * 90 + ["diagonal"] * 10
    weights = teaching.weights_of(possible(labels, labels))
    assert weights.mean() == pytest.approx(1)
    assert weights[-1] / weights[0] == pytest.approx(9**teaching.EVENNESS)


def test_a_saved_classifier_is_read_back(untrained, tmp_path):
    classifier.save(untrained, tmp_path / "classifier")
    read = classifier.load(tmp_path / "classifier")
    images = torch.rand(2, len(cnn.CHANNELS), 16, 16)
    with torch.inference_mode():
        assert torch.equal(read.network(images), untrained.network(images))
    assert read.temperature == 1.7


def test_a_folder_that_is_no_classifier_or_one_of_other_classes_is_refused(untrained, tmp_path):
    folder = tmp_path / "classifier"
    classifier.save(untrained, folder)
    settings = folder / "classifier.json"
    settings.write_text(settings.read_text().replace("block", "blob"))
    with pytest.raises(InputError, match=r"has the classes vertical, diagonal, .*blob"):
        classifier.load(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"not a pattern classifier: model.safetensors is missing"):
        classifier.load(folder)


SETTINGS = ("[]", "{}", "null", '{"classes": 3, "temperature": 1}')
SETTINGS += ('{"classes": [], "temperature": -1}', '{"classes": [], "temperatures": {"cnn": 1}}')


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *product(("model.safetensors", "classifier.json"), (0.0, 0.5, 0.99)),
        *(("classifier.json", text) for text in SETTINGS),
        ("model.safetensors", {"mean": torch.zeros(3)}),
        ("model.safetensors", logistic.Logistic().state_dict()),
    ],
    ids=str,
)
def test_a_damaged_classifier_is_named_with_its_remedy(untrained, tmp_path, name, damage):
    """Cut off, with settings or weights of another kind, or with those of the regression."""
    classifier.save(untrained, tmp_path / "classifier")
    file = tmp_path / "classifier" / name
    match damage:
        case float():
            file.write_bytes(file.read_bytes()[: int(damage * file.stat().st_size)])
        case str():
            file.write_text(damage)
        case _:
            save_file(damage, file)
    with pytest.raises(InputError, match=rf"{name} is damaged .*pattern-classifier"):
        classifier.load(tmp_path / "classifier")
