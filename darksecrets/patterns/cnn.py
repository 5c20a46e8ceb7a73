"""The classifier of self-attention maps: a small convolutional network (section 4.1).

Eight convolutional layers with ReLU, as in the paper, in the arrangement of the follow-up
(Prasanna, Rogers, Rumshisky 2020): 3 × 3 with 16, 16, pool, 32, 32, pool, 64, 64 channels, then
1 × 1 with 16 and with a channel per class, averaged over the map. Batch normalisation, which
neither paper mentions, is added: with it, a few hundred maps and few epochs are enough.

Maps have any length. Each is scaled as the annotators saw it and resampled to one size. This is
better than the follow-up's zero-padding to one size, at a fifteenth of the work. Neither the size
nor the scale, as long as weights are scaled, matters much (`benchmarks/results/pattern_sizes.md`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from darksecrets.patterns.classes import PATTERNS
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic, write_json

SIZE = 32
"""Height and width, in cells, of the image that a map is resampled to."""
STAGES = ((16, 16), (32, 32), (64, 64))
"""Channels of the 3 × 3 layers; 2 × 2 max pooling between stages."""
LAST = 16
"""Channels of the first 1 × 1 layer."""
WEIGHTS, SETTINGS = "model.safetensors", "classifier.json"


class PatternNet(nn.Module):
    """The network: logits of the classes for images of maps."""

    def __init__(self) -> None:
        super().__init__()
        widths = [1, *(width for stage in STAGES for width in stage)]
        layers: list[nn.Module] = []
        for number, (before, after) in enumerate(itertools.pairwise(widths)):
            if number in (2, 4):
                layers.append(nn.MaxPool2d(2))
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False)]
            layers += [nn.BatchNorm2d(after), nn.ReLU()]
        layers += [nn.Conv2d(widths[-1], LAST, 1), nn.ReLU()]
        layers += [nn.Conv2d(LAST, len(PATTERNS), 1)]
        self.layers = nn.Sequential(*layers)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Classify images.

        Args:
            images: [maps, size, size] as `prepare` makes them.

        Returns:
            [maps, classes] logits, in the order of the classes.
        """
        x: torch.Tensor = self.layers(images[:, None].to(memory_format=torch.channels_last))
        return x.mean(dim=(2, 3))


def as_drawn(maps: torch.Tensor) -> torch.Tensor:
    """Scale maps as the annotators see them: the L-th greatest weight and all greater become 1.

    Args:
        maps: [maps, L, L] weights.

    Returns:
        [maps, L, L] within 0 and 1, float32.
    """
    weights = maps.float()
    darkest = weights.flatten(1).topk(len(maps[0]), dim=1, sorted=False).values.amin(dim=1)
    return (weights / darkest[:, None, None]).clamp(max=1)


def resample(images: torch.Tensor) -> torch.Tensor:
    """Resample images to one size: linear interpolation, with means of cells if they shrink.

    Args:
        images: [maps, L, L].

    Returns:
        [maps, SIZE, SIZE].
    """
    resized: torch.Tensor = nn.functional.interpolate(
        images[:, None], size=(SIZE, SIZE), mode="bilinear", antialias=True
    )
    return resized[:, 0]


def prepare(maps: torch.Tensor) -> torch.Tensor:
    """Make images of maps of equal length.

    Args:
        maps: [maps, L, L] weights.

    Returns:
        [maps, SIZE, SIZE].
    """
    return resample(as_drawn(maps))


def images(maps: Sequence[npt.NDArray[np.floating]]) -> torch.Tensor:
    """[maps, SIZE, SIZE] images of maps of any lengths, a few hundred of them."""
    tensors = (torch.from_numpy(np.asarray(one, dtype=np.float32)) for one in maps)
    return torch.cat([prepare(one[None]) for one in tensors])


@dataclass(frozen=True)
class Training:
    """How the network is trained.

    Attributes:
        epochs: Passes over the maps.
        seed: Seed of the weights, the order of the maps and their augmentation.
        batch_size: Maps per step.
        learning_rate: Peak learning rate of AdamW, reached after a tenth of the steps.
        weight_decay: Weight decay of AdamW.
    """

    epochs: int
    seed: int
    batch_size: int = 32
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2


def train(
    known: torch.Tensor,
    labels: Sequence[str],
    training: Training,
    network: type[PatternNet] = PatternNet,
) -> PatternNet:
    """Train a network on labelled maps; every class has the same total weight.

    Training is deterministic on the same machine with the same number of threads.

    Args:
        known: [maps, size, size] images of maps.
        labels: [maps] names of classes.
        training: Settings of the training.
        network: The network's class; for comparison, a variant of it.
    """
    names = list(PATTERNS)
    targets = torch.tensor([names.index(label) for label in labels])
    counts = torch.bincount(targets, minlength=len(names))
    weights = len(targets) / (counts.clamp(min=1) * (counts > 0).sum())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(training.seed)
        net = network()
        _fit(net, known, targets, nn.CrossEntropyLoss(weights), training)
    net.eval()
    return net


def _fit(
    net: PatternNet,
    known: torch.Tensor,
    targets: torch.Tensor,
    criterion: nn.CrossEntropyLoss,
    training: Training,
) -> None:
    rate, size = training.learning_rate, training.batch_size
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=training.weight_decay)
    steps = training.epochs * -(-len(known) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    for _ in range(training.epochs):
        for rows in torch.split(torch.randperm(len(known)), size):
            optimiser.zero_grad()
            criterion(net(augment(known[rows])), targets[rows]).backward()
            optimiser.step()
            schedule.step()


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
        pictures: [maps, size, size] within 0 and 1.

    Returns:
        The same shape. Random numbers come from torch's global generator.
    """
    count = len(pictures)
    turned = torch.where(torch.rand(count, 1, 1) < 0.5, pictures.flip(1, 2), pictures)
    powers = torch.exp((torch.rand(count, 1, 1) - 0.5) / 2)
    return turned**powers + 0.05 * torch.rand(count, 1, 1) * torch.rand_like(turned)


def logits(net: PatternNet, pictures: torch.Tensor) -> npt.NDArray[np.float64]:
    """[maps, classes] outputs for images of a few hundred maps."""
    with torch.inference_mode():
        outputs: npt.NDArray[np.float64] = net(pictures).double().numpy()
    return outputs


def save(net: PatternNet, temperature: float, folder: Path) -> None:
    """Write a trained network; the folder appears complete or not at all.

    Args:
        net: The network.
        temperature: Divides its logits to calibrate its probabilities.
        folder: Folder to write.
    """
    from safetensors.torch import save_file

    with atomic(folder) as temporary:
        temporary.mkdir()
        weights = {name: value.contiguous() for name, value in net.state_dict().items()}
        save_file(weights, temporary / WEIGHTS)
        write_json({"classes": list(PATTERNS), "temperature": temperature}, temporary / SETTINGS)


def load(folder: Path) -> tuple[PatternNet, float]:
    """Read a trained network and its temperature.

    Raises:
        InputError: A file is missing, or the network has other classes.
    """
    from safetensors.torch import load_file

    missing = [name for name in (WEIGHTS, SETTINGS) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} is not a pattern classifier: {', '.join(missing)} is missing.")
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    if settings["classes"] != list(PATTERNS):
        raise InputError(
            f"{folder}: found the classes {', '.join(settings['classes'])}, expected "
            f"{', '.join(PATTERNS)}. Train the classifier again."
        )
    net = PatternNet()
    net.load_state_dict(load_file(folder / WEIGHTS))
    net.eval()
    return net, settings["temperature"]
