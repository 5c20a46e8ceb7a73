"""A convolutional network that classifies self-attention maps (section 4.1).

Eight convolutional layers with ReLU, as in the paper, in the arrangement of the follow-up
(Prasanna, Rogers, Rumshisky 2020): 3 × 3 with 16, 16, pool, 32, 32, pool, 64, 64 channels, then
1 × 1 with 16 and with a channel per kind of map, averaged over the map. Batch normalisation, which
neither paper mentions, is added: with it, a few hundred maps and few epochs are enough.

Maps have any length. Each is resampled to one size, at a fraction of the work of the follow-up's
zero-padding. Besides the map, the network sees what the classes are about and a resampled map no
longer shows: which columns are special tokens, which cells are within one sentence or near the
diagonal, how dark a column is on average, and how even a row.

A few labelled encoders are too little to learn from: see `drawn_maps` and `train_network` in
`classifier`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import torch
from torch import nn

from darksecrets.paper.patterns.network.features import entropy
from darksecrets.paper.patterns.network.kinds import MAP_KINDS
from darksecrets.paper.patterns.network.seen import Seen

SIZE = 16
"""Height and width, in cells, of the image that a map is resampled to."""
CHANNELS = (
    "darkness",
    "weight × L",
    "special column",
    "same sentence",
    "near the diagonal",
    "distance",
    "darkness of the column",
    "entropy of the row",
)
"""Planes of an image; the first two are of the weights, the next four of the tokens."""
NEAR = 1.5
"""Distance in tokens at which a cell is 1/e near the diagonal."""
STAGES = ((16, 16), (32, 32), (64, 64))
"""Channels of the 3 × 3 layers; 2 × 2 max pooling between stages."""
LAST = 16
"""Channels of the first 1 × 1 layer."""
_LOG_SCALE = 4.0  # divides log(1 + weight × L): 1 for a weight 54 times that of a uniform map
_FARTHEST = 5.0  # divides log(1 + distance): 1 for a distance of 147 tokens


class PatternNet(nn.Module):
    """The network: logits of the kinds of maps."""

    def __init__(self, channels: int = len(CHANNELS)) -> None:
        super().__init__()
        widths = [channels, *(width for stage in STAGES for width in stage)]
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(itertools.pairwise(widths)):
            if number in (2, 4):
                layers.append(nn.MaxPool2d(2))
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(after), nn.ReLU()]
        layers += [nn.Conv2d(widths[-1], LAST, 1), nn.ReLU()]
        layers += [nn.Conv2d(LAST, len(MAP_KINDS), 1)]
        self.layers = nn.Sequential(*layers)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Classify images.

        Args:
            images: [maps, channels, size, size] as `images` makes them.

        Returns:
            [maps, kinds] logits.
        """
        x: torch.Tensor = self.layers(images.to(memory_format=torch.channels_last))
        return x.mean(dim=(2, 3))


def images(seen: Seen) -> torch.Tensor:
    """Make images of maps: resampled to one size, with repeated cells or means of cells.

    Args:
        seen: Maps of equal length.

    Returns:
        [maps, channels, SIZE, SIZE] in the order of ``CHANNELS``, between 0 and 1.
    """
    matrix = _resampling(seen.length, SIZE, seen.drawn.device)
    scaled = (torch.log1p(seen.weights * seen.length) / _LOG_SCALE).clamp(max=1)
    drawn, scaled = (matrix @ one @ matrix.T for one in (seen.drawn, scaled))
    groups = matrix @ seen.groups
    special = groups[:, None, :, 2].expand_as(drawn)
    text = groups[:, :, :2]
    columns = (seen.drawn.mean(dim=1) @ matrix.T)[:, None, :].expand_as(drawn)
    evenness = (entropy(seen.weights) @ matrix.T)[:, :, None].expand_as(drawn)
    near, distance = (one.expand_as(drawn) for one in _places(seen.length, SIZE, drawn.device))
    planes = [drawn, scaled, special, text @ text.transpose(1, 2), near, distance]
    return torch.stack([*planes, columns, evenness], dim=1)


