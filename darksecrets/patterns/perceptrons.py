"""Small perceptrons that classify maps by their hand-made features (section 4.1).

Several are trained together from different random weights, and their log probabilities are
averaged, so that the result depends little on the seed.
"""

from __future__ import annotations

import torch
from torch import nn

from darksecrets.patterns.cnn import loss
from darksecrets.patterns.features import NAMES
from darksecrets.patterns.readings import MAP_KINDS

MEMBERS = 8
HIDDEN = 16
STEPS = 250
"""Steps of the training, each over all maps."""
RATE = 1e-2
DECAY = 0.3
"""Weight decay of AdamW."""
DROPOUT = 0.3
_FARTHEST = 4.0  # standard deviations from the mean; features beyond are taken to be there


class Perceptrons(nn.Module):
    """The perceptrons, each with one hidden layer."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, inputs: int = len(NAMES)) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))
        self.inner = nn.Parameter(torch.randn(MEMBERS, inputs, HIDDEN) / inputs**0.5)
        self.inner_bias = nn.Parameter(torch.zeros(MEMBERS, 1, HIDDEN))
        self.outer = nn.Parameter(torch.randn(MEMBERS, HIDDEN, len(MAP_KINDS)) / HIDDEN**0.5)
        self.outer_bias = nn.Parameter(torch.zeros(MEMBERS, 1, len(MAP_KINDS)))

    def members(self, features: torch.Tensor) -> torch.Tensor:
        """[members, maps, kinds] logits of each perceptron."""
        scaled = ((features - self.mean) / self.spread).clamp(-_FARTHEST, _FARTHEST)
        hidden = torch.relu(scaled @ self.inner + self.inner_bias)
        hidden = nn.functional.dropout(hidden, DROPOUT, self.training)
        return hidden @ self.outer + self.outer_bias

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Classify maps.

        Args:
            features: [maps, features], see `features.NAMES`.

        Returns:
            [maps, kinds] mean log probabilities.
        """
        return torch.log_softmax(self.members(features), dim=-1).mean(dim=0)


def train(
    known: torch.Tensor, possible: torch.Tensor, weights: torch.Tensor, seed: int
) -> Perceptrons:
    """Train perceptrons on the features of labelled maps.

    Args:
        known: [maps, features].
        possible: [maps, kinds] which kinds each map may be.
        weights: [maps] weight of each map in the loss.
        seed: Seed of the weights and of dropout.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Perceptrons(known.shape[1])
        net.mean.copy_(known.mean(dim=0))
        net.spread.copy_(known.std(dim=0, correction=0).clamp(min=1e-3))
        optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.1)
        for _ in range(STEPS):
            optimiser.zero_grad()
            loss(net.members(known), possible, weights).backward()
            optimiser.step()
            schedule.step()
    net.eval()
    return net
