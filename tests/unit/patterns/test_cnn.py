import numpy as np
import pandas as pd
import pytest
import torch
from labelled import labelled_maps

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.patterns import classification, cnn
from darksecrets.patterns.classes import PATTERNS
from darksecrets.plotting.attention_map import saturation
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
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("maps") / "store"
    rows = [
        {"idx": 90 - number, "tokens": ["t"] * length}
        | dict.fromkeys(("segments", "special", "starts", "ends"), [0] * length)
        for number, length in enumerate(LENGTHS)
    ]
    with write_store(folder, pd.DataFrame(rows), LAYERS, HEADS) as writer:
        for length in LENGTHS:
            writer.append(rng.dirichlet(np.full(length, 0.2), size=(LAYERS, HEADS, length)))
    return AttentionStore.open(folder)


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return cnn.PatternNet().eval()


def test_the_network_has_eight_convolutions_and_the_layers_of_the_follow_up(net):
    layers = [layer for layer in net.layers if isinstance(layer, torch.nn.Conv2d)]
    assert [layer.out_channels for layer in layers] == [16, 16, 32, 32, 64, 64, 16, len(PATTERNS)]
    assert [layer.kernel_size for layer in layers] == [(3, 3)] * 6 + [(1, 1)] * 2
    assert sum(isinstance(layer, torch.nn.BatchNorm2d) for layer in net.layers) == 6
    assert sum(isinstance(layer, torch.nn.ReLU) for layer in net.layers) == 7


