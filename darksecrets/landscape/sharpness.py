"""How much the loss rises nearby: at worst (Keskar et al. 2017), and on average (Li et al. 2018).

The sharpness of Keskar et al. (2017, metric 2.1, in the full space) is

    (max of f(x + y) over the region − f(x)) / (1 + f(x)) × 100,

with the box |y| ≤ ε (|x| + 1) as the region. It depends on the scale of the weights (Dinh et al.
2017). The filter-normalised form has another region: each filter moves by at most ε times its own
length, parameters with one dimension do not move.

The maximum is searched for by the conditional gradient method (Frank and Wolfe 1956), where Keskar
et al. take ten iterations of L-BFGS-B: what is found is a lower bound in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch

from darksecrets.arrays import Floats
from darksecrets.landscape.directions import encoder_parameters, filter_normalised
from darksecrets.landscape.objective import Objective

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
