"""Measure how flat the loss is around a fine-tuned model (Keskar et al. 2017; Hao et al. 2019).

The sharpness of Keskar et al. (2017, metric 2.1, in the full space) is

    (max of f(x + y) over the region − f(x)) / (1 + f(x)) × 100,

with the box |y| ≤ ε (|x| + 1) as the region. It depends on the scale of the weights (Dinh et al.
2017). So the region here is another: each filter moves by at most ε times its own length,
parameters with one dimension do not move. The maximum is searched for by the conditional
gradient method (Frank and Wolfe 1956), where Keskar et al. take ten iterations of L-BFGS-B: what is
found is a lower bound in both cases.

The curvature is the trace and the top eigenvalue of a symmetric matrix, the Hessian, that is known
only by its products with vectors. The top eigenvalue is found by Lanczos's method with full
reorthogonalisation; the residual bounds its error: some eigenvalue is that near. The Lanczos
vectors are kept on the CPU: as many as iterations, for BERT-base 0.44 GB each. In their space,
where most of the large eigenvalues are, the trace is a sum; in the rest it is estimated after
Hutchinson (1990), with its standard error (after Meyer et al. 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import transformers
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import (
    FLATNESS,
    RISE,
    SHARPNESS,
    TOP,
    TRACE,
    TRAIN,
    Flatness,
)
from darksecrets.beyond.landscape.measure.directions import encoder_parameters, filter_normalised
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.objective import Objective
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.loading import load_classifier, load_tokenizer
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.progress import progress
from darksecrets.core.run.resuming import finish, resuming
from darksecrets.core.run.tables import identify
from darksecrets.core.stats import LEVEL

Product = Callable[[torch.Tensor], torch.Tensor]
"""The matrix times a vector."""


TOLERANCE = 1e-3
"""Lanczos's method ends if the residual is this share of the eigenvalue."""


@dataclass(frozen=True)
class Eigenvalue:
    """An approximate eigenvalue.

    Attributes:
        value: The eigenvalue, vᵀ A v.
        residual: ‖A v − value v‖: an eigenvalue is at most that far away.
        vector: [size] the approximate eigenvector v, of length 1.
        basis: Lanczos vectors v that it is made of.
        along: Their vᵀ A v.
    """

    value: float
    residual: float
    vector: torch.Tensor
    basis: Sequence[torch.Tensor] = ()
    along: Sequence[float] = ()


def draws_of_trace(
    product: Product,
    like: torch.Tensor,
    count: int,
    generator: torch.Generator,
    known: Eigenvalue | None = None,
) -> Floats:
    """[count] numbers zᵀ A z with random signs z; the mean of each is the trace (Hutchinson 1990).

    What is known of A in the space of the Lanczos vectors is not drawn: there, z is 0, and the sum
    of their vᵀ A v is added. On fine-tuned tiny BERTs, 4 vectors halve the standard error.

    Args:
        product: The matrix times a vector.
        like: A vector, for size and type.
        count: Number of draws.
        generator: Source of randomness, on the CPU.
        known: What `top_eigenvalue` found.
    """
    basis, along = (known.basis, known.along) if known else ((), ())
    found = []
    for _ in range(count):
        signs = torch.randint(0, 2, like.shape, generator=generator).to(like) * 2 - 1
        for each in basis:
            signs = signs - _dot(each, signs) * each
        found.append(sum(along) + _dot(signs, product(signs)))
    return np.array(found)