def by_loops(layer, planes):
    """One layer, cell by cell, in float64; planes [channels, size, size]."""
    channels, size, _ = planes.shape
    match layer:
        case torch.nn.Conv2d():
            weight = layer.weight.detach().double().numpy()
            bias = np.zeros(len(weight)) if layer.bias is None else layer.bias.detach().numpy()
            width = weight.shape[-1]
            padded = np.pad(planes, ((0, 0), (width // 2,) * 2, (width // 2,) * 2))
            result = np.empty((len(weight), size, size))
            for c, i, j in np.ndindex(result.shape):
                window = padded[:, i : i + width, j : j + width]
                result[c, i, j] = (weight[c] * window).sum() + bias[c]
            return result
        case torch.nn.BatchNorm2d():
            result = np.empty_like(planes)
            for c in range(channels):
                mean, variance = layer.running_mean[c].item(), layer.running_var[c].item()
                scale = layer.weight[c].item() / np.sqrt(variance + 1e-5)
                result[c] = (planes[c] - mean) * scale + layer.bias[c].item()
            return result
        case torch.nn.MaxPool2d():
            result = np.empty((channels, size // 2, size // 2))
            for c, i, j in np.ndindex(result.shape):
                result[c, i, j] = planes[c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()
            return result
        case torch.nn.ReLU():
            return np.where(planes > 0, planes, 0)
    raise AssertionError(layer)


@pytest.mark.parametrize("size", [9, 12])
def test_the_network_computes_what_plain_loops_do(size):
    """All layers, with statistics and parameters for which every step has an effect."""
    torch.manual_seed(size)
    net = cnn.PatternNet().eval()
    with torch.no_grad():
        for layer in net.layers:
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.running_mean.normal_(0, 0.3)
                layer.running_var.uniform_(0.2, 2)
                layer.weight.uniform_(0.5, 2)
                layer.bias.normal_(0, 0.3)
    images = torch.rand(2, size, size)
    found = cnn.logits(net, images)
    for image, outputs in zip(images, found, strict=True):
        planes = image.double().numpy()[None]
        for layer in net.layers:
            planes = by_loops(layer, planes)
        expected = [plane.sum() / plane.size for plane in planes]
        np.testing.assert_allclose(outputs, expected, atol=1e-4 * np.abs(expected).max())
    assert cnn.logits(net, torch.rand(3, 128, 128)).shape == (3, len(PATTERNS))


@pytest.mark.parametrize("length", [1, 2, 7, 32, 125])
def test_maps_are_scaled_as_they_are_drawn(length):
    rng = np.random.default_rng(length)
    maps = rng.dirichlet(np.full(length, 0.3), size=(3, length)).astype(np.float16)
    found = cnn.as_drawn(torch.from_numpy(maps)).numpy()
    for one, image in zip(maps, found, strict=True):
        expected = np.minimum(one.astype(np.float64) / float(saturation(one)), 1)
        np.testing.assert_allclose(image, expected, atol=1e-6)
    assert cnn.prepare(torch.from_numpy(maps)).shape == (3, cnn.SIZE, cnn.SIZE)


def test_resampling_takes_means_where_maps_shrink_and_keeps_columns_and_reversals():
    length = 2 * cnn.SIZE
    constant = torch.full((1, length, length), 0.3)
    assert torch.allclose(cnn.resample(constant), torch.tensor(0.3), atol=1e-6)
    column = torch.zeros(1, length, length)
    column[:, :, 20] = 1
    small = cnn.resample(column)[0]
    assert torch.allclose(small, small[0].expand_as(small), atol=1e-6)
    assert small[0].argmax() == 10
    assert small.sum() == pytest.approx(
        cnn.SIZE / 2, rel=1e-4
    )  # half as wide a column is half as dark
    image = torch.rand(1, 50, 50)
    turned = cnn.resample(image.flip(1, 2)).flip(1, 2)
    assert torch.allclose(turned, cnn.resample(image), atol=1e-5)


def test_augmentation_reverses_both_axes_or_none_and_adds_little():
    torch.manual_seed(1)
    picture = torch.zeros(200, 8, 8)
    picture[:, 0, 5] = 1
    changed = cnn.augment(picture)
    places = changed.flatten(1).argmax(dim=1)
    assert set(places.tolist()) == {5, 7 * 8 + 2}
    assert 60 < (places == 5).sum() < 140
    assert (changed - picture).abs().max() <= 1.1
    rest = changed.clone()
    rest.view(200, -1)[torch.arange(200), places] = 0
    assert rest.min() >= 0
    assert rest.max() <= 0.05


def test_separable_maps_are_learned_and_the_same_again():
    known, unseen = labelled_maps(PATTERNS, 20), labelled_maps(PATTERNS, 8, seed=1)
    pictures, labels = cnn.images(known.maps), known.labels["label"].tolist()
    trained = [cnn.train(pictures, labels, cnn.Training(12, seed=3)) for _ in range(2)]
    for one, other in zip(*(net.parameters() for net in trained), strict=True):
        assert torch.equal(one, other)
    outputs = cnn.logits(trained[0], cnn.images(unseen.maps))
    predicted = np.array(list(PATTERNS))[outputs.argmax(axis=1)]
    assert np.mean(predicted == unseen.labels["label"]) > 0.85
    different = cnn.train(pictures, labels, cnn.Training(1, seed=4))
    assert not torch.equal(different.layers[0].weight, trained[0].layers[0].weight)


def test_training_leaves_the_generator_of_others_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    mapset = labelled_maps(["block", "diagonal"], 4)
    cnn.train(cnn.images(mapset.maps), mapset.labels["label"].tolist(), cnn.Training(1, seed=0))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_store_is_classified_as_its_maps_are_one_by_one(store, net, batch):
    table = classification.classify(store, net, temperature=1.7, batch_size=batch)
    assert list(table.columns) == ["idx", "layer", "head", "pattern", "probability"]
    assert len(table) == len(LENGTHS) * LAYERS * HEADS
    rows = iter(table.to_dict("records"))
    for example in range(store.examples):
        for layer in range(LAYERS):
            for head in range(HEADS):
                weights = store.maps(example)[layer, head]
                logits = cnn.logits(net, cnn.images([weights]))[0] / 1.7
                expected = np.exp(logits) / np.exp(logits).sum()
                row = next(rows)
                assert (row["idx"], row["layer"], row["head"]) == (
                    90 - example,
                    layer + 1,
                    head + 1,
                )
                assert row["pattern"] == list(PATTERNS)[expected.argmax()]
                assert row["probability"] == pytest.approx(expected.max(), abs=1e-5)


def test_a_saved_network_is_read_back(net, tmp_path):
    cnn.save(net, 1.25, tmp_path / "classifier")
    read, temperature = cnn.load(tmp_path / "classifier")
    picture = torch.rand(2, cnn.SIZE, cnn.SIZE)
    np.testing.assert_array_equal(cnn.logits(read, picture), cnn.logits(net, picture))
    assert temperature == 1.25


def test_a_folder_that_is_no_classifier_or_one_of_other_classes_is_refused(net, tmp_path):
    folder = tmp_path / "classifier"
    cnn.save(net, 1.0, folder)
    settings = folder / "classifier.json"
    settings.write_text(settings.read_text().replace("block", "blob"))
    with pytest.raises(InputError, match=r"found the classes vertical, diagonal, .*blob"):
        cnn.load(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"not a pattern classifier: model.safetensors is missing"):
        cnn.load(folder)
