"""The outputs of a classifier under many sets of disabled heads, sharing what they have in common.

For BERT, RoBERTa and ELECTRA, whose layers are built alike. Against a loop that runs the model once
per set (section 4.6), the work falls because

- what lies below the lowest disabled layer is the intact model's, and computed once (`Trunk`);
- in that layer only the heads' outputs change, so the change enters through their slice of the
  output projection, and queries, keys, values and maps are not computed again;
- the last layer is needed at [CLS] only. One query needs neither keys nor values of all tokens: its
  products with the keys are products with the hidden states, and so are sums of values;
- inputs of equal length stand together, and nothing is padding;
- all sets of a layer are one batch in the layers above.

With `screening` bfloat16 does most of the work: the feed-forward part of the disabled layer, and
the layers between it and the last. Their linear maps, attention and activation are computed in
bfloat16, and so is what a disabled head gives in them; on a processor their softmax is not. The
intact model, the change at the disabled layer, the last layer, the classifier, all normalisations
and the sums before them stay in the model's own precision.
"""

from __future__ import annotations

import functools
import itertools
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F
from transformers import (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)

from darksecrets.ablation.disable import UNIFORM
from darksecrets.models import devices

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    Linear = Callable[[torch.Tensor], torch.Tensor]

KNOWN = (
    BertForSequenceClassification,
    ElectraForSequenceClassification,
    RobertaForSequenceClassification,
)

# Tokens that go through a layer at once, so that what passes between its matrix products stays in
# the processor's cache; and numbers of all hidden states of a batch. On a GPU they are the most.
PIECE = {"cpu": 2**10, "gpu": 2**16}
BATCH = {"cpu": 2**25, "gpu": 2**28}


def knows(model: PreTrainedModel) -> bool:
    """Whether the shared path can be taken."""
    config = model.config
    return type(model) in KNOWN and not config.is_decoder and not config.add_cross_attention


def first_layers(selected: torch.Tensor) -> torch.Tensor:
    """Where each set of [sets, layers, heads] begins, from 0; the empty set at the last layer."""
    touched = selected.any(dim=2)
    return torch.where(touched.any(1), touched.int().argmax(1), selected.shape[1] - 1)


@dataclass(frozen=True)
class _State:
    """The intact model at one layer, for n inputs of L tokens.

    Attributes:
        hidden: [n, L, size], what enters the layer.
        attended: [n, L, size], what the attention adds to it, and it, before normalisation.
        change: [n, L, heads, head size], what disabling each head adds to its output.
    """

    hidden: torch.Tensor
    attended: torch.Tensor
    change: torch.Tensor


Trunk = list[_State]


