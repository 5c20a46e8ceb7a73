"""Gates on heads and MLPs: their gradients say what a loss depends on (Michel et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from darksecrets.ablation.disable import uniform
from darksecrets.models.hooks import Call, Intervention


@dataclass(frozen=True)
class Gates(Intervention):
    """Gates on every head of every example; all are open at 1.

    Closed at 0, the first disables a head in mode ``zero``, the second in mode ``uniform``.

    Attributes:
        output: [example, layer, head, token or 1] factor ξ of the head's output at each token.
        kept: [example, layer, head] share ξ of the head's own attention A; the rest of the weight
            is uniform, U: ξ A + (1 - ξ) U.
    """

    output: torch.Tensor
    kept: torch.Tensor

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
        """The weights, as far as they are kept."""
        even = uniform(weights, call)
        return even + self.kept[:, call.layer - 1, :, None, None] * (weights - even)

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        """The outputs, times their gates."""
        return outputs * self.output[:, call.layer - 1, :, :, None]


@dataclass(frozen=True)
class MlpGates(Intervention):
    """Gates on the MLP of every layer.

    Attributes:
        output: [example or 1, layer] factor ξ of what the MLP adds to the hidden states; all are
            open at 1, and at 0 the MLP adds nothing.
    """

    output: torch.Tensor

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        """The output, times its gate."""
        return output * self.output[:, layer - 1, None, None]
