"""The network: its images, its layers, its training."""

import numpy as np
import pytest
import torch
from labelled import make_labelled_maps

from darksecrets.core.plotting.attention_map import saturation
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.network import cnn
from darksecrets.paper.patterns.network.kinds import MAP_KINDS, possible
from darksecrets.paper.patterns.network.seen import Seen
from darksecrets.paper.patterns.network.teaching import Inputs

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return cnn.PatternNet().eval()


def see(maps, special=None, segments=None):
    """Maps of one length, without special tokens and of one sentence if nothing else is said."""
    shape = maps.shape[:2]
    special = torch.zeros(shape, dtype=torch.bool) if special is None else special
    segments = torch.zeros(shape, dtype=torch.long) if segments is None else segments
    return Seen.of(torch.as_tensor(maps), special, segments)


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
    images = torch.rand(2, len(cnn.CHANNELS), size, size)
    with torch.inference_mode():
        found = net(images).double().numpy()
    for image, outputs in zip(images, found, strict=True):
        planes = image.double().numpy()
        for layer in net.layers:
            planes = by_loops(layer, planes)
        expected = [plane.sum() / plane.size for plane in planes]
        np.testing.assert_allclose(outputs, expected, atol=1e-4 * np.abs(expected).max())
    assert net(torch.rand(3, len(cnn.CHANNELS), 64, 64)).shape == (3, len(MAP_KINDS))


@pytest.mark.parametrize("length", [1, 2, 7, 32, 125])
def test_maps_are_scaled_as_they_are_drawn(length):
    rng = np.random.default_rng(length)
    maps = rng.dirichlet(np.full(length, 0.3), size=(3, length)).astype(np.float16)
    seen = see(maps)
    for one, image, dark in zip(maps, seen.drawn.numpy(), seen.dark.numpy(), strict=True):
        expected = np.minimum(one.astype(np.float64) / float(saturation(one)), 1)
        np.testing.assert_allclose(image, expected, atol=1e-6)
        np.testing.assert_array_equal(dark, image > 0.5)
    assert cnn.images(seen).shape == (3, len(cnn.CHANNELS), cnn.SIZE, cnn.SIZE)


