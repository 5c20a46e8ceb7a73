"""Measure how flat the loss is around fine-tuned models (Hao et al. 2019).

The number is the mean rise of the loss in random directions whose filters are as long as those of
the weights (Li et al. 2018), so that it does not depend on the scale of the weights (Dinh et al.
2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import transformers
from scipy.stats import t as students_t
from torch import Tensor
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import FLATNESS, TRAIN, Flatness
from darksecrets.beyond.landscape.measure.directions import encoder_parameters, filter_normalised
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.results import losses
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.progress import progress
from darksecrets.core.run.resuming import finish, resuming
from darksecrets.core.run.tables import identify
from darksecrets.core.stats import LEVEL
from darksecrets.paper.finetuning.evaluation import batch_size_for, outputs

RADIUS = 0.25
"""How far weights move, as a share of the lengths of their filters."""


def measure(
    models: Sequence[tuple[Finetuned, Path]],
    dataset: Path,
    settings: Flatness,
    output: Path,
    *,
    threads: int,
) -> None:
    """Measure fine-tuned models, write `FLATNESS`; finished models are kept beside it until then.

    Args:
        models: The models of a task, with their folders.
        dataset: The task's data, see the data contract.
        settings: How many examples and directions.
        output: The table.
        threads: Number of CPU threads.

    Raises:
        InputError: The loss of a model is not finite.
    """
    torch.set_num_threads(threads)
    identity = {
        **asdict(settings),
        "radius": RADIUS,
        "models": [(each.name, each.sample, fingerprint(folder)) for each, folder in models],
        "data": fingerprint(dataset),
        "device": devices.best().type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    tables = []
    with resuming(output, identity, "*.csv") as kept:
        for each, folder in models:
            file = kept / f"{each.state}-{each.seed}.csv"
            if not file.is_file():
                FLATNESS.write(_flatness(each, folder, dataset, settings), file)
                finish(file)
            tables.append(FLATNESS.read(file))
        FLATNESS.write(pd.concat(tables, ignore_index=True), output)


def _flatness(model: Finetuned, folder: Path, dataset: Path, settings: Flatness) -> pd.DataFrame:
    """`FLATNESS` of one model."""
    loaded, _ = load_classifier(folder, model.task, model.seed)
    examples = model.examples(dataset, TRAIN, load_tokenizer(folder), settings.examples)
    numbers = flatness_of(devices.place(loaded), examples, model, settings.directions)
    table = identify(pd.DataFrame([numbers]), model.task.name, model.name)
    return table[list(FLATNESS.names)]


def flatness_of(
    model: PreTrainedModel, split: EncodedSplit, of: Finetuned, directions: int
) -> dict[str, float]:
    """A row of `FLATNESS`, without the columns that identify the model.

    Args:
        model: The model, on the device to use; its weights are afterwards what they were.
        split: The examples.
        of: Which model it is.
        directions: Random directions, at least two.

    Raises:
        InputError: The loss is not finite.
    """
    loss = mean_loss(model, split, of.task)
    if not np.isfinite(loss):
        raise InputError(
            f"{type(model).__name__}: the loss on {of.task.name} is {loss}, not a finite number. "
            "The model has diverged, or its weights are damaged. Train again."
        )
    found = rises(model, split, of.task, loss, directions, generator_of(of))
    return {
        **mean_of_draws(found),
        "examples": len(split),
        "loss": loss,
        "constant_loss": constant_loss(of.task, split.labels),
    }


def rises(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    loss: float,
    directions: int,
    generator: torch.Generator,
) -> Floats:
    """[directions] rises of the loss in random filter-normalised directions.

    Each is the mean of both ways, which leaves out the slope: a model that is not at an optimum
    would else look flat on one side. Where the loss is no number, the rise is infinite.

    Args:
        model: The model.
        split: The examples.
        task: Their task.
        loss: The mean loss of the model as it is.
        directions: How many.
        generator: Source of randomness, on the CPU.
    """
    parameters = list(encoder_parameters(model).values())
    start = [parameter.detach().clone() for parameter in parameters]
    found = []
    try:
        with progress(f"Flatness, {task.name}", directions, "directions") as advance:
            for _ in range(directions):
                drawn = [filter_normalised(each, generator) for each in start]
                both = []
                for radius in (RADIUS, -RADIUS):
                    moved = (at + radius * by for at, by in zip(start, drawn, strict=True))
                    _set(parameters, moved)
                    both.append(mean_loss(model, split, task))
                found.append(sum(both) / 2 - loss)
                advance(1)
    finally:
        _set(parameters, start)
    return np.nan_to_num(np.array(found), nan=np.inf)


@torch.no_grad()
def _set(parameters: Iterable[Tensor], values: Iterable[Tensor]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        parameter.copy_(value)


def mean_loss(model: PreTrainedModel, split: EncodedSplit, task: Task) -> float:
    """Mean loss of the examples, without dropout."""
    logits = outputs(model, split, batch_size_for(model, split))
    return float(losses(task, logits, split.labels).mean())


def generator_of(of: Finetuned) -> torch.Generator:
    """The source of directions: the same for both states of a seed.

    It is the fifth child of the seed; others belonged to measures that are no longer computed.
    """
    child = np.random.SeedSequence((of.sample, of.seed)).spawn(5)[4]
    return torch.Generator().manual_seed(int(child.generate_state(1)[0]))


def mean_of_draws(draws: Floats) -> Mapping[str, float]:
    """The mean of independent draws, with Student's interval: columns of `FLATNESS`.

    Args:
        draws: [draws], at least two.
    """
    mean, error = float(draws.mean()), float(draws.std(ddof=1) / len(draws) ** 0.5)
    half = float(students_t.isf(LEVEL / 2, len(draws) - 1)) * error
    return {"rise": mean, "rise_low": mean - half, "rise_high": mean + half}


def constant_loss(task: Task, labels: npt.NDArray[Any]) -> float:
    """The least mean loss of a model that gives the same output for every example.

    It is the entropy of the labels, or for a regression their variance.
    """
    if task.is_regression:
        return float(np.var(labels.astype(np.float64)))
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
