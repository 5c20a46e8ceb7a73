"""Random directions whose parts are as long as the weights that they move (Li et al. 2018).

A network computes the same after its weights are rescaled in one place and scaled back in another,
but its loss surface is stretched (Dinh et al. 2017). A step in a direction that is as long as the
weights it moves does not depend on their scale, filter by filter. A *filter* is what makes one
output: a row of a weight matrix, or the embedding of a token. Parameters with one dimension (biases
and the scales of layer norms) do not move, as in the code of Li et al.
"""

from __future__ import annotations

import torch
from transformers import PreTrainedModel

Weights = dict[str, torch.Tensor]
"""Parameters by name."""

_POOLER = "pooler"


def encoder_parameters(model: PreTrainedModel) -> Weights:
    """The encoder's parameters by name, embeddings included, without pooler and classifier.

    As where layers are reset, the pooler counts as classifier: many checkpoints lack one.
    """
    prefix = f"{model.base_model_prefix}."
    return {
        name: parameter
        for name, parameter in model.named_parameters()
        if name.startswith(prefix) and name.removeprefix(prefix).split(".")[0] != _POOLER
    }


def filter_norms(weights: torch.Tensor) -> torch.Tensor:
    """[filters, 1, ...] Euclidean norms of the filters of a parameter, broadcast to its shape."""
    norms: torch.Tensor = torch.linalg.vector_norm(weights.flatten(1), dim=1)
    return norms.view(-1, *[1] * (weights.dim() - 1))


def filter_normalised(parameter: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A random direction whose filters are as long as those of a parameter (Li et al. 2018).

    Args:
        parameter: The weights; those with one dimension get 0.
        generator: Source of randomness of a normal distribution, on the CPU, so that devices draw
            the same.

    Returns:
        The direction, on the device and in the type of the weights.
    """
    if parameter.dim() < 2:
        return torch.zeros_like(parameter)
    drawn = torch.randn(parameter.shape, generator=generator).to(parameter)
    return drawn * (filter_norms(parameter.detach()) / filter_norms(drawn))
