"""The classifier of self-attention maps: the paper's convolutional network (section 4.1).

`cnn` has the network, `teaching` how it is trained.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch
from torch import nn

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, write_json
from darksecrets.paper.patterns.classes import PATTERNS, Definition
from darksecrets.paper.patterns.network import cnn
from darksecrets.paper.patterns.network.kinds import members
from darksecrets.paper.patterns.network.seen import Seen

_LEAST = 1e-12
WEIGHTS, SETTINGS = "model.safetensors", "classifier.json"
_REMEDY = (
    "Remove the folder and run again; the classifier that ships is made again by "
    "`make pattern-classifier`."
)


class Classifier(nn.Module):
    """The network, and the temperature that calibrates it.

    Attributes:
        network: Tells kinds of maps apart.
        temperature: Divides log probabilities of classes.
    """

    def __init__(self, network: cnn.PatternNet, temperature: float) -> None:
        super().__init__()
        self.network = network
        self.temperature = temperature

    def forward(self, seen: Seen) -> torch.Tensor:
        """[maps, kinds] probabilities, not calibrated."""
        return torch.softmax(self.network(cnn.images(seen)), dim=1)

    def read(self, kind_chances: torch.Tensor, definition: Definition) -> torch.Tensor:
        """Calibrated probabilities under a definition.

        Args:
            kind_chances: [maps, kinds] as `forward` gives them.
            definition: Of the classes.

        Returns:
            [maps, classes].
        """
        class_chances = kind_chances @ torch.from_numpy(members(definition)).to(kind_chances)
        logits = class_chances.clamp(min=_LEAST).log() / self.temperature
        return torch.softmax(logits, dim=1)


def untrained(temperature: float = 1.0) -> Classifier:
    """A classifier that has learned nothing: the network's weights are random."""
    return Classifier(cnn.PatternNet(), temperature).eval()


def save(classifier: Classifier, folder: Path) -> None:
    """Write a trained classifier; the folder appears complete or not at all."""
    from safetensors.torch import save_file

    with atomic(folder) as temporary:
        temporary.mkdir()
        state = classifier.network.state_dict()
        save_file({name: value.contiguous() for name, value in state.items()}, temporary / WEIGHTS)
        settings = {"classes": list(PATTERNS), "temperature": classifier.temperature}
        write_json(settings, temporary / SETTINGS)


def load(folder: Path) -> Classifier:
    """Read a trained classifier.

    Raises:
        InputError: A file is missing or damaged, or the classifier has other classes.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    missing = [name for name in (WEIGHTS, SETTINGS) if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} is not a pattern classifier: {', '.join(missing)} is missing. {_REMEDY}"
        )
    classifier = untrained(_temperature(folder / SETTINGS))
    try:
        classifier.network.load_state_dict(load_file(folder / WEIGHTS))
        for name, values in classifier.state_dict().items():
            if not values.isfinite().all():
                raise ValueError(f"{name} is not finite")
    except (SafetensorError, RuntimeError, OSError, ValueError) as error:
        raise _damaged(folder / WEIGHTS, "the weights of a network", error) from None
    return classifier


def _temperature(file: Path) -> float:
    """The temperature of a network with today's classes."""
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
        classes = list(map(str, settings["classes"]))
        temperature = float(settings["temperature"])
        if not 0 < temperature < math.inf:
            raise ValueError(f"a temperature of {temperature}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(file, "classes and a temperature above 0", error) from None
    if classes != list(PATTERNS):
        raise InputError(
            f"{file} has the classes {', '.join(classes)} instead of {', '.join(PATTERNS)}. "
            f"{_REMEDY}"
        )
    return temperature


def _damaged(file: Path, expected: str, error: Exception) -> InputError:
    found = " ".join(str(error).split()) or "nothing"
    return InputError(f"{file} is damaged ({found}): it must have {expected}. {_REMEDY}")
