"""The layers of BERT, RoBERTa and ELECTRA, computed part by part.

These encoders are built alike. Their parts are computed here without a mask, so inputs must not be
padded. A layer may compute in another precision than the model: its linear maps, attention and
activation are then in that, normalisations and the sums before them in the input's.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F
from transformers import (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    Linear = Callable[[torch.Tensor], torch.Tensor]

KNOWN = (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)


def is_known(model: PreTrainedModel) -> bool:
    """Whether a model is a classifier made of these layers."""
    config = model.config
    return type(model) in KNOWN and not config.is_decoder and not config.add_cross_attention


def embed(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """What enters the first layer, [n, L, size], of inputs [n, L] without padding."""
    encoder: Any = model.base_model
    hidden: torch.Tensor = encoder.embeddings(**inputs)
    if hasattr(encoder, "embeddings_project"):  # ELECTRA
        hidden = encoder.embeddings_project(hidden)
    return hidden


def layers_of(model: PreTrainedModel, dtype: torch.dtype, mode: str) -> list[Layer]:
    """The layers, bottom to top.

    Args:
        model: One that `is_known`.
        dtype: The precision to compute in.
        mode: What a disabled head gives, see `Layer`.
    """
    encoder: Any = model.base_model
    return [Layer(layer, dtype, mode) for layer in encoder.encoder.layer]


def classify(model: PreTrainedModel, first_token: torch.Tensor) -> torch.Tensor:
    """Logits, [n, outputs], from the last layer's output at the first token, [n, size]."""
    hidden = first_token[:, None]
    whole: Any = model
    if isinstance(model, BertForSequenceClassification):
        hidden = whole.base_model.pooler(hidden)
    logits: torch.Tensor = whole.classifier(hidden)
    return logits


