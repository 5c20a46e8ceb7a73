"""Gates that can learn to close: the hard concrete distribution (Louizos et al. 2018).

With u uniform between 0 and 1, a gate is

    z = min(1, max(0, 1.2 s - 0.1)),  s = σ((ln u - ln(1 - u) + ln a) / 0.33):

a relaxed Bernoulli variable, stretched beyond both ends and cut off, so that it is exactly 0 or 1
with positive probability. The parameter ln a is learned. Constants are Voita et al.'s (2019).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from darksecrets.models.hooks import Call, Intervention

if TYPE_CHECKING:
    from darksecrets.models.selectors import Shape

TEMPERATURE = 0.33
LOW, HIGH = -0.1, 1.1
"""To where the distribution is stretched before it is cut off."""
FULLY = math.log((1 - LOW) / (HIGH - 1))
"""With ln a from this on, a gate that is not drawn is 1; from its negative down, it is 0."""
START = 2.5
"""The first ln a, just above `FULLY`: training goes on from the intact model."""
_EDGE = 1e-6  # of the noise, whose logarithm is taken


def sampled(log_a: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Gates for uniform noise between 0 and 1, of the same shape."""
    noise = noise.clamp(_EDGE, 1 - _EDGE)
    return _cut(torch.sigmoid((torch.logit(noise) + log_a) / TEMPERATURE))


def settled(log_a: torch.Tensor) -> torch.Tensor:
    """Gates without noise, for the model that is used after training."""
    return _cut(torch.sigmoid(log_a))


def open_probability(log_a: torch.Tensor) -> torch.Tensor:
    """Probability that a gate is not 0, which the penalty adds up."""
    return torch.sigmoid(log_a - TEMPERATURE * math.log(-LOW / HIGH))


def _cut(relaxed: torch.Tensor) -> torch.Tensor:
    return (relaxed * (HIGH - LOW) + LOW).clamp(0, 1)


class HardConcrete(torch.nn.Module):
    """A gate for every head of a model, one draw for all examples of a batch.

    Args:
        shape: The model's layers and heads.

    Attributes:
        log_a: [layer, head], learned.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.log_a = torch.nn.Parameter(torch.full((shape.layers, shape.heads), START))

    def forward(self, layer: int) -> torch.Tensor:
        """Gates of a layer, from 1: [head], drawn in training and settled in evaluation."""
        log_a = self.log_a[layer - 1]
        return sampled(log_a, torch.rand_like(log_a)) if self.training else settled(log_a)

    def penalty(self) -> torch.Tensor:
        """Expected number of heads that are not closed."""
        return open_probability(self.log_a).sum()


class LearnedGates(Intervention):
    """Multiplies the outputs of heads by gates that are learned."""

    def __init__(self, gates: HardConcrete) -> None:
        self.gates = gates

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        """The outputs, times their gates."""
        gates: torch.Tensor = self.gates(call.layer)
        return outputs * gates[:, None, None]