class SharedPath:
    """A classifier, ready to run under many sets of disabled heads.

    Args:
        model: One that the path `knows`; used in evaluation mode, on the device that it is on.
        selected: [sets, layers, heads], which heads each set disables.
        mode: ``uniform`` or ``zero``.
    """

    def __init__(self, model: PreTrainedModel, selected: torch.Tensor, mode: str) -> None:
        self._model = model
        self._encoder: Any = getattr(model, model.base_model_prefix)
        self._selected = selected.to(model.device)
        self._size: int = model.config.hidden_size
        layers = self._encoder.encoder.layer
        # Half of the memory for each: what passes through a layer; and the hidden states, with the
        # trunk and what is joined to them.
        each = 2 * devices.sequence_bytes(model.config, 1)
        self._piece = devices.batch_size(model.device, each, **PIECE)
        self._batch = devices.batch_size(model.device, 2 * 4 * 2, **BATCH)
        self._exact = [_Layer(layer, model.dtype, mode) for layer in layers]
        self._mode, self._first = mode, first_layers(self._selected)

    @functools.cached_property
    def _screening(self) -> list[_Layer]:
        fast = [_Layer(at, torch.bfloat16, self._mode) for at in self._encoder.encoder.layer[:-1]]
        return [*fast, self._exact[-1]]

    def examples_at_once(self, length: int) -> int:
        """How many inputs of a length make a batch, if all sets are asked for."""
        return max(1, self._batch // (len(self._selected) * length * self._size))

    def trunk(self, inputs: dict[str, torch.Tensor]) -> Trunk:
        """Run the intact model.

        Args:
            inputs: ``input_ids`` and what else the embeddings take, [n, L], without padding.
        """
        hidden = self._encoder.embeddings(**inputs)
        if hasattr(self._encoder, "embeddings_project"):  # ELECTRA
            hidden = self._encoder.embeddings_project(hidden)
        states = []
        for layer in self._exact:
            context, change = layer.context_and_change(hidden)
            attended = layer.project(context, hidden)
            states.append(_State(hidden, attended, change))
            if len(states) < len(self._exact):
                hidden = layer.feed_forward(layer.first_norm(attended))
        return states

    def logits(
        self, trunk: Trunk, sets: torch.Tensor, rows: torch.Tensor, *, screening: bool = False
    ) -> torch.Tensor:
        """Outputs of the classifier for pairs of a set and an input.

        Args:
            trunk: Of some inputs.
            sets: [pairs], numbers of sets.
            rows: [pairs], numbers of inputs in the trunk.
            screening: Whether to use bfloat16 where most of the work is, see above.

        Returns:
            [pairs, outputs].
        """
        layers = self._screening if screening else self._exact
        order = torch.argsort(self._first[sets] * len(self._selected) + sets, stable=True)
        step = max(1, self._batch // (trunk[0].hidden.shape[1] * self._size))
        parts = [order[start : start + step] for start in range(0, len(order), step)]
        found = [self._branch(trunk, layers, sets[part], rows[part]) for part in parts]
        return torch.cat(found)[torch.argsort(order)]

    def _branch(
        self, trunk: Trunk, layers: list[_Layer], sets: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        """As `logits`, for pairs in the order in which they leave the trunk."""
        length, size = trunk[0].hidden.shape[1:]
        ends = torch.bincount(self._first[sets], minlength=len(layers)).cumsum(0).tolist()
        stack = trunk[0].hidden.new_empty(ends[-2] if len(ends) > 1 else 0, length, size)
        start = 0
        for number, layer in enumerate(layers[:-1]):
            for piece in self._pieces(0, start, length):
                disabled = self._selected[sets[piece], number]
                stack[piece] = layer.forward(stack[piece], disabled)
            end = ends[number]
            self._leave(trunk[number], number, sets[start:end], rows[start:end], stack[start:end])
            for piece in self._pieces(start, end, length):
                stack[piece] = layer.feed_forward(layer.first_norm(stack[piece]))
            start = end
        disabled = self._selected[sets, len(layers) - 1]
        first_tokens = [
            layers[-1].first_token(hidden, disabled[piece])
            for piece in self._pieces(0, len(sets), length)
            for hidden in [self._top(trunk, stack, rows, piece)]
        ]
        return self._classify(torch.cat(first_tokens))

    def _top(
        self, trunk: Trunk, stack: torch.Tensor, rows: torch.Tensor, piece: slice
    ) -> torch.Tensor:
        """What enters the last layer: of the stack, or of the trunk for what leaves it there."""
        if piece.stop <= len(stack):
            return stack[piece]
        of_trunk = trunk[-1].hidden[rows[max(piece.start, len(stack)) : piece.stop]]
        return torch.cat([stack[piece], of_trunk])

    def _pieces(self, start: int, end: int, length: int) -> Iterator[slice]:
        step = max(1, self._piece // length)
        return (slice(first, min(first + step, end)) for first in range(start, end, step))

    def _leave(
        self,
        state: _State,
        number: int,
        sets: torch.Tensor,
        rows: torch.Tensor,
        out: torch.Tensor,
    ) -> None:
        """Write the attended states of pairs that leave the trunk at a layer, set by set."""
        start = 0
        for chosen, of_set in itertools.groupby(sets.tolist()):
            count = len(list(of_set))
            part = rows[start : start + count]
            heads = self._selected[chosen, number].nonzero()[:, 0]
            change = self._exact[number].project_heads(state.change[part], heads)
            torch.add(state.attended[part], change, out=out[start : start + count])
            start += count

    def _classify(self, first_token: torch.Tensor) -> torch.Tensor:
        model: Any = self._model
        hidden = first_token[:, None]
        if isinstance(model, BertForSequenceClassification):
            hidden = self._encoder.pooler(hidden)
        logits: torch.Tensor = model.classifier(hidden)
        return logits


class _Layer:
    """One layer; normalisations and the sums before them are in the input's dtype.

    The rest is in ``dtype``: linear maps, attention and activation, see above for the softmax.
    """

    def __init__(self, layer: Any, dtype: torch.dtype, mode: str) -> None:  # noqa: ANN401
        attention, output = layer.attention.self, layer.attention.output
        self.heads, self.head_size = attention.num_attention_heads, attention.attention_head_size
        self.scaling, self.uniform = attention.scaling, mode == UNIFORM
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

    On x86 processors oneDNN multiplies, which torch by itself takes for bfloat16 only: in float32
    it was more than twice as fast as MKL on a processor not made by Intel.
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
