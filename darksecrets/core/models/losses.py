"""The loss that fine-tuning minimises, and the scale of labels on which it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from torch.nn.functional import cross_entropy, mse_loss

if TYPE_CHECKING:
    import torch

    from darksecrets.core.data.tasks import Task

Numbers = TypeVar("Numbers", "torch.Tensor", "np.ndarray")

_FURTHEST_MEAN = 10.0
"""Mean of labels that training reaches from outputs of about 0."""
_SPREADS = (0.1, 10.0)
"""Standard deviations of labels that it reaches; STS-B's is 1.5, with a mean of 2.7."""


@dataclass(frozen=True)
class LabelScale:
    """The scale on which labels of a regression are learned: (label − mean) / deviation.

    Outputs begin at about 0 and move by little more than the learning rate in a step, so a model
    never reaches labels that are years or prices. Labels near 0, such as STS-B's, are learned as
    they are, as in the paper.

    Attributes:
        mean: Of the training labels; 0 if they are learned as they are.
        deviation: Of the training labels; 1 if they are learned as they are.
    """

    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def fit(cls, task: Task, labels: np.ndarray) -> LabelScale:
        """The scale for the training labels of a task."""
        if not task.is_regression:
            return cls()
        mean, deviation = float(np.mean(labels, dtype=float)), float(np.std(labels, dtype=float))
        low, high = _SPREADS
        if abs(mean) <= _FURTHEST_MEAN and low <= deviation <= high:
            return cls()
        return cls(mean, deviation or 1.0)

    @property
    def is_needed(self) -> bool:
        """Whether labels are not learned as they are."""
        return self != LabelScale()

    def standardize(self, numbers: Numbers) -> Numbers:
        """Labels, or outputs in their unit, on the scale on which they are learned."""
        return (numbers - self.mean) / self.deviation if self.is_needed else numbers

    def restore(self, outputs: Numbers) -> Numbers:
        """Outputs of a model that learned on this scale, in the unit of the labels."""
        return outputs * self.deviation + self.mean if self.is_needed else outputs


def loss(
    task: Task, logits: torch.Tensor, labels: torch.Tensor, reduction: str = "mean"
) -> torch.Tensor:
    """Loss of a batch: cross-entropy, or squared error for regression (STS-B).

    Args:
        task: The task, which determines the loss.
        logits: [examples, outputs].
        labels: [examples].
        reduction: ``mean`` or ``sum`` over the examples, or ``none`` for each by itself.
    """
    if task.is_regression:
        return mse_loss(logits[:, 0], labels, reduction=reduction)
    return cross_entropy(logits, labels, reduction=reduction)
