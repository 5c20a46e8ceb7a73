"""The layers of BERT, RoBERTa and ELECTRA, computed component by component.

These encoders have the same structure. There is no attention mask, so inputs must not be padded.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F
from transformers import (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)

from darksecrets.core.models import precision

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    Linear = Callable[[torch.Tensor], torch.Tensor]

KNOWN = (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)

_TYPICAL_ROWS = 2**10
"""Rows of a product, from which oneDNN chooses the order of its weights; any number may follow."""


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


def layers_of(model: PreTrainedModel, mode: str) -> list[Layer]:
    """The layers, bottom to top.

    Args:
        model: A model for which `is_known` is true.
        mode: Output of a disabled head, see `Layer`.
    """
    count = len(_modules(model))
    return [layer_of(model, number, mode) for number in range(1, count + 1)]


def layer_of(model: PreTrainedModel, number: int, mode: str, *, copied: bool = False) -> Layer:
    """One of these layers, by its number from 1; if copied, later changes of the model spare it."""
    module = _modules(model)[number - 1]
    return Layer(copy.deepcopy(module) if copied else module, mode)


def _modules(model: PreTrainedModel) -> torch.nn.ModuleList:
    encoder: Any = model.base_model
    return encoder.encoder.layer


def classify(model: PreTrainedModel, first_token: torch.Tensor) -> torch.Tensor:
    """Logits, [n, outputs], from the last layer's output at the first token, [n, size]."""
    hidden = first_token[:, None]
    whole: Any = model
    if isinstance(model, BertForSequenceClassification):
        hidden = whole.base_model.pooler(hidden)
    return whole.classifier(hidden)


@dataclass(frozen=True)
class Raised:
    """The first half of a feed-forward part, for n inputs of L tokens.

    Attributes:
        wide: [n, L, inner size], input of the activation.
        mean: [n, L, 1], the means that the normalisation after the attention subtracts.
        scale: [n, L, 1], the reciprocals of the standard deviations that it divides by.
    """

    wide: torch.Tensor
    mean: torch.Tensor
    scale: torch.Tensor

    def of(self, rows: slice | torch.Tensor) -> Raised:
        """Some of the inputs."""
        return Raised(self.wide[rows], self.mean[rows], self.scale[rows])


