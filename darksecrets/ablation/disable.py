"""Disabling attention heads of any encoder that uses transformers' attention interface (§4.6).

    with disable(model, "all of layer 1"):
        model(**inputs)

A disabled head's map is the constant 1/L for every row, over the L real tokens, so that its output
is the mean of their value vectors (mode ``uniform``, the paper's); or 0 (mode ``zero``). Padding
gets no weight in either. The maps that the model returns are the changed ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from darksecrets.models import checkpoints
from darksecrets.models.selectors import Shape
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

UNIFORM = "uniform"
MODES = (UNIFORM, "zero")

_NAME = "darksecrets_disabled_heads"
# An intact model computes the same through the function below, but for rounding.
_SAME = 1e-4

# What is disabled now, by attention module: heads (from 0) and mode, the innermost last.
_disabled: WeakKeyDictionary[torch.nn.Module, list[tuple[list[int], str]]] = WeakKeyDictionary()
# Attention modules of the models seen so far, bottom to top.
_modules: WeakKeyDictionary[torch.nn.Module, list[torch.nn.Module]] = WeakKeyDictionary()


@contextlib.contextmanager
def disable(
    model: PreTrainedModel,
    selector: Any,  # noqa: ANN401 - see selectors
    mode: str = UNIFORM,
) -> Iterator[None]:
    """Disable heads while the context lasts; contexts can be nested, the inner one wins.

    Args:
        model: An encoder, with or without a classifier.
        selector: Which heads, see `darksecrets.models.selectors`.
        mode: ``uniform`` or ``zero``.

    Raises:
        InputError: The selector names nothing or what the model lacks, or the model's attention
            cannot be reached.
    """
    check_mode(mode)
    heads_of = shape_of(model).parse(selector)
    modules = attention_modules(model)
    chosen = {
        modules[layer - 1]: ([head - 1 for head in sorted(heads)], mode)
        for layer, heads in heads_of.items()
    }
    with _through(model, _NAME):
        for module, entry in chosen.items():
            _disabled.setdefault(module, []).append(entry)
        try:
            yield
        finally:
            for module in chosen:
                _disabled[module].pop()


def check_mode(mode: str) -> None:
    """Refuse a mode that is none of ``MODES``."""
    if mode not in MODES:
        raise InputError(f"Found the mode {mode!r}, expected one of {', '.join(MODES)}.")


def shape_of(model: PreTrainedModel) -> Shape:
    """How many layers and heads a model has."""
    config = model.config
    return Shape(config.num_hidden_layers, config.num_attention_heads)


def attention_modules(model: PreTrainedModel) -> list[torch.nn.Module]:
    """The attention modules of a model, bottom to top.

    They are found by running the model on a short padded input, intact but through `_attention`:
    as many layers as the configuration says must call it, and the result must be the model's own.

    Raises:
        InputError: Saying what was found instead.
    """
    if model not in _modules:
        _modules[model] = _find(model)
    return _modules[model]


def check(folder: Path) -> None:
    """Check, on a small random model of a checkpoint's kind, that heads can be disabled in it.

    Raises:
        InputError: Saying what was found, and what to do.
    """
    try:
        attention_modules(checkpoints.trial_model(folder))
    except InputError as error:
        raise InputError(
            f"{folder}: {error} Or leave the sweep over heads out: ablation.states: []."
        ) from None


def _find(model: PreTrainedModel) -> list[torch.nn.Module]:
    called: list[torch.nn.Module] = []
    inputs = _trial_inputs(model)
    layers = model.config.num_hidden_layers
    training = model.training
    try:
        model.train(False)
        with torch.inference_mode():
            expected = model(**inputs)[0]
            with _through(model, _NAME), _recording(called):
                found = model(**inputs)[0]
    finally:
        model.train(training)
    real = inputs["attention_mask"].bool()
    if found.dim() == 3:  # an encoder without a classifier: what it gives for padding is nothing
        expected, found = expected[real], found[real]
    if len(called) != layers or len(set(called)) != layers:
        raise _unreachable(
            model, f"{len(called)} calls of another function in {len(set(called))} modules", layers
        )
    if not torch.allclose(expected, found, rtol=_SAME, atol=_SAME, equal_nan=True):
        difference = (expected - found).abs().max().item()
        raise _unreachable(
            model, f"outputs that differ by {difference:.2g} from those of the intact model", layers
        )
    return called


def _unreachable(model: PreTrainedModel, found: str, layers: int) -> InputError:
    return InputError(
        f"{type(model).__name__}: its attention cannot be reached. Found {found}; expected "
        f"{layers} layers of softmaxed attention that go through transformers' AttentionInterface. "
        "Use a checkpoint of BERT, RoBERTa, ELECTRA, DistilBERT or a similar encoder."
    )


def _trial_inputs(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Two texts, of 6 and 4 tokens."""
    padding = getattr(model.config, "pad_token_id", None)
    word = next(number for number in range(3) if number != padding)
    ids = torch.full((2, 6), word)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    ids[1, 4:] = word if padding is None else padding
    return {"input_ids": ids.to(model.device), "attention_mask": mask.to(model.device)}


@contextlib.contextmanager
def _through(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Let a model's attention go through a registered function."""
    before = model.config._attn_implementation
    model.set_attn_implementation(name)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


_record: list[torch.nn.Module] | None = None


@contextlib.contextmanager
def _recording(called: list[torch.nn.Module]) -> Iterator[None]:
    """Note the modules that call `_attention`."""
    global _record
    _record = called
    try:
        yield
    finally:
        _record = None


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,  # noqa: ANN401 - whatever else a model hands to its attention
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one layer, with the maps of its disabled heads replaced.

    Args:
        module: The attention module that calls.
        query: [example, head, token, size]; ``key`` and ``value`` likewise.
        key: See ``query``.
        value: See ``query``.
        attention_mask: [example, 1, query, key], 0 for real tokens and very negative for padding;
            None where there is no padding.
        scaling: Factor of the products; 1/√size if None.
        dropout: Probability that a weight is dropped in training.

    Returns:
        The heads' outputs, [example, token, head, size], and the maps, [example, head, query, key].
    """
    if _record is not None:
        _record.append(module)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = query @ key.transpose(2, 3) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    maps = torch.softmax(scores, dim=-1)
    maps = torch.nn.functional.dropout(maps, dropout, module.training)
    for heads, mode in _disabled.get(module, []):
        maps = maps.clone()
        maps[:, heads] = _constant(maps, attention_mask) if mode == UNIFORM else 0.0
    return (maps @ value).transpose(1, 2).contiguous(), maps


def _constant(maps: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
    """1/L for every row over the L real tokens, [example, 1, query, key]."""
    if attention_mask is None:
        return maps.new_full((len(maps), 1, 1, 1), 1 / maps.shape[-1])
    real = (attention_mask == 0).to(maps.dtype)
    return real / real.sum(dim=-1, keepdim=True)


AttentionInterface.register(_NAME, _attention)
# Without it transformers gives the function no mask, and padding would get weight.
AttentionMaskInterface.register(_NAME, eager_mask)