class Layer:
    """One layer, some of whose heads can be disabled.

    Args:
        layer: The model's own.
        dtype: The precision to compute in.
        mode: ``uniform``: a disabled head gives the mean of its values; ``zero``: 0.
    """

    def __init__(self, layer: Any, dtype: torch.dtype, mode: str) -> None:  # noqa: ANN401
        attention, output = layer.attention.self, layer.attention.output
        self.heads, self.head_size = attention.num_attention_heads, attention.attention_head_size
        self.scaling, self.uniform = attention.scaling, mode == "uniform"
        projections = (attention.query, attention.key, attention.value)
        self.weights, self.biases = (
            [getattr(projection, name).detach().to(dtype) for projection in projections]
            for name in ("weight", "bias")
        )
        self.query_key_value = _linear(torch.cat(self.weights), torch.cat(self.biases))
        self.output_weight = output.dense.weight.detach().to(dtype)
        self.output, self.up, self.down = (
            _linear(dense.weight.detach().to(dtype), dense.bias.detach().to(dtype))
            for dense in (output.dense, layer.intermediate.dense, layer.output.dense)
        )
        self.activation = layer.intermediate.intermediate_act_fn
        self.first_norm, self.second_norm = output.LayerNorm, layer.output.LayerNorm

    def forward(self, hidden: torch.Tensor, disabled: torch.Tensor) -> torch.Tensor:
        """The whole layer: [n, L, size], with heads disabled by [n, heads]."""
        context, values = self._context(hidden)
        if disabled.any():
            context = torch.where(disabled[:, None, :, None], self._constant(values), context)
        return self.feed_forward(self.first_norm(self.project(context, hidden)))

    def context_and_change(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What the heads give, [n, L, heads, head size], and what disabling would add to it."""
        context, values = self._context(hidden)
        return context, self._constant(values) - context

    def project(self, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Output projection of [n, L, heads, head size], and the input added."""
        attended: torch.Tensor = self.output(context.flatten(2)).to(hidden.dtype).add_(hidden)
        return attended

    def project_heads(self, change: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """What some heads' part of a change, [n, L, heads, head size], adds to the projection."""
        slices = self.output_weight.view(-1, self.heads, self.head_size).index_select(1, heads)
        projected: torch.Tensor = change.index_select(2, heads).flatten(2) @ slices.flatten(1).T
        return projected

    def feed_forward(self, attended: torch.Tensor) -> torch.Tensor:
        """From the attention's normalised output to the layer's."""
        output = self.down(self.activation(self.up(attended))).to(attended.dtype)
        normalised: torch.Tensor = self.second_norm(output.add_(attended))
        return normalised

    def first_token(self, hidden: torch.Tensor, disabled: torch.Tensor) -> torch.Tensor:
        """The layer's output at the first token, [n, size]."""
        n, _, size = hidden.shape
        shape = (self.heads, self.head_size, size)
        (query, key, value), (query_bias, _, value_bias) = self.weights, self.biases
        queries = F.linear(hidden[:, 0], query, query_bias).view(n, self.heads, -1)
        # q·(W x + b): the part with b is the same for every token, and the softmax drops it.
        with_keys = torch.bmm(queries.transpose(0, 1), key.view(shape)).transpose(0, 1)
        maps = torch.softmax(with_keys @ hidden.transpose(1, 2) * self.scaling, dim=-1)
        if self.uniform:
            maps = maps.masked_fill(disabled[:, :, None], 1 / hidden.shape[1])
        mixed = (maps @ hidden).transpose(0, 1)
        context = torch.bmm(mixed, value.view(shape).transpose(1, 2)).transpose(0, 1)
        context = context + value_bias.view(self.heads, -1)  # a row of a map sums to 1
        if not self.uniform:
            context = context.masked_fill(disabled[:, :, None], 0.0)
        attended: torch.Tensor = self.output(context.reshape(n, size)).add_(hidden[:, 0])
        return self.feed_forward(self.first_norm(attended))

    def _context(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs of the heads and values, both [n, L, heads, head size]."""
        shape = (*hidden.shape[:2], 3, self.heads, self.head_size)
        projected = self.query_key_value(hidden).view(shape)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        if value.dtype == torch.bfloat16 and value.device.type == "cpu":
            context = _attention_in_bfloat16(query, key, value, self.scaling)
        else:
            context = F.scaled_dot_product_attention(query, key, value, scale=self.scaling)
        return context.transpose(1, 2), value.transpose(1, 2)

    def _constant(self, values: torch.Tensor) -> torch.Tensor:
        """What a disabled head gives for every token."""
        return values.mean(dim=1, keepdim=True) if self.uniform else torch.zeros_like(values)


def _attention_in_bfloat16(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
) -> torch.Tensor:
    """Attention, [n, heads, L, size], from batched products: the fused kernel is slower here.

    The softmax is taken in float32, where it is the faster and the more exact.
    """
    shape = query.shape
    query, key, value = (t.reshape(-1, *shape[2:]) for t in (query, key, value))
    scores = torch.bmm(query, key.transpose(1, 2)).float().mul_(scaling)
    context = torch.bmm(torch.softmax(scores, dim=-1).to(value.dtype), value)
    return context.view(shape)


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> Linear:
    """A linear map, [..., inputs] to [..., outputs], computed in the weight's precision.

    On x86 CPUs oneDNN multiplies, which torch by itself takes for bfloat16 only: in float32 it was
    more than twice as fast as MKL on a CPU not made by Intel.
    """
    if not _onednn_multiplies(weight):
        return lambda x: F.linear(x.to(weight.dtype), weight, bias)

    def linear(x: torch.Tensor) -> torch.Tensor:
        rows = x.to(weight.dtype).reshape(-1, x.shape[-1])
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, weight, bias, "none", [], ""
        )
        return product.view(*x.shape[:-1], -1)

    return linear


def _onednn_multiplies(weight: torch.Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype in (torch.float32, torch.bfloat16)
        and platform.machine().lower() in ("x86_64", "amd64")
        and bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
    )