class Layer:
    """One layer whose heads can be disabled.

    Args:
        layer: The model's own layer.
        mode: Output of a disabled head: the mean of its values (``uniform``) or 0 (``zero``).
    """

    def __init__(self, layer: Any, mode: str) -> None:  # noqa: ANN401
        attention, output = layer.attention.self, layer.attention.output
        self.heads, self.head_size = attention.num_attention_heads, attention.attention_head_size
        self.scaling, self.uniform = attention.scaling, mode == "uniform"
        projections = (attention.query, attention.key, attention.value)
        self.weights, self.biases = (
            [getattr(projection, name).detach() for projection in projections]
            for name in ("weight", "bias")
        )
        self.query_key_value = _linear(torch.cat(self.weights), torch.cat(self.biases))
        self.output_weight = output.dense.weight.detach()
        self.output, self.up, self.down = (
            _linear(dense.weight.detach(), dense.bias.detach())
            for dense in (output.dense, layer.intermediate.dense, layer.output.dense)
        )
        dense = layer.intermediate.dense
        self.up_weight, self.up_bias = dense.weight.detach(), dense.bias.detach()
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
        return self.output(context.flatten(2)).add_(hidden)

    def project_heads(self, change: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """Change of the output projection if only ``heads`` change, by [n, L, heads, head size]."""
        slices = self.output_weight.view(-1, self.heads, self.head_size).index_select(1, heads)
        return _multiply(change.index_select(2, heads).flatten(2), slices.flatten(1))

    def feed_forward(self, attended: torch.Tensor) -> torch.Tensor:
        """Output of the layer from the normalised output of its attention."""
        return self.lower(self.up(attended), attended)

    def lower(self, wide: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Second half of `feed_forward`, from the input of the activation, [n, L, inner size]."""
        output = self.down(self.activation(wide))
        return self.second_norm(output.add_(attended))

    def normalise(self, attended: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """`first_norm`, with its means and the reciprocals of its standard deviations."""
        norm = self.first_norm
        return torch.native_layer_norm(
            attended, norm.normalized_shape, norm.weight, norm.bias, norm.eps
        )

    def is_narrow(self, heads: torch.Tensor) -> bool:
        """Whether `raised_with` is worth while: these heads are less than half of the layer."""
        return 2 * len(heads) * int(self.head_size) + 4 <= len(self.output_weight)

    def raised_with(
        self,
        intact: Raised,
        change: torch.Tensor,
        heads: torch.Tensor,
        mean: torch.Tensor,
        scale: torch.Tensor,
        out: torch.Tensor,
    ) -> None:
        """Write the input of the activation if a few heads change, from the intact layer's.

        Up to the activation, the layer is linear except for the two numbers that normalise a token.
        So what a head changes goes through the product of three matrices: its slice of the output
        projection, the norm's weights, and the first feed-forward map. With s the scale divided by
        the intact one's,

            wide' = s wide + scale' (change M − (mean' − mean) u) + (1 − s) b,

        where u is what the map makes of ones, and b of no input. It takes as many columns as the
        heads have, and two more, instead of the model's whole size.

        Args:
            intact: The intact layer.
            change: [n, L, heads, head size], what is added to the outputs of heads.
            heads: [k], the heads that change.
            mean: [n, L, 1], as `normalise` returns it for the changed attention.
            scale: Likewise.
            out: [n, L, inner size], where to write it.
        """
        ratio = scale / intact.scale
        own = change.index_select(2, heads).flatten(2) * scale
        columns = torch.cat([own, (intact.mean - mean) * scale, 1 - ratio], dim=2)
        through, ones, bias = self._raising
        weight = torch.cat([through.index_select(1, heads).flatten(1), ones, bias], dim=1)
        torch.addcmul(_multiply(columns, weight), intact.wide, ratio, out=out)

    @functools.cached_property
    def _raising(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """How the activation's input depends on heads, on the mean, and on nothing.

        Returns:
            [inner, heads, head size], and [inner, 1] twice.
        """
        weight = self.up_weight * self.first_norm.weight
        through = (weight @ self.output_weight).view(-1, self.heads, self.head_size)
        bias = self.up_weight @ self.first_norm.bias + self.up_bias
        return through, weight.sum(1, keepdim=True), bias[:, None]

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
        context = F.scaled_dot_product_attention(query, key, value, scale=self.scaling)
        return context.transpose(1, 2), value.transpose(1, 2)

    def _constant(self, values: torch.Tensor) -> torch.Tensor:
        """Output of a disabled head for every token."""
        return values.mean(dim=1, keepdim=True) if self.uniform else torch.zeros_like(values)


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> Linear:
    """A linear map, [..., inputs] to [..., outputs].

    On x86 CPUs with AVX-512 it uses oneDNN if it can, which torch by default uses for bfloat16
    only: in float32, oneDNN was more than twice as fast as MKL on such a CPU not made by Intel, and
    slower on one with AVX2. Weights are reordered for it once here, instead of in every product.
    """
    linear_weight = weight
    if _uses_onednn(weight):
        linear_weight = torch.ops.mkldnn._reorder_linear_weight(weight, _TYPICAL_ROWS)
    return lambda x: _multiply(x, linear_weight, bias)


def _multiply(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """A linear map of [..., inputs] to [..., outputs], both in one precision; see `_linear`.

    The weight may be one that was reordered for oneDNN.
    """
    if not _uses_onednn(weight):
        return F.linear(x, weight, bias)
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
        x.reshape(-1, x.shape[-1]), weight, bias, "none", [], ""
    )
    return product.view(*x.shape[:-1], -1)


def _uses_onednn(weight: torch.Tensor) -> bool:
    return weight.device.type == "cpu" and precision.onednn_multiplies(weight.dtype)
