"""The loss that fine-tuning minimises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn.functional import cross_entropy, mse_loss

if TYPE_CHECKING:
    import torch

    from darksecrets.core.data.tasks import Task


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
