"""The MLPs of an encoder, found by running it: where what they add to the hidden states passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from darksecrets.models.hooks import Call, Intervention, intervene, trial_inputs
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_FOUND = "_darksecrets_mlps"
"""Attribute of an encoder: its MLPs, or why they are not found."""
_MOST = 3
"""Linear maps of an MLP: up, down, and a gate between them in some encoders."""


def mlps_of(model: PreTrainedModel) -> list[nn.Module]:
    """Find the module of every layer whose output its MLP adds to the hidden states.

    The model runs on two texts. In the innermost module that computes a layer's attention and is
    not done after the projection of the heads' outputs, the further linear maps are the MLP; the
    last of them returns its output, [example, token, size]. The result is cached on the model.

    Args:
        model: An encoder, with or without a classifier.

    Returns:
        One module per layer, bottom to top. Layers that share their weights (ALBERT) share it, too:
        what is called for which layer, `darksecrets.models.hooks.intervene` knows.

    Raises:
        InputError: The model's attention cannot be reached, or a layer has no such module.
    """
    encoder = model.base_model
    if _FOUND not in encoder.__dict__:
        encoder.__dict__[_FOUND] = _find(model)
    found: list[nn.Module] | str = encoder.__dict__[_FOUND]
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

    def mlp_of(self, layer: int) -> list[nn.Linear]:
        """Linear maps of a layer, from 1, after the projection of its heads' outputs."""
        after = [(module, calls) for module, begun, calls in self.linear if begun == layer][1:]
        for call in reversed(self.around[layer - 1]):
            if found := [module for module, calls in after if call in calls]:
                return found
        return []


def _find(model: PreTrainedModel) -> list[nn.Module] | str:
    """The MLPs, or why they are not found."""
    trace, training, encoder = _Trace(), model.training, model.base_model
    model.train(False)
    try:
        with torch.inference_mode(), intervene(model, trace):
            handles: list[Any] = []
            for module in encoder.modules():
                handles.append(module.register_forward_pre_hook(trace.begin))
                handles.append(module.register_forward_hook(trace.end))
            try:
                model(**trial_inputs(model, 6))
            finally:
                for handle in handles:
                    handle.remove()
    except InputError as error:
        return str(error)
    finally:
        model.train(training)
    layers = [trace.mlp_of(layer + 1) for layer in range(len(trace.around))]
    expected = model.config.num_hidden_layers
    if sum(map(_is_mlp, layers)) != expected:
        return (
            f"{type(model).__name__}: the MLPs of this model cannot be disabled. Found "
            f"{sum(map(_is_mlp, layers))} of them in {expected} layers; expected every layer to "
            "have one after its attention, of two or three linear maps. Use a checkpoint of BERT, "
            "RoBERTa, ALBERT, ModernBERT or another encoder."
        )
    return [layer[-1] for layer in layers]


def _is_mlp(linear: list[nn.Linear]) -> bool:
    """Whether linear maps lead from hidden states to others, and the last one back."""
    if not 2 <= len(linear) <= _MOST:
        return False
    *up, down = linear
    return {module.in_features for module in up} == {down.out_features}