@cache
def _resampling(length: int, size: int, device: torch.device) -> torch.Tensor:
    """[size, L] matrix: means of neighbours if a map shrinks, repeated tokens if it grows.

    An interpolation would smooth the columns and the diagonal of a short map away.
    """
    if length < size:
        nearest = torch.arange(size) * length // size
        return nn.functional.one_hot(nearest, length).float().to(device)
    resized: torch.Tensor = nn.functional.interpolate(
        torch.eye(length)[None, None], size=(size, length), mode="bilinear", antialias=True
    )
    return resized[0, 0].to(device)


@cache
def _places(length: int, size: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Two planes [size, size]: nearness to the diagonal, and distance from it."""
    matrix, places = _resampling(length, size, device), torch.arange(length, device=device)
    distances = (places[:, None] - places[None, :]).abs().float()
    near = matrix @ torch.exp(-distances / NEAR) @ matrix.T
    return near, matrix @ torch.log1p(distances) @ matrix.T / _FARTHEST


@dataclass(frozen=True)
class Training:
    """How the network is trained.

    Attributes:
        epochs: Passes over the maps.
        seed: Seed of the weights, the order of the maps, their augmentation, and the drawn maps.
        drawn: Number of drawn maps.
        batch_size: Maps per step.
        learning_rate: Peak learning rate of AdamW, reached after a tenth of the steps.
        weight_decay: Weight decay of AdamW.
    """

    epochs: int
    seed: int
    drawn: int
    batch_size: int = 64
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2


def train(
    known: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    training: Training,
) -> PatternNet:
    """Train a network.

    Training is deterministic on the same machine with the same number of threads.

    Args:
        known: [maps, channels, size, size] images of maps, of any precision.
        targets: [maps, kinds] probabilities of kinds.
        weights: [maps] weight of each map in the loss.
        training: Settings of the training.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(training.seed)
        net = PatternNet()
        _fit(net, known, targets, weights, training)
    net.eval()
    return net


def _fit(
    net: PatternNet,
    known: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    training: Training,
) -> None:
    rate, size = training.learning_rate, training.batch_size
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=training.weight_decay)
    steps = training.epochs * -(-len(known) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    for _ in range(training.epochs):
        for rows in torch.split(torch.randperm(len(known)), size):
            optimiser.zero_grad()
            pictures = augment(known[rows].float())
            error = loss(net(pictures), targets[rows], weights[rows])
            error.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()


def loss(outputs: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted mean of the cross-entropy of maps.

    Args:
        outputs: [maps, kinds] logits.
        targets: [maps, kinds] probabilities.
        weights: [maps].
    """
    surprise = -(targets * torch.log_softmax(outputs, dim=1)).sum(dim=1)
    return (surprise * weights).sum() / weights.sum()


def augment(pictures: torch.Tensor) -> torch.Tensor:
    """Augment images in ways that preserve their patterns.

    - Reverse the order of the tokens on both axes, in half of the images at random: columns,
      diagonals and squares on the diagonal remain what they are.
    - Raise the weights to a power between 0.78 and 1.28, as a softmax at another temperature would.
    - Add a little noise to every cell.

    Other transformations would change the pattern: transposing turns columns into rows, rotating by
    90° moves the diagonal, permuting the tokens breaks up diagonals and squares, and cropping may
    cut off the column or one of two squares.

    Args:
        pictures: [maps, channels, size, size] within 0 and 1. The weights are in the first two
            channels; what describes the tokens is only reversed.

    Returns:
        The same shape. Random numbers come from torch's global generator.
    """
    count = len(pictures)
    turned = torch.where(torch.rand(count, 1, 1, 1) < 0.5, pictures.flip(2, 3), pictures)
    powers = torch.exp((torch.rand(count, 1, 1, 1) - 0.5) / 2)
    weights = turned[:, :2]
    noise = 0.05 * torch.rand(count, 1, 1, 1) * torch.rand_like(weights)
    return torch.cat([weights**powers + noise, turned[:, 2:]], dim=1)
