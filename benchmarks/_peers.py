"""Sweeps as users of other libraries write them: a forward pass per set of heads.

With a map of 1/L everywhere, a head gives every token the mean of its value vectors. Each program
replaces the values of disabled heads by that mean; the map then does not matter, because its rows
sum to 1. nnsight and TransformerLens are no dependencies: programs of those that are not installed
are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from darksecrets.core.interventions.sets import HeadSet

Batch = Mapping[str, torch.Tensor]
Places = Mapping[int, Sequence[int]]
"""Heads of layers, both from 0."""


class Program(Protocol):
    """Logits, [examples, outputs], of a padded batch with some heads disabled."""

    def __call__(self, disabled: Places, batch: Batch) -> torch.Tensor: ...


def places_of(heads: HeadSet) -> Places:
    """The heads of a set, from 0."""
    return {
        layer - 1: [head - 1 for head in sorted(chosen)] for layer, chosen in heads.heads.items()
    }


def programs(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, Program]:
    """Programs by name, those of libraries that are installed.

    Args:
        model: A classifier of BERT's.
        tokenizer: Its tokenizer, which one of the libraries asks for.
    """
    found: dict[str, Program] = {"loop with hooks": HookLoop(model)}
    if find_spec("nnsight"):
        found["nnsight"] = NNsightLoop(model)
    if find_spec("transformer_lens"):
        found["TransformerLens"] = TransformerLensLoop(model, tokenizer)
    return found


def _averaged(values: torch.Tensor, heads: Sequence[int], mask: torch.Tensor) -> torch.Tensor:
    """Values, [example, token, head, size], those of some heads replaced by their mean."""
    share = (mask / mask.sum(dim=1, keepdim=True))[:, :, None, None]  # 1/L, 0 for padding
    changed = values.clone()
    changed[:, :, heads] = (values[:, :, heads] * share).sum(1, keepdim=True)
    return changed


class HookLoop:
    """With hooks of PyTorch."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model: Any = model
        self.size = model.config.hidden_size // model.config.num_attention_heads

    def __call__(self, disabled: Places, batch: Batch) -> torch.Tensor:
        handles = []
        for layer, heads in disabled.items():
            value = self.model.base_model.encoder.layer[layer].attention.self.value
            hook = partial(self._disable, heads, batch["attention_mask"])
            handles.append(value.register_forward_hook(hook))
        logits: torch.Tensor = self.model(**batch).logits
        for handle in handles:
            handle.remove()
        return logits

    def _disable(
        self,
        heads: Sequence[int],
        mask: torch.Tensor,
        _module: object,
        _inputs: object,
        values: torch.Tensor,
    ) -> torch.Tensor:
        return _averaged(values.unflatten(-1, (-1, self.size)), heads, mask).flatten(2)


class NNsightLoop:
    """With a trace of nnsight's."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.traced = import_module("nnsight").NNsight(model)
        self.size = model.config.hidden_size // model.config.num_attention_heads

    def __call__(self, disabled: Places, batch: Batch) -> torch.Tensor:
        with self.traced.trace(**batch):
            for layer, heads in disabled.items():
                value = self.traced.bert.encoder.layer[layer].attention.self.value
                by_head = value.output.unflatten(-1, (-1, self.size))
                value.output = _averaged(by_head, heads, batch["attention_mask"]).flatten(2)
            logits = self.traced.output.logits.save()
        return logits  # noqa: RET504 - a trace runs its body elsewhere


class TransformerLensLoop:
    """With hooks of TransformerLens', which has no classifier: that of next sentences serves."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        from transformers import BertForNextSentencePrediction

        same: Any = BertForNextSentencePrediction(copy.deepcopy(model.config)).eval()
        own: Any = copy.deepcopy(model)
        same.bert, same.cls.seq_relationship = own.bert, own.classifier
        same.config.architectures = [type(same).__name__]
        bridge = import_module("transformer_lens.model_bridge").TransformerBridge
        self.model = bridge.boot_transformers(
            "google-bert/bert-base-uncased", hf_model=same, tokenizer=tokenizer, device="cpu"
        )

    def __call__(self, disabled: Places, batch: Batch) -> torch.Tensor:
        def disable(heads: Sequence[int]) -> Callable[..., torch.Tensor]:
            return lambda values, hook: _averaged(values, heads, batch["attention_mask"])  # noqa: ARG005

        hooks = [
            (f"blocks.{layer}.attn.v.hook_out", disable(disabled[layer])) for layer in disabled
        ]
        others = {name: values for name, values in batch.items() if name != "input_ids"}
        logits: torch.Tensor = self.model.run_with_hooks(
            batch["input_ids"], fwd_hooks=hooks, **others
        )
        return logits
