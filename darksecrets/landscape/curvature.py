"""Trace and top eigenvalue of a symmetric matrix that is known only by its products with vectors.

The trace is estimated after Hutchinson (1990), with its standard error. The top eigenvalue is found
by Lanczos's method with full reorthogonalisation; the residual bounds its error: some eigenvalue is
that near. The Lanczos vectors are kept on the CPU: as many vectors as iterations, for BERT-base
0.44 GB each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from darksecrets.arrays import Floats

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
        theta, weights = _top(diagonal, beside[:-1])
        near = beside[step - 1] * abs(weights[-1]) <= TOLERANCE * abs(theta)
        exhausted = beside[step - 1] <= torch.finfo(like.dtype).eps * _largest(
            diagonal, beside[:-1]
        )
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


def _top(diagonal: list[float], beside: list[float]) -> tuple[float, Floats]:
    """The greatest eigenvalue of a tridiagonal matrix, and its eigenvector."""
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    values, vectors = np.linalg.eigh(matrix)
    top: Floats = vectors[:, -1]
    return float(values[-1]), top


def _largest(diagonal: list[float], beside: list[float]) -> float:
    return max(map(abs, (*diagonal, *beside)))


def _dot(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.dot(one, other))


def _norm(vector: torch.Tensor) -> float:
    return math.sqrt(max(0.0, _dot(vector, vector)))
