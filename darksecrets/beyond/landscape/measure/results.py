"""The outputs of a model with layers reset, as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape.declared import SWAPS
from darksecrets.core.arrays import Floats, Integers, Singles
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic

Logits = Singles
Labels = Integers | Singles

_SWAPS, _OUTPUTS = "swaps.csv", "outputs.npz"


@dataclass(frozen=True)
class Reset:
    """Outputs of one fine-tuned model with layers reset.

    Attributes:
        swaps: Rows of `declared.SWAPS`.
        finetuned: [examples, outputs] of the fine-tuned model, on the validation split.
        swapped: [swaps, examples, outputs] with each of them reset.
        idx: [examples] numbers of the validation examples.
        labels: [examples] their labels.
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
    """

    swaps: pd.DataFrame
    finetuned: Logits
    swapped: Logits
    idx: Integers
    labels: Labels
    units: Integers

    def save(self, folder: Path) -> None:
        """Write the folder; it appears complete or not at all."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            SWAPS.write(self.swaps, temporary / _SWAPS)
            arrays = {name: value for name, value in vars(self).items() if name != "swaps"}
            np.savez_compressed(temporary / _OUTPUTS, **arrays)

    @classmethod
    def load(cls, folder: Path) -> Reset:
        """Read what `save` wrote.

        Raises:
            InputError: A file is missing or damaged.
        """
        names = [name for name in cls.__dataclass_fields__ if name != "swaps"]
        arrays = read_arrays(folder / _OUTPUTS, *names)
        return cls(SWAPS.read(folder / _SWAPS), **{name: arrays[name] for name in names})


def losses(task: Task, logits: Logits, labels: Labels) -> Floats:
    """Loss of every example: cross-entropy, or for a regression the squared error.

    Args:
        task: Decides which.
        logits: [..., examples, outputs].
        labels: [examples].

    Returns:
        [..., examples].
    """
    outputs = logits.astype(np.float64)
    if task.is_regression:
        return (outputs[..., 0] - labels) ** 2
    highest = outputs.max(axis=-1, keepdims=True)
    total = np.log(np.exp(outputs - highest).sum(axis=-1)) + highest[..., 0]
    places = np.broadcast_to(labels.astype(np.int64)[:, None], (*outputs.shape[:-1], 1))
    gold = np.take_along_axis(outputs, places, axis=-1)[..., 0]
    return total - gold


def predictions(task: Task, logits: Logits) -> Integers | Logits:
    """[..., examples] numbers of classes, or the outputs of a regression."""
    if task.is_regression:
        return logits[..., 0]
    return logits.argmax(axis=-1)


def require_alike(results: Mapping[int, Reset], task: Task) -> None:
    """Check that the results of all seeds are of the same examples and swaps.

    Raises:
        InputError: Examples or swaps differ between seeds.
    """
    (first, reference), *others = results.items()
    for seed, result in others:
        same = all(
            np.array_equal(getattr(result, name), getattr(reference, name))
            for name in ("idx", "labels")
        )
        if not same or not result.swaps.equals(reference.swaps):
            raise InputError(
                f"{task.name}: the results of seeds {first} and {seed} have different examples or "
                "layers. Run the rule reset_weights again."
            )
