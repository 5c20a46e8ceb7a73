"""The classifier of self-attention maps: a network that sees them, and one that is given features.

The convolutional network of section 4.1 learns what a map looks like. Alone, it also learns what
tells the labelled encoders apart. Perceptrons on hand-made features transfer better to encoders
that were not labelled, and the mean of both is best (`benchmarks/results/pattern_transfer.md`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from darksecrets.patterns import cnn, perceptrons
from darksecrets.patterns.annotations import Annotations
from darksecrets.patterns.classes import PATTERNS, Reading
from darksecrets.patterns.features import features
from darksecrets.patterns.readings import members, possible
from darksecrets.patterns.seen import Seen
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic, write_json

NETWORKS = 2
"""Convolutional networks whose log probabilities are averaged: training from another seed then
changes less."""
EVENNESS = 0.5
"""How much rare classes weigh in training: 0 each map the same, 1 each class the same."""
_LEAST = 1e-12
WEIGHTS, SETTINGS = "model.safetensors", "classifier.json"


@dataclass(frozen=True)
class Inputs:
    """What is classified.

    Attributes:
        images: [maps, channels, size, size], see `cnn.images`.
        features: [maps, features], see `features.features`.
    """

    images: torch.Tensor
    features: torch.Tensor

    @classmethod
    def of(cls, seen: Seen) -> Inputs:
        """Prepare maps of equal length."""
        return cls(cnn.images(seen), features(seen))

    @classmethod
    def of_labelled(cls, data: Annotations) -> Inputs:
        """Prepare labelled maps, of any lengths."""
        marks = zip(data.maps, data.table["special"], data.table["segments"], strict=True)
        parts = [
            cls.of(
                Seen.of(
                    torch.from_numpy(np.asarray(one, dtype=np.float32))[None],
                    _digits(special) == 1,
                    _digits(segments),
                )
            )
            for one, special, segments in marks
        ]
        images, values = (
            torch.cat([getattr(one, name) for one in parts]) for name in ("images", "features")
        )
        return cls(images, values)

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Inputs:
        """The inputs of some maps."""
        return Inputs(self.images[rows], self.features[rows])


def _digits(text: str) -> torch.Tensor:
    return torch.tensor([[int(digit) for digit in text]])


class Classifier(nn.Module):
    """Convolutional networks and perceptrons.

    Attributes:
        temperature: Divides log probabilities of classes to calibrate them.
    """

    def __init__(
        self,
        networks: Sequence[cnn.PatternNet],
        of_features: perceptrons.Perceptrons,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.of_features = of_features
        self.temperature = temperature

    def parts(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """[maps, kinds] log probabilities by the networks, and by the perceptrons."""
        seen = [torch.log_softmax(net(inputs.images), dim=1) for net in self.networks]
        return torch.stack(seen).mean(dim=0), self.of_features(inputs.features)

    def forward(self, inputs: Inputs) -> torch.Tensor:
        """[maps, kinds] log probabilities of kinds but for a constant per map, not calibrated."""
        return torch.stack(self.parts(inputs)).mean(dim=0)

    def read(self, outputs: torch.Tensor, reading: Reading) -> torch.Tensor:
        """Calibrated probabilities under a reading.

        Args:
            outputs: [maps, kinds] as `forward` gives them.
            reading: Of the classes.

        Returns:
            [maps, classes].
        """
        of_kinds = torch.softmax(outputs, dim=1)
        of_classes = of_kinds @ torch.from_numpy(members(reading)).to(of_kinds)
        return torch.softmax(of_classes.clamp(min=_LEAST).log() / self.temperature, dim=1)


def untrained(temperature: float = 1.0) -> Classifier:
    """A classifier with random weights, of torch's global generator."""
    networks = [cnn.PatternNet() for _ in range(NETWORKS)]
    return Classifier(networks, perceptrons.Perceptrons(), temperature).eval()


def train(
    inputs: Inputs, labels: Sequence[str], strict: Sequence[str], training: cnn.Training
) -> Classifier:
    """Train on labelled maps.

    Args:
        inputs: Of the maps.
        labels: [maps] classes under the wide reading.
        strict: [maps] classes under the strict reading; empty if unknown.
        training: Settings of the training. The networks have seeds of their own, derived from its.
    """
    fitting = torch.from_numpy(possible(labels, strict))
    weights = torch.from_numpy(weights_of(labels))
    networks = [
        cnn.train(inputs.images, fitting, weights, replace(training, seed=seed))
        for seed in range(NETWORKS * training.seed, NETWORKS * (training.seed + 1))
    ]
    of_features = perceptrons.train(inputs.features, fitting, weights, training.seed)
    return Classifier(networks, of_features).eval()


def weights_of(labels: Sequence[str]) -> npt.NDArray[np.float32]:
    """[maps] weight of each map in training, by the frequency of its class; the mean is 1."""
    _, places, counts = np.unique(np.array(labels), return_inverse=True, return_counts=True)
    weights = (1 / counts[places]) ** EVENNESS
    return np.asarray(weights / weights.mean(), dtype=np.float32)


def save(classifier: Classifier, folder: Path) -> None:
    """Write a trained classifier; the folder appears complete or not at all."""
    from safetensors.torch import save_file

    with atomic(folder) as temporary:
        temporary.mkdir()
        weights = {name: value.contiguous() for name, value in classifier.state_dict().items()}
        save_file(weights, temporary / WEIGHTS)
        settings = {"classes": list(PATTERNS), "temperature": classifier.temperature}
        write_json(settings, temporary / SETTINGS)


def load(folder: Path) -> Classifier:
    """Read a trained classifier.

    Raises:
        InputError: A file is missing, or the classifier has other classes.
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
    classifier = untrained(settings["temperature"])
    classifier.load_state_dict(load_file(folder / WEIGHTS))
    return classifier
