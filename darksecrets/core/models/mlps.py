"""The MLPs of an encoder, found by running it: where what they add to the hidden states passes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from darksecrets.core.models.session import (
    Call,
    Intervention,
    evaluating,
    intervene_on_heads,
    trial_inputs,
)
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_FOUND = "_darksecrets_mlps"
"""Attribute of an encoder: the linear maps of its layers, or why they are not found."""
_MOST = 3
"""Linear maps of an MLP: up, down, and a gate between them in some encoders."""


@dataclass(frozen=True)
class LinearMaps:
    """The linear maps of one layer, in the order of their calls.

    Attributes:
        attention: Queries, keys and values, and the projection of the heads' outputs.
        mlp: Those of the MLP; the last one's output is added to the hidden states.
    """

    attention: list[nn.Linear]
    mlp: list[nn.Linear]


def mlps_of(model: PreTrainedModel) -> list[nn.Module]:
    """Find the module of every layer whose output its MLP adds to the hidden states.

    Its output is [example, token, size].

    Args:
        model: An encoder, with or without a classifier.

    Returns:
        One module per layer, bottom to top. Layers that share their weights (ALBERT) share it, too:
        what is called for which layer, `darksecrets.core.models.hooks.intervene` knows.

    Raises:
        InputError: See `linear_maps_of`.
    """
    return [layer.mlp[-1] for layer in linear_maps_of(model)]


def linear_maps_of(model: PreTrainedModel) -> list[LinearMaps]:
    """Find the linear maps of every layer, bottom to top.

    The model runs on two texts. In the innermost module that computes a layer's attention and is
    not done after the projection of the heads' outputs, the further linear maps are the MLP. The
    result is cached on the model.

    Args:
        model: An encoder, with or without a classifier.

    Raises:
        InputError: The model's attention cannot be reached, or a layer has no such MLP.
    """
    encoder = model.base_model
    if _FOUND not in encoder.__dict__:
        encoder.__dict__[_FOUND] = _find(model)
    found: list[LinearMaps] | str = encoder.__dict__[_FOUND]
    if isinstance(found, str):
        raise InputError(found)
    return found


class _Trace(Intervention):
    """Which linear maps are called around the attention of each layer, in one forward pass.

    Attributes:
        open: The calls of modules that are not done, the outermost first.
        around: For each layer, the calls that were open when its attention was computed.
        linear: Every linear map that was called, with the number of layers begun and the calls that
            were open.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.open: list[int] = []
        self.around: list[list[int]] = []
        self.linear: list[tuple[nn.Linear, int, frozenset[int]]] = []

    def begin(self, module: nn.Module, _: object) -> None:
        """A module is called."""
        if isinstance(module, nn.Linear):
            self.linear.append((module, len(self.around), frozenset(self.open)))
        self.calls += 1
        self.open.append(self.calls)

    def end(self, *_: object) -> None:
        """It is done."""
        self.open.pop()

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:  # noqa: ARG002
        """The attention of a layer was computed."""
        self.around.append(list(self.open))
        return outputs

    def maps_of(self, layer: int) -> LinearMaps:
        """The linear maps of a layer, from 1; after the projection, they are the MLP."""
        after = [(module, calls) for module, begun, calls in self.linear if begun == layer][1:]
        for call in reversed(self.around[layer - 1]):
            if mlp := [module for module, calls in after if call in calls]:
                within = [module for module, _, calls in self.linear if call in calls]
                return LinearMaps(within[: -len(mlp)], mlp)
        return LinearMaps([], [])


def _find(model: PreTrainedModel) -> list[LinearMaps] | str:
    """The linear maps, or why they are not found."""
    try:
        trace = _trace(model)
    except InputError as error:
        return str(error)
    layers = [trace.maps_of(layer + 1) for layer in range(len(trace.around))]
    found, expected = sum(map(_has_mlp, layers)), model.config.num_hidden_layers
    if found == expected:
        return layers
    return (
        f"{type(model).__name__}: the MLPs of this model cannot be disabled: {found} were found "
        f"in {expected} layers, and every layer must have one after its attention, of two or "
        "three linear maps. Use a checkpoint of BERT, RoBERTa, ALBERT, ModernBERT or another "
        "encoder."
    )


def _trace(model: PreTrainedModel) -> _Trace:
    """Run a model on two texts and see which linear maps are called."""
    trace = _Trace()
    with ExitStack() as hooks, evaluating(model), intervene_on_heads(model, trace):
        for module in model.base_model.modules():
            hooks.enter_context(module.register_forward_pre_hook(trace.begin))
            hooks.enter_context(module.register_forward_hook(trace.end))
        model(**trial_inputs(model, 6))
    return trace


def _has_mlp(layer: LinearMaps) -> bool:
    """Whether an MLP's linear maps lead from hidden states to others, and the last one back."""
    if not 2 <= len(layer.mlp) <= _MOST:
        return False
    *up, down = layer.mlp
    return {module.in_features for module in up} == {down.out_features}