def resampled(planes: torch.Tensor) -> torch.Tensor:
    """Planes [..., L, L] at the network's size: by torch if they shrink, else by repeated cells."""
    length = planes.shape[-1]
    if length >= cnn.SIZE:
        size = (cnn.SIZE, cnn.SIZE)
        return torch.nn.functional.interpolate(planes, size=size, mode="bilinear", antialias=True)
    near = [place * length // cnn.SIZE for place in range(cnn.SIZE)]
    return planes[..., near, :][..., near]


@pytest.mark.parametrize("length", [2, 5, 16, 24, 75])
def test_images_are_the_planes_resampled(length):
    rng = np.random.default_rng(length)
    maps = rng.dirichlet(np.full(length, 0.3), size=(4, length)).astype(np.float32)
    special = torch.from_numpy(rng.random((4, length)) < 0.2)
    segments = torch.from_numpy((rng.random((4, length)) < 0.5).astype(np.int64))
    seen = see(maps, special, segments)
    marks = special[:, None, :].float().expand(-1, length, -1)
    planes = {
        "darkness": seen.drawn,
        "weight × L": (torch.log1p(torch.from_numpy(maps) * length) / 4).clamp(max=1),
        "special column": marks,
    }
    planes |= {
        name: torch.zeros_like(seen.drawn) for name in (*cnn.CHANNELS[4:6], *cnn.CHANNELS[6:])
    }
    for n, i, j in np.ndindex(maps.shape):
        planes["near the diagonal"][n, i, j] = np.exp(-abs(i - j) / 1.5)
        planes["distance"][n, i, j] = np.log(1 + abs(i - j)) / 5
        planes["darkness of the column"][n, i, j] = float(seen.drawn[n, :, j].double().mean())
        row = maps[n, i].astype(np.float64)
        terms = [weight * np.log(weight) for weight in row if weight > 0]
        planes["entropy of the row"][n, i, j] = -sum(terms) / np.log(length)
    expected = resampled(torch.stack(list(planes.values()), dim=1))
    found = cnn.images(seen)
    places = [cnn.CHANNELS.index(name) for name in planes]
    torch.testing.assert_close(found[:, places], expected, atol=1e-5, rtol=0)
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-5


def test_the_plane_of_sentences_shows_their_squares():
    length = cnn.SIZE
    special = torch.arange(length)[None] == 0
    segments = (torch.arange(length)[None] > 9).long()
    image = cnn.images(see(torch.full((1, length, length), 1 / length), special, segments))[0, 3]
    for i, j in np.ndindex(image.shape):
        same = (i > 9) == (j > 9) and i > 0 and j > 0
        assert image[i, j] == pytest.approx(float(same), abs=1e-6)


def test_augmentation_reverses_all_planes_or_none_and_adds_little_to_the_weights():
    torch.manual_seed(1)
    picture = torch.zeros(200, len(cnn.CHANNELS), 8, 8)
    picture[:, :, 0, 5] = 1
    changed = cnn.augment(picture)
    places = changed.flatten(2).argmax(dim=2)
    assert set(places.flatten().tolist()) == {5, 7 * 8 + 2}
    assert (places == places[:, :1]).all()
    assert 60 < (places[:, 0] == 5).sum() < 140
    assert (changed[:, 2:].sum(dim=(2, 3)) == 1).all()  # what describes the tokens is only reversed
    rest = changed[:, :2].clone().flatten(2)
    rest.scatter_(2, places[:, :2, None], 0)
    assert rest.min() >= 0
    assert rest.max() <= 0.05


def test_the_loss_is_the_weighted_cross_entropy():
    generator = torch.Generator().manual_seed(0)
    outputs = torch.randn(6, len(MAP_KINDS), generator=generator)
    targets = torch.rand(6, len(MAP_KINDS), generator=generator)
    targets /= targets.sum(dim=1, keepdim=True)
    weights = torch.tensor([1.0, 2, 1, 1, 0.5, 1])
    total = 0.0
    for row, target, weight in zip(outputs.double(), targets, weights, strict=True):
        chances = (row.exp() / row.exp().sum()).tolist()
        pairs = zip(target.tolist(), chances, strict=True)
        total -= float(weight) * sum(share * np.log(chance) for share, chance in pairs)
    found = cnn.loss(outputs, targets, weights)
    assert found.item() == pytest.approx(total / float(weights.sum()), rel=1e-5)


def labelled(maps_of_each, seed=0):
    mapset = make_labelled_maps(PATTERNS, maps_of_each, seed)
    labels = mapset.labels["label"].tolist()
    table = mapset.table
    inputs = Inputs.prepare_maps(mapset.maps, table["special"], table["segments"])
    return inputs.images, labels, torch.from_numpy(possible(labels, labels)).float()


@pytest.mark.slow
def test_separable_maps_are_learned_and_the_same_again():
    known, _, fitting = labelled(20)
    unseen, labels, _ = labelled(6, seed=1)
    ones = torch.ones(len(known))
    trained = [cnn.train(known, fitting, ones, cnn.Training(20, seed=3, drawn=1)) for _ in range(2)]
    for one, other in zip(*(net.parameters() for net in trained), strict=True):
        assert torch.equal(one, other)
    with torch.inference_mode():
        places = trained[0](unseen).argmax(dim=1)
    assert np.mean([MAP_KINDS[k][0] == name for k, name in zip(places, labels, strict=True)]) > 0.8
    different = cnn.train(known, fitting, ones, cnn.Training(1, seed=4, drawn=1))
    assert not torch.equal(different.layers[0].weight, trained[0].layers[0].weight)


def test_training_leaves_the_generator_of_others_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    known, _, fitting = labelled(2)
    cnn.train(known, fitting, torch.ones(len(known)), cnn.Training(1, seed=0, drawn=1))
    assert torch.equal(before, torch.random.get_rng_state())
