"""Run a fine-tuned model with layers of the one that it was made from (Hao et al. 2019)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from darksecrets.beyond.landscape.declared import SWAPS, Settings
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.results import Logits, Reset
from darksecrets.beyond.landscape.measure.swaps import Swap, swaps
from darksecrets.core.arrays import Integers
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.sweep import check_labels
from darksecrets.core.interventions.ties import decide_ties
from darksecrets.core.models import devices
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.mixing import Mixture
from darksecrets.core.models.starting import Start, load_start
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress
from darksecrets.paper.finetuning.evaluation import batch_size_for
from darksecrets.paper.finetuning.evaluation import outputs as run_model
from darksecrets.paper.finetuning.tables import predictions

_ROUNDING = 1e-3  # of outputs in float32, which other batches or another CPU may change


def reset(
    pretrained: Path,
    finetuned: Path,
    stored: Path,
    dataset: Path,
    model: Finetuned,
    start: Start,
    settings: Settings,
    *,
    threads: int,
) -> tuple[Reset, dict[str, Any]]:
    """Reset layers, one set after the other.

    Args:
        pretrained: The pre-trained encoder.
        finetuned: The model that was made from it, or from random weights.
        stored: The predictions of this model that its run has stored: with nothing reset, the
            outputs are these, bit for bit.
        dataset: The task's data, see the data contract.
        model: Which model it is.
        start: What its fine-tuning began with.
        settings: How many examples are scored.
        threads: Number of CPU threads.

    Returns:
        The outputs; and for the record, how many models were run.

    Raises:
        InputError: One model was not made from the other, its layers share their weights, or an
            output is not finite.
    """
    torch.set_num_threads(threads)
    tokenizer, task = load_tokenizer(finetuned), model.task
    validation = model.examples(dataset, "validation", tokenizer, settings.examples)
    check_labels(validation.labels, task, str(dataset))
    started, _ = load_start(pretrained, task, start)
    ended, _ = load_classifier(finetuned, task, model.seed)
    mixture = Mixture(devices.place(started), devices.place(ended))
    outputs = outputs_of(mixture, validation, task)
    outputs, rounding = take_stored(outputs, read_stored(stored, task, outputs.idx), stored)
    return outputs, {
        "rounding": rounding,
        "models": len(outputs.swaps),
    }


def read_stored(file: Path, task: Task, idx: Integers) -> Logits:
    """[examples, outputs] that a run has stored of a model; NaN for examples that it lacks."""
    table = predictions(task.num_labels).read(file).set_index("idx")
    outputs = table[[f"logit_{number}" for number in range(task.num_labels)]]
    return outputs.reindex(idx).to_numpy(dtype=np.float32)


def take_stored(found: Reset, outputs: Logits, file: Path) -> tuple[Reset, float]:
    """Take the stored outputs for those of the fine-tuned model, wherever it is run as it is.

    Returns:
        The result, and how far the outputs computed here are from those stored, at most.

    Raises:
        InputError: They differ by more than rounding: the model is of another run.
    """
    rounding = rounding_of(found.finetuned, outputs, file)
    swapped = found.swapped.copy()
    unchanged = (swapped == found.finetuned).all(axis=(-2, -1))
    swapped[unchanged] = outputs
    return dataclasses.replace(found, finetuned=outputs, swapped=swapped), rounding


def rounding_of(found: Logits, outputs: Logits, file: Path) -> float:
    """How far a model's outputs are from those that a run has stored of it, at most.

    Args:
        found: [examples, outputs] computed here.
        outputs: [examples, outputs] stored.
        file: Where they are stored.

    Raises:
        InputError: They differ by more than rounding: the model is of another run.
    """
    rounding = float(np.abs(outputs - found).max())
    if not rounding <= _ROUNDING * max(1.0, float(np.abs(outputs).max())):  # so that NaN is wrong
        raise InputError(
            f"{file}: the stored outputs differ from those of the model by {rounding:.2g}, more "
            "than by rounding. Model, data and predictions must be of one run: make the "
            "predictions again."
        )
    return rounding


def outputs_of(mixture: Mixture, split: EncodedSplit, task: Task) -> Reset:
    """All outputs of two models; see `reset`.

    Components that fine-tuning has not changed make no difference, to the last bit.

    Args:
        mixture: The models.
        split: Examples to score.
        task: Their task.

    Raises:
        InputError: An output is not finite.
    """
    models = ResetModels(mixture, split, swaps(mixture.layers))
    found = models.run_all(f"Resetting layers, {task.name}")
    if not np.isfinite(found).all():
        raise InputError(
            f"{type(mixture.end).__name__}: the outputs are not finite numbers with layers "
            "exchanged. A model has diverged, or its weights are damaged. Train again."
        )
    if not task.is_regression:
        decide_ties(models, found)
    described = [(swap.kind, swap.first, swap.last) for swap in models.swaps]
    places = [models.sets.index(models.changed(swap)) for swap in models.swaps]
    return Reset(
        swaps=pd.DataFrame(described, columns=list(SWAPS.names)),
        finetuned=found[0],
        swapped=found[places],
        idx=split.idx,
        labels=split.labels,
        units=split.units,
    )


class ResetModels:
    """A fine-tuned model with every set of layers reset.

    Args:
        mixture: The two models, on the device to use.
        split: The examples.
        resets: What is reset.

    Attributes:
        swaps: What is reset.
        sets: Components that differ from the fine-tuned model, each set once; the first is empty.
    """

    def __init__(self, mixture: Mixture, split: EncodedSplit, resets: Sequence[Swap]) -> None:
        self.mixture, self.split, self.swaps = mixture, split, list(resets)
        self._moved = {number for number in range(mixture.layers + 1) if mixture.change([number])}
        self.sets = list(dict.fromkeys([frozenset(), *map(self.changed, self.swaps)]))

    def changed(self, swap: Swap) -> frozenset[int]:
        """Components of a swap that fine-tuning has moved; others are the same in both models."""
        return frozenset(swap.components) & self._moved

    def run_all(self, description: str) -> Logits:
        """[sets, examples, outputs] of all examples with every set reset."""
        size = batch_size_for(self.mixture.end, self.split)
        found = []
        with progress(description, len(self.sets) * len(self.split), "examples") as advance:
            for components in self.sets:
                self.mixture.reset(components)
                found.append(run_model(self.mixture.model, self.split, size, advance))
        return np.stack(found)

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """[rows, outputs] of a batch with one set reset, see `core.interventions.ties`."""
        self.mixture.reset(self.sets[number])
        model = self.mixture.model
        batch = devices.move(self.split.batch(list(rows)), model.device)
        del batch["labels"]
        with torch.inference_mode():
            return model(**batch).logits.float().cpu().numpy()
