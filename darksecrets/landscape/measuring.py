"""Measure how flat the loss is around a fine-tuned model (Keskar et al. 2017; Hao et al. 2019)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from darksecrets.data.batches import EncodedSplit, load_split
from darksecrets.landscape.curvature import (
    Eigenvalue,
    Floats,
    Product,
    draws_of_trace,
    top_eigenvalue,
)
from darksecrets.landscape.objective import Objective
from darksecrets.landscape.restoring import sample
from darksecrets.landscape.sharpness import Farthest, balls, box, rises, sharpness
from darksecrets.landscape.tables import FILTER, FLATNESS, PLAIN, RISE, SHARPNESS, TOP, TRACE
from darksecrets.models import devices
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run.progress import progress
from darksecrets.run.tables import identify
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        task: The task.
        state: ``finetuned`` or ``finetuned-from-normal``.
        seed: Seed of the fine-tuning.
        splits: Splits of the data, one by one.
        examples: Examples of a split, at most.
        sample: Seed of the choice of examples.
        max_length: Longest sequence kept, in tokens.
        probes: Random vectors for the trace.
        iterations: Lanczos vectors for the top eigenvalue, at most.
        directions: Random directions for the mean rise.
        radius: How far weights move in these, as a share of the lengths of their filters.
        epsilon: Half the width of the box of Keskar et al., as a share of |weight| + 1.
        filter_epsilon: The same for filters, as a share of their lengths.
        ascent: Gradients for a sharpness, from each start, at most.
    """

    task: Task
    state: str
    seed: int
    splits: Sequence[str]
    examples: int
    sample: int
    max_length: int
    probes: int
    iterations: int
    directions: int
    radius: float
    epsilon: float
    filter_epsilon: float
    ascent: int


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
    folder: Path, dataset: Path, settings: Settings, *, threads: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Measure one fine-tuned model.

    Args:
        folder: The model.
        dataset: The task's data, see the data contract.
        settings: What to compute.
        threads: Number of CPU threads.

    Returns:
        `FLATNESS` of the model; and for the provenance, what was moved and how long it took.

    Raises:
        InputError: The loss of the model is not finite.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    tokenizer, task = load_tokenizer(folder), settings.task
    model = devices.place(load_classifier(folder, task, settings.seed, attention="eager")[0])
    tables = []
    for name in settings.splits:
        whole = load_split(dataset, name, tokenizer, task, settings.max_length)
        split = sample(whole, settings.examples, settings.sample)
        tables.append(flatness_of(model, split, settings).assign(split=name))
    table = pd.concat(tables, ignore_index=True)
    table = identify(table, task.name, f"{settings.state}/seed-{settings.seed}")
    return table[list(FLATNESS.names)], {
        "parameters": int(table["parameters"].iloc[0]),
        "seconds": round(time.perf_counter() - start, 1),
    }


def flatness_of(model: PreTrainedModel, split: EncodedSplit, settings: Settings) -> pd.DataFrame:
    """Rows of `FLATNESS` for some examples, without the columns that identify model and split.

    Args:
        model: The model, with ``eager`` attention, on the device to use.
        split: The examples.
        settings: What to compute.

    Raises:
        InputError: The loss is not finite.
    """
    objective = Objective(model, split, settings.task)
    slope = objective.gradient()
    about = {
        "examples": len(split),
        "parameters": len(slope),
        "loss": objective.value,
        "constant_loss": constant_loss(settings.task, split.labels),
        "gradient": float(torch.linalg.vector_norm(slope.double())),
    }
    rows = [
        {"scale": scale, "measure": name, **vars(found)}
        for scale, name, found in _measures(objective, settings)
    ]
    names = {"low": "ci_low", "high": "ci_high"}
    return pd.DataFrame(rows).rename(columns=names).assign(**about)


def _measures(objective: Objective, settings: Settings) -> Iterator[tuple[str, str, Estimate]]:
    """Scale, measure and estimate of everything that is measured."""
    kinds: dict[str, tuple[Product, Farthest]] = {
        PLAIN: (objective.product, box(objective, settings.epsilon)),
        FILTER: (objective.scaled_product, balls(objective, settings.filter_epsilon)),
    }
    draw = _generators(settings)
    with progress("Flatness", 3 * len(kinds) + 1, "numbers") as advance:
        for scale, (product, region) in kinds.items():
            draws = draws_of_trace(product, objective.start, settings.probes, draw())
            yield scale, TRACE, estimate(draws)
            advance(1)
            top = top_eigenvalue(product, objective.start, settings.iterations, draw())
            yield scale, TOP, _of_eigenvalue(top)
            advance(1)
            starts = [_in_weights(objective, scale, top.vector)]
            sharp = sharpness(objective, region, settings.ascent, starts)
            yield scale, SHARPNESS, Estimate(sharp, np.nan, np.nan, np.nan, settings.ascent)
            advance(1)
        found = rises(objective, settings.radius, settings.directions, draw())
        yield FILTER, RISE, estimate(found)
        advance(1)


def _in_weights(objective: Objective, scale: str, vector: torch.Tensor) -> torch.Tensor:
    """A direction of the weights, from an eigenvector of the Hessian of a scale."""
    return objective.scale * vector if scale == FILTER else vector


def _generators(settings: Settings) -> Callable[[], torch.Generator]:
    """Sources of randomness, each for one number; those of two states are the same."""
    sequence = np.random.SeedSequence((settings.sample, settings.seed))

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


def _of_eigenvalue(top: Eigenvalue) -> Estimate:
    ends = top.value - top.residual, top.value + top.residual
    return Estimate(top.value, *ends, top.residual, top.steps)


def constant_loss(task: Task, labels: npt.NDArray[Any]) -> float:
    """The least mean loss of a model that gives the same output for every example.

    It is the entropy of the labels, or for a regression their variance.
    """
    if task.is_regression:
        return float(np.var(labels.astype(np.float64)))
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
