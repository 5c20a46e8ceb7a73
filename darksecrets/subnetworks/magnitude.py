"""Magnitude pruning: the smallest weights of all layers become 0 (Prasanna et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from darksecrets.models.mlps import linear_maps_of
from darksecrets.models.shrinking import zero_smallest
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
    maps = matrices(model)
    for left in shares_left():
        zero_smallest(maps, 1 - left)
        yield left


def matrices(model: PreTrainedModel) -> list[nn.Linear]:
    """The linear maps of all layers, each once."""
    found = [module for layer in linear_maps_of(model) for module in (*layer.attention, *layer.mlp)]
    return list(dict.fromkeys(found))
