"""How much the loss rises nearby: at worst (Keskar et al. 2017), and on average (Li et al. 2018).

The sharpness of Keskar et al. (2017, metric 2.1, in the full space) is

    (max of f(x + y) over the region − f(x)) / (1 + f(x)) × 100,

with the box |y| ≤ ε (|x| + 1) as the region. It depends on the scale of the weights (Dinh et al.
2017). The filter-normalised form has another region: each filter moves by at most ε times its own
length, parameters with one dimension do not move.

The maximum is searched for by the conditional gradient method (Frank and Wolfe 1956), where Keskar
et al. take ten iterations of L-BFGS-B: what is found is a lower bound in both cases.

The curvature is the trace and the top eigenvalue of a symmetric matrix, the Hessian, that is known
only by its products with vectors. The trace is estimated after Hutchinson (1990), with its standard
error. The top eigenvalue is found by Lanczos's method with full reorthogonalisation; the residual
bounds its error: some eigenvalue is that near. The Lanczos vectors are kept on the CPU: as many
vectors as iterations, for BERT-base 0.44 GB each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch

from darksecrets.arrays import Floats
from darksecrets.landscape.directions import encoder_parameters, filter_normalised
from darksecrets.landscape.objective import Objective

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
        steps: Lanczos vectors that it is made of.
    """

    value: float
    residual: float
    vector: torch.Tensor
    steps: int


def draws_of_trace(
    product: Product, like: torch.Tensor, count: int, generator: torch.Generator
) -> Floats:
    """[count] numbers zᵀ A z with random signs z; the mean of each is the trace (Hutchinson 1990).

    Args:
        product: The matrix times a vector.
        like: A vector, for size and type.
        count: Number of draws.
        generator: Source of randomness, on the CPU.
    """
    found = []
    for _ in range(count):
        signs = torch.randint(0, 2, like.shape, generator=generator).to(like) * 2 - 1
        found.append(_dot(signs, product(signs)))
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
    return Eigenvalue(value, _norm(image - value * found), found, len(basis))


def _dot(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.dot(one, other))


def _norm(vector: torch.Tensor) -> float:
    return math.sqrt(max(0.0, _dot(vector, vector)))


Farthest = Callable[[torch.Tensor], torch.Tensor]
"""The point of a region that is farthest in the direction of a vector."""

_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Steps towards the farthest point that are tried, until one raises the loss."""


def box(objective: Objective, epsilon: float) -> Farthest:
    """The box of Keskar et al. (2017): every weight moves by at most ε (|weight| + 1)."""
    bounds = epsilon * (objective.start.abs() + 1)
    return lambda slope: bounds * slope.sign()


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
