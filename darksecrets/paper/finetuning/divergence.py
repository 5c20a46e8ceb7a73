"""Whether a training diverges, by its losses, without waiting for the device at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from darksecrets.core.data.tasks import Task

# Training has diverged when its loss, averaged over about ten steps, is this many times that of a
# model that ignores its input.
EXPLODED = 10.0
MEMORY_OF_LOSS = 0.9

READ_EVERY = 50
"""Steps after which losses are read. Reading waits until a GPU has done all that it was given."""


@dataclass(frozen=True)
class Divergence:
    """Where a training diverged.

    Attributes:
        step: Counted from 1.
        rate: The learning rate of that step.
        found: What shows it, as words of a message.
    """

    step: int
    rate: float
    found: str


@dataclass
class LossWatch:
    """Reads the losses of a training from time to time, and finds the first that is too large.

    Attributes:
        limit: Average over about ten steps above which training has diverged.
        recent: The average so far; None before the first step.
        unread: Step, learning rate and loss of the steps since the last reading.
    """

    limit: float
    recent: float | None = None
    unread: list[tuple[int, float, torch.Tensor]] = field(default_factory=list)

    @classmethod
    def start(cls, task: Task, labels: np.ndarray) -> LossWatch:
        """Watch the training on a task, given its labels on the scale on which they are learned."""
        return cls(EXPLODED * ignorant_loss(task, labels))

    def add(self, step: int, rate: float, loss: torch.Tensor) -> None:
        """Keep the loss of a step, which stays on its device."""
        self.unread.append((step, rate, loss.detach()))

    @property
    def is_due(self) -> bool:
        """Whether there are as many losses as are read at once."""
        return len(self.unread) >= READ_EVERY

    def read(self) -> Divergence | None:
        """Read what was kept; tell where training diverged, if it did."""
        steps, self.unread = self.unread, []
        if not steps:
            return None
        values = torch.stack([loss for *_, loss in steps]).tolist()
        for (step, rate, _), value in zip(steps, values, strict=True):
            found = self._check(value)
            if found:
                return Divergence(step, rate, found)
        return None

    def _check(self, value: float) -> str | None:
        if not math.isfinite(value):
            return f"the training loss is {value}"
        before = value if self.recent is None else self.recent
        self.recent = MEMORY_OF_LOSS * before + (1 - MEMORY_OF_LOSS) * value
        if self.recent > self.limit:
            return f"the training loss is {self.recent:.3g}, above {self.limit:.3g}"
        return None


def ignorant_loss(task: Task, labels: np.ndarray) -> float:
    """Loss of a model that ignores its input: equal probabilities, or the value 0."""
    return float(np.mean(labels**2)) if task.is_regression else math.log(task.num_labels)
