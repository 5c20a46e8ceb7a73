"""The classifier of networks and perceptrons: its parts, its files, and a store classified."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from labelled import labelled_maps

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.patterns import classification, classifier, cnn, perceptrons
from darksecrets.patterns.annotations import Annotations
from darksecrets.patterns.classes import PATTERNS, READINGS
from darksecrets.patterns.features import NAMES
from darksecrets.patterns.readings import MAP_KINDS, members, possible
from darksecrets.patterns.seen import Seen
from darksecrets.run.errors import InputError

LAYERS, HEADS, LENGTHS = 2, 3, [40, 17, 17, 17, 5]


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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
    networks = [cnn.PatternNet() for _ in range(classifier.NETWORKS)]
    return classifier.Classifier(networks, perceptrons.Perceptrons(), temperature=1.7).eval()


def softmax(row):
    powers = [math.exp(x) for x in row]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_store_is_classified_as_its_maps_are_one_by_one(store, untrained, batch):
    table = classification.classify(store, untrained, batch_size=batch)
    names = ["idx", "layer", "head", "pattern", "probability", "strict", "strict_probability"]
    assert list(table.columns) == names
    assert len(table) == len(LENGTHS) * LAYERS * HEADS
    rows = iter(table.to_dict("records"))
    for example, layer, head in np.ndindex(store.examples, LAYERS, HEADS):
        seen = Seen.of(
            torch.from_numpy(store.maps(example)[layer, head].copy())[None],
            torch.from_numpy(store.special(example))[None],
            torch.from_numpy(store.segments(example))[None],
        )
        with torch.inference_mode():
            outputs = untrained(classifier.Inputs.of(seen))[0].tolist()
        chances = softmax(outputs)
        row = next(rows)
        assert (row["idx"], row["layer"], row["head"]) == (90 - example, layer + 1, head + 1)
        for place, (name, sure) in enumerate((names[3:5], names[5:])):
            sums = dict.fromkeys(PATTERNS, 0.0)
            for kind, chance in zip(MAP_KINDS, chances, strict=True):
                sums[kind[place]] += chance
            powers = {key: chance ** (1 / 1.7) for key, chance in sums.items()}
            sums = {key: power / sum(powers.values()) for key, power in powers.items()}
            assert row[sure] == pytest.approx(max(sums.values()), abs=1e-4)
            assert sums[row[name]] == pytest.approx(max(sums.values()), abs=1e-4)


def test_outputs_are_means_of_log_probabilities_of_the_parts(untrained):
    inputs = classifier.Inputs(
        torch.rand(2, len(cnn.CHANNELS), cnn.SIZE, cnn.SIZE), torch.randn(2, len(NAMES))
    )
    with torch.inference_mode():
        found = untrained(inputs)
        logits = [net(inputs.images).tolist() for net in untrained.networks]
        each = untrained.of_features.members(inputs.features).tolist()
    nets = [np.log([softmax(row) for row in one]) for one in logits]
    ones = [np.log([softmax(row) for row in member]) for member in each]
    expected = (np.mean(nets, axis=0) + np.mean(ones, axis=0)) / 2
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_perceptrons_are_those_of_plain_loops():
    torch.manual_seed(1)
    net = perceptrons.Perceptrons(4).eval()
    with torch.no_grad():
        net.mean.normal_()
        net.spread.uniform_(0.5, 2)
        net.inner_bias.normal_()
        net.outer_bias.normal_()
    features = 6 * torch.randn(3, 4)
    found = net.members(features).detach().numpy()
    inner, outer, before, after = (
        one.detach().double().numpy()
        for one in (net.inner, net.outer, net.inner_bias, net.outer_bias)
    )
    for member, row in np.ndindex(found.shape[:2]):
        scaled = [
            max(-4.0, min(4.0, (float(x) - float(m)) / float(s)))
            for x, m, s in zip(features[row], net.mean, net.spread, strict=True)
        ]
        hidden = [
            max(0.0, bias + sum(x * w for x, w in zip(scaled, column, strict=True)))
            for bias, column in zip(before[member, 0], inner[member].T, strict=True)
        ]
        for kind, column in enumerate(outer[member].T):
            expected = after[member, 0, kind]
            expected += sum(x * w for x, w in zip(hidden, column, strict=True))
            assert found[member, row, kind] == pytest.approx(expected, abs=1e-4)


def test_separable_maps_are_learned_and_the_same_again():
    known, unseen = labelled_maps(PATTERNS, 12), labelled_maps(PATTERNS, 6, seed=1)
    inputs, others = (
        classifier.Inputs.of_labelled(Annotations(one.table, one.maps)) for one in (known, unseen)
    )
    labels = known.labels["label"].tolist()
    training = cnn.Training(8, seed=3)
    found, again = (classifier.train(inputs, labels, labels, training) for _ in range(2))
    with torch.inference_mode():
        outputs = found(others)
        assert torch.equal(outputs, again(others))
        for reading in READINGS:
            chances = found.read(outputs, reading)
            assert torch.allclose(chances.sum(dim=1), torch.tensor(1.0), atol=1e-5)
            names = np.array(list(PATTERNS))[chances.argmax(dim=1)]
            assert np.mean(names == unseen.labels["label"]) > 0.85


def test_kinds_give_both_readings():
    for reading, place in (("wide", 0), ("strict", 1)):
        matrix = members(reading)
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
    weights = classifier.weights_of(["block"] * 90 + ["diagonal"] * 10)
    assert weights.mean() == pytest.approx(1)
    assert weights[-1] / weights[0] == pytest.approx(9**classifier.EVENNESS)


def test_a_saved_classifier_is_read_back(untrained, tmp_path):
    classifier.save(untrained, tmp_path / "classifier")
    read = classifier.load(tmp_path / "classifier")
    inputs = classifier.Inputs(
        torch.rand(2, len(cnn.CHANNELS), cnn.SIZE, cnn.SIZE), torch.randn(2, len(NAMES))
    )
    with torch.inference_mode():
        assert torch.equal(read(inputs), untrained(inputs))
    assert read.temperature == 1.7


def test_a_folder_that_is_no_classifier_or_one_of_other_classes_is_refused(untrained, tmp_path):
    folder = tmp_path / "classifier"
    classifier.save(untrained, folder)
    settings = folder / "classifier.json"
    settings.write_text(settings.read_text().replace("block", "blob"))
    with pytest.raises(InputError, match=r"found the classes vertical, diagonal, .*blob"):
        classifier.load(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"not a pattern classifier: model.safetensors is missing"):
        classifier.load(folder)