def top_eigenvalue(
    product: Product, like: torch.Tensor, steps: int, generator: torch.Generator
) -> Eigenvalue:
    """The algebraically greatest eigenvalue, by Lanczos's method (1950).

    Rounding makes Lanczos vectors lose their orthogonality, so that each is made orthogonal to all
    before it, twice. The residual is that of one more product, not of the recurrence. That no
    eigenvalue is greater is not proved; a start that lacks its eigenvector is improbable.

    Args:
        product: The symmetric matrix times a vector.
        like: A vector, for size and type.
        steps: Lanczos vectors, at most.
        generator: Source of randomness, on the CPU.
    """
    vector = torch.randn(like.shape, generator=generator).to(like)
    basis, diagonal, beside = [vector / _norm(vector)], [0.0], [0.0]
    for step in range(1, min(steps, len(like)) + 1):
        after = product(basis[-1])
        diagonal[step - 1] = _dot(basis[-1], after)
        for _ in range(2):
            for each in basis:
                after = after - _dot(each, after) * each
        beside[step - 1] = _norm(after)
        matrix = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
        values, vectors = np.linalg.eigh(matrix)
        theta, weights = values[-1], vectors[:, -1]
        near = beside[step - 1] * abs(weights[-1]) <= TOLERANCE * abs(theta)
        largest = max(map(abs, (*diagonal, *beside[:-1])))
        exhausted = beside[step - 1] <= torch.finfo(like.dtype).eps * largest
        if near or exhausted or step == min(steps, len(like)):
            break
        basis.append(after / beside[step - 1])
        diagonal.append(0.0)
        beside.append(0.0)
    found = sum(float(weight) * each for weight, each in zip(weights, basis, strict=True))
    assert isinstance(found, torch.Tensor)
    found = found / (_norm(found) or 1.0)
    image = product(found)
    value = _dot(found, image)
    return Eigenvalue(value, _norm(image - value * found), found, basis, diagonal)


def _dot(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.dot(one, other))


def _norm(vector: torch.Tensor) -> float:
    return math.sqrt(max(0.0, _dot(vector, vector)))


Farthest = Callable[[torch.Tensor], torch.Tensor]
"""The point of a region that is farthest in the direction of a vector."""

_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Steps towards the farthest point that are tried, until one raises the loss."""


def balls(objective: Objective, epsilon: float) -> Farthest:
    """Every filter moves by at most ε times its length; parameters with one dimension do not."""
    # The scale of a filter is its length over the root of its size, the same for all its weights.
    radii = [
        epsilon * torch.linalg.vector_norm(scale, dim=1, keepdim=True)
        for scale in objective.filters(objective.scale)
    ]

    def farthest(slope: torch.Tensor) -> torch.Tensor:
        point = torch.zeros_like(slope)
        for own, along, radius in zip(
            objective.filters(point), objective.filters(slope), radii, strict=True
        ):
            length = torch.linalg.vector_norm(along, dim=1, keepdim=True)
            tiny = torch.finfo(slope.dtype).tiny
            own.copy_(radius * along / length.clamp_min(tiny))
        return point

    return farthest


def sharpness(
    objective: Objective, farthest: Farthest, steps: int, starts: Iterable[torch.Tensor] = ()
) -> float:
    """The greatest rise of the loss found in a region, as a share of 1 + loss, in percent.

    Args:
        objective: The loss.
        farthest: The region.
        steps: Gradients per start, at most.
        starts: Directions besides the gradient's to begin in, such as eigenvectors; both ways.
    """
    points = [torch.zeros_like(objective.start)]
    points += [farthest(sign * start) for start in starts for sign in (1.0, -1.0)]
    best = max(_climb(objective, farthest, point, steps) for point in points)
    return 100 * (best - objective.value) / (1 + objective.value)


def _climb(objective: Objective, farthest: Farthest, point: torch.Tensor, steps: int) -> float:
    """The greatest loss found from a point of the region."""
    best = objective.loss(point)
    for _ in range(steps):
        towards = farthest(objective.gradient(point)) - point
        for share in _SHARES:
            candidate = point + share * towards
            value = objective.loss(candidate)
            if value > best:
                point, best = candidate, value
                break
        else:
            break
    return best


def rises(objective: Objective, radius: float, count: int, generator: torch.Generator) -> Floats:
    """[count] rises of the loss in random filter-normalised directions.

    Each is the mean of both ways, which leaves out the slope: a model that is not at an optimum
    would else look flat on one side.

    Args:
        objective: The loss.
        radius: How far weights move, as a share of the lengths of their filters.
        count: Directions.
        generator: Source of randomness, on the CPU.
    """
    found = []
    parameters = encoder_parameters(objective.model).values()
    for _ in range(count):
        drawn = [filter_normalised(each.detach(), generator) for each in parameters]
        moved = radius * torch.cat([part.reshape(-1).cpu() for part in drawn])
        both = objective.loss(moved), objective.loss(-moved)
        found.append(sum(both) / 2 - objective.value)
    return np.array(found)


RADIUS = 0.25
"""How far weights move in random directions, as a share of the lengths of their filters."""
EPSILON = 0.01
"""How far filters move in search of the greatest loss, as a share of their lengths."""


Estimate = dict[str, float]
"""A number: columns of `FLATNESS` from ``value`` to ``steps``.

