"""Linear probes: penalised multinomial regression, whose optimum is unique."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from darksecrets.core.arrays import Integers, Singles

PENALTY = 100.0
"""Of half the squared weights, beside the sum of the log-likelihoods."""
_STEPS = 200
_TOLERANCE = 1e-4
"""Of the largest entry of the gradient, per item: 999 predictions in 1,000 are final."""
_LEAST = 1e-6
"""Dimensions that vary less than this share of the largest are left as they are."""


@dataclass(frozen=True)
class Scale:
    """Makes features comparable: mean 0 and variance 1 over the training items.

    Attributes:
        mean: [size].
        deviation: [size].
    """

    mean: Singles
    deviation: Singles

    @classmethod
    def of(cls, features: Singles) -> Scale:
        """The scale of training items [items, size]."""
        deviation = features.std(axis=0)
        constant = deviation <= _LEAST * max(float(deviation.max()), _LEAST)
        return cls(features.mean(axis=0), np.where(constant, 1, deviation).astype(np.float32))

    def __call__(self, features: Singles) -> torch.Tensor:
        """Features [items, size] on this scale."""
        return torch.from_numpy((features - self.mean) / self.deviation)


@dataclass(frozen=True)
class Probe:
    """A linear classifier.

    Attributes:
        scale: What features are divided by.
        weights: [size, classes].
        bias: [classes].
    """

    scale: Scale
    weights: torch.Tensor
    bias: torch.Tensor

    def directions(self) -> Singles:
        """[size, classes] the weights of features that are not on the scale."""
        found: Singles = (self.weights / torch.from_numpy(self.scale.deviation)[:, None]).numpy()
        return found

    def log_probabilities(self, features: Singles) -> Singles:
        """[items, classes] for features [items, size]."""
        scores = self.scale(features) @ self.weights + self.bias
        found: Singles = torch.log_softmax(scores, dim=1).numpy()
        return found

    def predict(self, features: Singles) -> Integers:
        """[items] the most probable class of each."""
        return self.log_probabilities(features).argmax(axis=1).astype(np.int64)


def fit(features: Singles, labels: Integers, classes: int) -> Probe:
    """Fit a linear classifier.

    Args:
        features: [items, size].
        labels: [items] numbers of classes.
        classes: How many classes there are, those without items included.
    """
    scale = Scale.of(features)
    inputs, targets = scale(features), torch.from_numpy(labels)
    weights = torch.zeros(inputs.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)

    def loss() -> torch.Tensor:
        return penalised(inputs @ weights + bias, targets, weights)

    minimise(loss, [weights, bias])
    return Probe(scale, weights.detach(), bias.detach())


def penalised(scores: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The penalised negative log-likelihood per item, of scores [items, classes]."""
    penalty = PENALTY / 2 * weights.square().sum() / len(targets)
    return torch.nn.functional.cross_entropy(scores, targets) + penalty


def minimise(loss: Callable[[], torch.Tensor], parameters: list[torch.Tensor]) -> None:
    """Change parameters in place until the loss no longer falls (L-BFGS)."""
    optimizer = torch.optim.LBFGS(
        parameters,
        max_iter=_STEPS,
        tolerance_grad=_TOLERANCE,
        tolerance_change=1e-9,
        line_search_fn="strong_wolfe",
    )

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
