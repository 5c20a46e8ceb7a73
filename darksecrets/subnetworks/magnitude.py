"""Magnitude pruning: the smallest weights of all layers become 0 (Prasanna et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torch.nn.utils import prune

from darksecrets.models.mlps import linear_maps_of
from darksecrets.subnetworks.steps import shares_left

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel


def pruned(model: PreTrainedModel) -> Iterator[float]:
    """Prune a model step by step, in place; the order is global and by absolute value.

    Embeddings, biases, normalisation and the classifier stay as they are.

    Args:
        model: A model whose layers' linear maps can be found.

    Yields:
        The share of the weights that is left, once the model has only these.

    Raises:
        InputError: See `linear_maps_of`.
    """
    weights = [(module, "weight") for module in matrices(model)]
    for left in shares_left():
        # Weights that are 0 already are the smallest, so shares are of all weights.
        prune.global_unstructured(weights, prune.L1Unstructured, amount=1 - left)
        for module, name in weights:
            prune.remove(module, name)  # type: ignore[no-untyped-call]
        yield left


def matrices(model: PreTrainedModel) -> list[nn.Linear]:
    """The linear maps of all layers, each once."""
    found = [module for layer in linear_maps_of(model) for module in (*layer.attention, *layer.mlp)]
    return list(dict.fromkeys(found))