``steps`` are draws, Lanczos vectors, or gradients from each start at most; ``error`` is a standard
error, or the residual of an eigenvalue.
"""


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
        For the record, what was moved.

    Raises:
        InputError: The loss of a model is not finite.
    """
    torch.set_num_threads(threads)
    identity = {
        **asdict(settings),
        "constants": (TOLERANCE, RADIUS, EPSILON),
        "trace": "beside Lanczos vectors",
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
    rows = [{"measure": name, **found} for name, found in _measures(objective, of, settings)]
    return pd.DataFrame(rows).assign(**about)


def _measures(
    objective: Objective, of: Finetuned, settings: Flatness
) -> Iterator[tuple[str, Estimate]]:
    """Measure and estimate of everything that is measured."""
    trace_rng, top_rng, direction_rng = _generators(of)
    product = objective.scaled_product
    with progress("Flatness", 4, "numbers") as advance:
        top = top_eigenvalue(product, objective.start, settings.iterations, top_rng)
        draws = draws_of_trace(product, objective.start, settings.probes, trace_rng, top)
        yield TRACE, estimate(draws)
        ends = top.value - top.residual, top.value + top.residual
        yield TOP, _estimate(top.value, *ends, top.residual, len(top.basis))
        advance(2)
        start = objective.scale * top.vector  # of weights
        region = balls(objective, EPSILON)
        sharp = sharpness(objective, region, settings.ascent, [start])
        yield SHARPNESS, _estimate(sharp, np.nan, np.nan, np.nan, settings.ascent)
        advance(1)
        found = rises(objective, RADIUS, settings.directions, direction_rng)
        yield RISE, estimate(found)
        advance(1)


def _generators(of: Finetuned) -> list[torch.Generator]:
    """Sources of randomness for trace, eigenvalue and directions; those of two states are the same.

    The first two children were those of numbers that are no longer measured: they are not used, so
    that the others stay what they were.
    """
    children = np.random.SeedSequence((of.sample, of.seed)).spawn(5)[2:]
    return [torch.Generator().manual_seed(int(each.generate_state(1)[0])) for each in children]


def estimate(draws: Floats) -> Estimate:
    """The mean of independent draws, with Student's interval.

    Args:
        draws: [draws], at least two.
    """
    from scipy.stats import t

    mean, error = float(draws.mean()), float(draws.std(ddof=1) / len(draws) ** 0.5)
    half = float(t.isf(LEVEL / 2, len(draws) - 1)) * error
    return _estimate(mean, mean - half, mean + half, error, len(draws))


def _estimate(*numbers: float) -> Estimate:
    return dict(zip(("value", "ci_low", "ci_high", "error", "steps"), numbers, strict=True))


def constant_loss(task: Task, labels: npt.NDArray[Any]) -> float:
    """The least mean loss of a model that gives the same output for every example.

    It is the entropy of the labels, or for a regression their variance.
    """
    if task.is_regression:
        return float(np.var(labels.astype(np.float64)))
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
