"""Change the hidden states of an encoder after a layer, on their way to the next."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from darksecrets.core.models.session import evaluating, observe, trial_inputs
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    Call = tuple[torch.nn.Module, int]

_TRIAL_LENGTH = 6  # tokens
_SITES = "_darksecrets_sites"
"""Attribute of an encoder: for each layer, which call of which module makes its states."""


@contextlib.contextmanager
def change_states(
    model: PreTrainedModel, layer: int, change: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[None]:
    """Change the hidden states after a layer within the context.

    Args:
        model: An encoder, with or without a classifier.
        layer: Number of the layer; 0 is the embeddings.
        change: What becomes of states [example, token, size].

    Raises:
        InputError: No module of the model returns these states.
    """
    module, number = find_sites(model)[layer]
    calls = 0

    def begin(*_: object) -> None:
        nonlocal calls
        calls = 0

    def end(_: torch.nn.Module, __: object, output: Any) -> Any:  # noqa: ANN401 - of any model
        nonlocal calls
        calls += 1
        if calls != number:
            return None
        if isinstance(output, tuple):
            return (change(output[0]), *output[1:])
        return change(output)

    with (
        model.base_model.register_forward_pre_hook(begin),
        module.register_forward_hook(end),
    ):
        yield


def find_sites(model: PreTrainedModel) -> list[Call]:
    """For every layer, from 0, the module whose output its states are, and which of its calls.

    The model runs on two texts. Layers that share their weights (ALBERT) share the module. Of
    several modules that return the same tensor, it is the outermost. The result is cached.

    Raises:
        InputError: The states of a layer are the output of no module.
    """
    encoder = model.base_model
    if _SITES not in encoder.__dict__:
        encoder.__dict__[_SITES] = _find(model)
    sites: list[Call] = encoder.__dict__[_SITES]
    return sites


def _find(model: PreTrainedModel) -> list[Call]:
    encoder = model.base_model
    returned: list[tuple[Call, torch.Tensor]] = []
    counts: dict[torch.nn.Module, int] = {}

    def keep(module: torch.nn.Module, _: object, output: Any) -> None:  # noqa: ANN401
        counts[module] = counts.get(module, 0) + 1
        first = output[0] if isinstance(output, tuple) else output
        if isinstance(first, torch.Tensor):
            returned.append(((module, counts[module]), first))

    with contextlib.ExitStack() as hooks:
        for module in encoder.modules():
            if module is not encoder:
                hooks.enter_context(module.register_forward_hook(keep))
        with evaluating(model), observe(model, hidden=True) as seen:
            model(**trial_inputs(model, _TRIAL_LENGTH))
    found = []
    for layer, states in seen.hidden.items():
        same = [call for call, tensor in returned if _is_same(tensor, states)]
        if not same:
            raise InputError(
                f"{type(model).__name__}: the hidden states after layer {layer} are the output of "
                "no module, so they cannot be changed. Use a checkpoint of BERT, RoBERTa or "
                "another encoder, or leave out the analysis `layers`."
            )
        found.append(same[-1])
    return found


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.data_ptr() == other.data_ptr()
