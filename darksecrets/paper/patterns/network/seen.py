"""Attention maps as the annotators see them, and their tokens: what the classifier is given."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

DARK = 0.5
"""Darkness from which a cell is called dark; the darkest is 1."""


@dataclass(frozen=True)
class Seen:
    """Maps of equal length.

    Attributes:
        weights: [maps, L, L] weights, float32; rows sum to 1.
        saturation: [maps] the L-th greatest weight of each map.
        drawn: [maps, L, L] darkness, 0 to 1: weights relative to the L-th greatest, all above it 1.
        dark: [maps, L, L] 1 where a cell is dark, else 0.
        groups: [maps, L, 3] one-hot: first sentence, second sentence, special token.
    """

    weights: torch.Tensor
    saturation: torch.Tensor
    drawn: torch.Tensor
    dark: torch.Tensor
    groups: torch.Tensor

    @classmethod
    def of(cls, maps: torch.Tensor, special: torch.Tensor, segments: torch.Tensor) -> Seen:
        """See maps.

        Args:
            maps: [maps, L, L] weights.
            special: [maps, L] whether a token is a special one, such as [CLS] and [SEP].
            segments: [maps, L] sentence, 0 or 1, of each token.
        """
        weights = maps.float()
        saturation = weights.flatten(1).topk(len(weights[0]), dim=1, sorted=False).values.amin(1)
        drawn = (weights / saturation[:, None, None]).clamp(max=1)
        groups = torch.where(special, 2, segments.clamp(max=1)).long()
        one_hot = functional.one_hot(groups, 3).float()
        return cls(weights, saturation, drawn, (drawn > DARK).float(), one_hot)

    @property
    def length(self) -> int:
        """Number of tokens."""
        return self.weights.shape[-1]

    @property
    def special(self) -> torch.Tensor:
        """[maps, L] 1 for special tokens, else 0."""
        return self.groups[:, :, 2]

    def sum_over_groups(self, values: torch.Tensor) -> torch.Tensor:
        """[maps, 3, 3] sums of values [maps, L, L] by the groups of query and key."""
        return self.groups.transpose(1, 2) @ values @ self.groups
