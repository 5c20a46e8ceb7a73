"""The layers of BERT, RoBERTa and ELECTRA, computed component by component.

These encoders have the same structure. There is no attention mask, so inputs must not be padded. A
layer may compute in another precision than the model: this then applies to its linear maps,
attention and activation; layer norms and residual sums stay in the input's precision.
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
    """Whether a model is a classifier with these layers."""
    config = model.config
    return type(model) in KNOWN and not config.is_decoder and not config.add_cross_attention


def embed(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Input of the first layer, [n, L, size], for token ids [n, L] without padding."""
    encoder: Any = model.base_model
    hidden: torch.Tensor = encoder.embeddings(**inputs)
    if hasattr(encoder, "embeddings_project"):  # ELECTRA
        hidden = encoder.embeddings_project(hidden)
    return hidden


def layers_of(model: PreTrainedModel, dtype: torch.dtype, mode: str) -> list[Layer]:
    """The layers, bottom to top.

    Args:
        model: A model for which `is_known` is true.
        dtype: The precision to compute in.
        mode: Output of a disabled head, see `Layer`.
    """
    count = len(_modules(model))
    return [layer_of(model, number, dtype, mode) for number in range(1, count + 1)]


def layer_of(model: PreTrainedModel, number: int, dtype: torch.dtype, mode: str) -> Layer:
    """One of these layers, by its number from 1."""
    return Layer(_modules(model)[number - 1], dtype, mode)


def _modules(model: PreTrainedModel) -> torch.nn.ModuleList:
    encoder: Any = model.base_model
    modules: torch.nn.ModuleList = encoder.encoder.layer
    return modules


def classify(model: PreTrainedModel, first_token: torch.Tensor) -> torch.Tensor:
    """Logits, [n, outputs], from the last layer's output at the first token, [n, size]."""
    hidden = first_token[:, None]
    whole: Any = model
    if isinstance(model, BertForSequenceClassification):
        hidden = whole.base_model.pooler(hidden)
    logits: torch.Tensor = whole.classifier(hidden)
    return logits


class Layer:
    """One layer whose heads can be disabled.

    Args:
        layer: The model's own layer.
        dtype: The precision to compute in.
        mode: Output of a disabled head: the mean of its values (``uniform``) or 0 (``zero``).
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
        """Output of the layer, [n, L, size]; ``disabled`` is [n, heads]."""
        context, values = self._context(hidden)
        if disabled.any():
            context = torch.where(disabled[:, None, :, None], self._constant(values), context)
        return self.feed_forward(self.first_norm(self.project(context, hidden)))

    def context_and_change(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs of the heads, [n, L, heads, head size], and their change if disabled."""
        context, values = self._context(hidden)
        return context, self._constant(values) - context

    def project(self, context: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Output projection of [n, L, heads, head size], plus the residual input."""
        attended: torch.Tensor = self.output(context.flatten(2)).to(hidden.dtype).add_(hidden)
        return attended

    def project_heads(self, change: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """Change of the output projection if only ``heads`` change, by [n, L, heads, head size]."""
        slices = self.output_weight.view(-1, self.heads, self.head_size).index_select(1, heads)
        projected: torch.Tensor = change.index_select(2, heads).flatten(2) @ slices.flatten(1).T
        return projected

    def feed_forward(self, attended: torch.Tensor) -> torch.Tensor:
        """Output of the layer from the normalised output of its attention."""
        output = self.down(self.activation(self.up(attended))).to(attended.dtype)
        normalised: torch.Tensor = self.second_norm(output.add_(attended))
        return normalised

    def first_token(self, hidden: torch.Tensor, disabled: torch.Tensor) -> torch.Tensor:
        """The layer's output at the first token, [n, size]."""
        n, _, size = hidden.shape
        shape = (self.heads, self.head_size, size)
        (query, key, value), (query_bias, _, value_bias) = self.weights, self.biases
        queries = F.linear(hidden[:, 0], query, query_bias).view(n, self.heads, -1)
        # q·(W x + b): the term with b is the same for every key, so the softmax cancels it.
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
        """Output of a disabled head for every token."""
        return values.mean(dim=1, keepdim=True) if self.uniform else torch.zeros_like(values)


def _attention_in_bfloat16(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
) -> torch.Tensor:
    """Attention, [n, heads, L, size], by batched products; the fused kernel is slower here.

    The softmax is in float32, which is both faster and more precise.
    """
    shape = query.shape
    query, key, value = (t.reshape(-1, *shape[2:]) for t in (query, key, value))
    scores = torch.bmm(query, key.transpose(1, 2)).float().mul_(scaling)
    context = torch.bmm(torch.softmax(scores, dim=-1).to(value.dtype), value)
    return context.view(shape)


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> Linear:
    """A linear map, [..., inputs] to [..., outputs], computed in the weight's precision.

    On x86 CPUs it uses oneDNN, which torch by default uses for bfloat16 only: in float32, oneDNN
    was more than twice as fast as MKL on a CPU not made by Intel.
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
