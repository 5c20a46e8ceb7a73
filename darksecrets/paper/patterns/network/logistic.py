"""Logistic regression that classifies maps by their hand-made features (section 4.1).

It has no random numbers, and classifies with one matrix product. On encoders that were not labelled
it does as well as extremely randomized trees (`benchmarks/results/pattern_transfer.md`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from darksecrets.paper.patterns.network.features import NAMES
from darksecrets.paper.patterns.network.kinds import MAP_KINDS

INVERSE_PENALTY = 0.3
"""Of scikit-learn's `LogisticRegression`; smaller keeps coefficients smaller."""
_FARTHEST = 5.0  # standard deviations from the mean; features beyond are taken to be there
_IMPOSSIBLE = -30.0  # log odds of a kind that was not learned


class Logistic(nn.Module):
    """The regression on standardized features."""

    mean: torch.Tensor
    spread: torch.Tensor
    coefficients: torch.Tensor
    constants: torch.Tensor

    def __init__(self, inputs: int = len(NAMES)) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))
        self.register_buffer("coefficients", torch.zeros(inputs, len(MAP_KINDS)))
        self.register_buffer("constants", torch.full((len(MAP_KINDS),), _IMPOSSIBLE))

    def standardize(self, features: torch.Tensor) -> torch.Tensor:
        """[maps, features] in standard deviations from the mean, bounded."""
        return ((features - self.mean) / self.spread).clamp(-_FARTHEST, _FARTHEST)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Classify maps.

        Args:
            features: [maps, features], see `features.NAMES`.

        Returns:
            [maps, kinds] log probabilities.
        """
        odds = self.standardize(features) @ self.coefficients + self.constants
        return torch.log_softmax(odds, dim=1)


def train(
    known: torch.Tensor,
    possible: torch.Tensor,
    weights: torch.Tensor,
    inverse_penalty: float = INVERSE_PENALTY,
) -> Logistic:
    """Fit the regression to labelled maps.

    Args:
        known: [maps, features].
        possible: [maps, kinds] which kinds each map may be; one that may be several counts as a
            part of each.
        weights: [maps] weight of each map.
        inverse_penalty: See `INVERSE_PENALTY`.
    """
    from sklearn.linear_model import LogisticRegression

    net = Logistic(known.shape[1])
    net.mean.copy_(known.mean(dim=0))
    net.spread.copy_(known.std(dim=0, correction=0).clamp(min=1e-3))
    rows, kinds = possible.nonzero(as_tuple=True)
    parts = (weights / possible.sum(dim=1))[rows].double().numpy()
    model = LogisticRegression(C=inverse_penalty, max_iter=1000)
    model.fit(net.standardize(known)[rows].double().numpy(), kinds.numpy(), parts)
    slopes, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn then gives the second one's alone
        slopes, constants = (np.concatenate([-one / 2, one / 2]) for one in (slopes, constants))
    net.coefficients[:, model.classes_] = torch.from_numpy(slopes.T).float()
    net.constants[model.classes_] = torch.from_numpy(constants).float()
    return net.eval()
