"""Heads and MLPs removed for good: a smaller, faster model.

`transformers` 5 no longer removes heads, and its configurations cannot say that layers have
different numbers of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import torch

from darksecrets.core.models.layers import is_known
from darksecrets.core.models.selectors import Heads
from darksecrets.core.models.session import shape_of
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class _NoHeads(torch.nn.Module):
    """The attention of a layer all of whose heads are removed: nothing is concatenated."""

    def forward(self, hidden: torch.Tensor, *_: object, **__: object) -> tuple[torch.Tensor, None]:
        return hidden.new_zeros((*hidden.shape[:-1], 0)), None


def remove_heads(model: PreTrainedModel, heads: Heads) -> None:
    """Remove heads from a model, in place; its outputs are those with the heads' outputs at 0.

    Args:
        model: A classifier of BERT, RoBERTa or ELECTRA.
        heads: The heads, by layer; both count from 1. A layer may lose all of them: then its
            attention adds the bias of its output projection.

    Raises:
        InputError: Heads of this architecture cannot be removed, or the model lacks one.
    """
    require_removable(model)
    shape = shape_of(model)
    whole: Any = model.base_model
    for layer, chosen in heads.items():
        if not 1 <= layer <= shape.layers or not chosen <= set(range(1, shape.heads + 1)):
            raise InputError(
                f"There is no layer {layer} with heads {', '.join(map(str, sorted(chosen)))}: the "
                f"model has {shape.layers} layers of {shape.heads} heads."
            )
        _shrink(whole.encoder.layer[layer - 1].attention, chosen)


class _NoMlp(torch.nn.Module):
    """The end of a layer whose MLP is removed: nothing is added before the norm."""

    def __init__(self, norm: torch.nn.Module) -> None:
        super().__init__()
        self.LayerNorm = norm

    def forward(self, _: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(attended)


def remove_mlps(model: PreTrainedModel, layers: Collection[int]) -> None:
    """Remove the MLPs of some layers, in place; outputs are those with the MLPs' outputs at 0.

    What is left of such a layer is its attention, and both norms.

    Args:
        model: A classifier of BERT, RoBERTa or ELECTRA.
        layers: The layers, counted from 1; of all of them, if need be.

    Raises:
        InputError: Parts of this architecture cannot be removed, or the model lacks a layer.
    """
    require_removable(model)
    most, whole = shape_of(model).layers, cast("Any", model.base_model)
    if absent := sorted(set(layers) - set(range(1, most + 1))):
        raise InputError(
            f"There are no MLPs of layers {', '.join(map(str, absent))} to remove: the model "
            f"has {most} layers."
        )
    for layer in layers:
        module = whole.encoder.layer[layer - 1]
        module.intermediate = torch.nn.Identity()
        module.output = _NoMlp(module.output.LayerNorm)


def require_removable(model: PreTrainedModel) -> None:
    """Check that heads and MLPs can be taken out of the layers of a classifier.

    Raises:
        InputError: Heads or MLPs cannot be taken out.
    """
    if not is_known(model):
        raise InputError(
            f"{type(model).__name__}: heads of this model cannot be removed, only disabled. "
            "Expected a classifier of BERT, RoBERTa or ELECTRA, whose layers share no weights."
        )


def _shrink(attention: Any, heads: frozenset[int]) -> None:  # noqa: ANN401 - of transformers
    """Remove heads from a layer's attention."""
    own, size = attention.self, attention.self.attention_head_size
    kept = [head for head in range(own.num_attention_heads) if head + 1 not in heads]
    places = torch.tensor([size * head + place for head in kept for place in range(size)]).long()
    attention.output.dense = _linear(attention.output.dense, columns=places)
    if not kept:
        attention.self = _NoHeads()
        return
    for name in ("query", "key", "value"):
        setattr(own, name, _linear(getattr(own, name), rows=places))
    own.num_attention_heads, own.all_head_size = len(kept), size * len(kept)


def _linear(
    old: torch.nn.Linear, *, rows: torch.Tensor | None = None, columns: torch.Tensor | None = None
) -> torch.nn.Linear:
    """A linear map with some of the outputs, or of the inputs, of another one."""
    weight, bias = old.weight.detach(), old.bias.detach()
    if rows is not None:
        rows = rows.to(weight.device)
        weight, bias = weight[rows], bias[rows]
    if columns is not None:
        weight = weight[:, columns.to(weight.device)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a layer may be left without inputs
        new = torch.nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    new.weight = torch.nn.Parameter(weight.clone(), requires_grad=old.weight.requires_grad)
    new.bias = torch.nn.Parameter(bias.clone(), requires_grad=old.bias.requires_grad)
    return new
