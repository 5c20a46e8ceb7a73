"""Measure how flat the loss is around a fine-tuned model (Keskar et al. 2017; Hao et al. 2019)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import transformers
from transformers import PreTrainedModel

from darksecrets.arrays import Floats
from darksecrets.data.batches import EncodedSplit
from darksecrets.data.tasks import Task
from darksecrets.landscape.finetuned import Finetuned
from darksecrets.landscape.objective import Objective
from darksecrets.landscape.settings import Flatness
from darksecrets.landscape.sharpness import (
    Farthest,
    Product,
    balls,
    box,
    draws_of_trace,
    rises,
    sharpness,
    top_eigenvalue,
)
from darksecrets.landscape.tables import FILTER, FLATNESS, PLAIN, RISE, SHARPNESS, TOP, TRACE, TRAIN
from darksecrets.models import devices
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run.files import fingerprint
from darksecrets.run.progress import progress
from darksecrets.run.resuming import finish, resuming
from darksecrets.run.tables import identify
from darksecrets.stats import LEVEL

RADIUS = 0.25
"""How far weights move in random directions, as a share of the lengths of their filters."""
EPSILON = 0.0005
"""Half the width of the box of Keskar et al., as a share of |weight| + 1."""
FILTER_EPSILON = 0.01
"""The same for filters, as a share of their lengths."""


@dataclass(frozen=True)
class Estimate:
    """A number with its error.

    Attributes:
        value: The number.
        low: Lower end of its interval; NaN if there is none.
        high: Upper end.
        error: Its standard error, or the residual of an eigenvalue; NaN for a sharpness.
        steps: Draws, Lanczos vectors, or gradients from each start at most.
    """

    value: float
    low: float
    high: float
    error: float
    steps: int


def measure(
    models: Sequence[tuple[Finetuned, Path]],
    dataset: Path,
    settings: Flatness,
    output: Path,
    *,
    threads: int,
) -> dict[str, Any]:
    """Measure fine-tuned models, write `FLATNESS`; finished models are kept beside it until then.

    Args:
        models: The models of a task, with their folders.
        dataset: The task's data, see the data contract.
        settings: How many examples, vectors and directions.
        output: The table.
        threads: Number of CPU threads.

    Returns:
        For the provenance, what was moved and how long it took.

    Raises:
        InputError: The loss of a model is not finite.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    identity = {
        **asdict(settings),
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
        table = pd.concat(tables, ignore_index=True)
        FLATNESS.write(table, output)
    return {
        "parameters": int(table["parameters"].iloc[0]),
        "seconds": round(time.perf_counter() - start, 1),
    }


def _flatness(model: Finetuned, folder: Path, dataset: Path, settings: Flatness) -> pd.DataFrame:
    """`FLATNESS` of one model."""
    loaded = load_classifier(folder, model.task, model.seed, attention="eager")[0]
    examples = model.examples(dataset, TRAIN, load_tokenizer(folder), settings.examples)
    table = flatness_of(devices.place(loaded), examples, model, settings).assign(split=TRAIN)
    return identify(table, model.task.name, model.name)[list(FLATNESS.names)]


def flatness_of(
    model: PreTrainedModel, split: EncodedSplit, of: Finetuned, settings: Flatness
) -> pd.DataFrame:
    """Rows of `FLATNESS` for some examples, without the columns that identify model and split.

    Args:
        model: The model, with ``eager`` attention, on the device to use.
        split: The examples.
        of: Which model it is.
        settings: How many vectors and directions.

    Raises:
        InputError: The loss is not finite.
    """
    objective = Objective(model, split, of.task)
    slope = objective.gradient()
    about = {
        "examples": len(split),
        "parameters": len(slope),
        "loss": objective.value,
        "constant_loss": constant_loss(of.task, split.labels),
        "gradient": float(torch.linalg.vector_norm(slope.double())),
    }
    rows = [
        {"scale": scale, "measure": name, **vars(found)}
        for scale, name, found in _measures(objective, of, settings)
    ]
    names = {"low": "ci_low", "high": "ci_high"}
    return pd.DataFrame(rows).rename(columns=names).assign(**about)


def _measures(
    objective: Objective, of: Finetuned, settings: Flatness
) -> Iterator[tuple[str, str, Estimate]]:
    """Scale, measure and estimate of everything that is measured."""
    kinds: dict[str, tuple[Product, Farthest]] = {
        PLAIN: (objective.product, box(objective, EPSILON)),
        FILTER: (objective.scaled_product, balls(objective, FILTER_EPSILON)),
    }
    draw = _generators(of)
    with progress("Flatness", 3 * len(kinds) + 1, "numbers") as advance:
        for scale, (product, region) in kinds.items():
            draws = draws_of_trace(product, objective.start, settings.probes, draw())
            yield scale, TRACE, estimate(draws)
            advance(1)
            top = top_eigenvalue(product, objective.start, settings.iterations, draw())
            ends = top.value - top.residual, top.value + top.residual
            yield scale, TOP, Estimate(top.value, *ends, top.residual, top.steps)
            advance(1)
            start = objective.scale * top.vector if scale == FILTER else top.vector  # of weights
            sharp = sharpness(objective, region, settings.ascent, [start])
            yield scale, SHARPNESS, Estimate(sharp, np.nan, np.nan, np.nan, settings.ascent)
            advance(1)
        found = rises(objective, RADIUS, settings.directions, draw())
        yield FILTER, RISE, estimate(found)
        advance(1)


def _generators(of: Finetuned) -> Callable[[], torch.Generator]:
    """Sources of randomness, each for one number; those of two states are the same."""
    sequence = np.random.SeedSequence((of.sample, of.seed))

    def draw() -> torch.Generator:
        (child,) = sequence.spawn(1)
        return torch.Generator().manual_seed(int(child.generate_state(1)[0]))

    return draw


def estimate(draws: Floats) -> Estimate:
    """The mean of independent draws, with Student's interval.

    Args:
        draws: [draws], at least two.
    """
    from scipy.stats import t

    mean, error = float(draws.mean()), float(draws.std(ddof=1) / len(draws) ** 0.5)
    half = float(t.isf(LEVEL / 2, len(draws) - 1)) * error
    return Estimate(mean, mean - half, mean + half, error, len(draws))


def constant_loss(task: Task, labels: npt.NDArray[Any]) -> float:
    """The least mean loss of a model that gives the same output for every example.

    It is the entropy of the labels, or for a regression their variance.
    """
    if task.is_regression:
        return float(np.var(labels.astype(np.float64)))
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
