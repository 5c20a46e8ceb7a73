"""Whether the loss of a model has second derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from darksecrets.landscape.directions import encoder_parameters
from darksecrets.models.session import trial_inputs
from darksecrets.run.errors import InputError

Tensors = Sequence[torch.Tensor]

_TOKENS = 6
_STEP = 1e-5
_WRONG = 1e-3
"""Share by which a product may differ from differences of gradients, in double precision."""

_ALL: dict[str, Any] = {"allow_unused": True, "materialize_grads": True}


def require_second(model: PreTrainedModel) -> None:
    """Check that a product with a model's Hessian is what differences of its gradients say.

    PyTorch may refuse a second derivative, but a gradient that is written by hand may also count as
    constant without a word.

    Args:
        model: A small model of the type; it is changed to ``eager`` attention and float64.

    Raises:
        InputError: It cannot be differentiated twice, or not rightly.
    """
    model.train(False).double().set_attn_implementation("eager")
    parameters, generator = list(encoder_parameters(model).values()), torch.Generator()
    along = [torch.randn(p.shape, generator=generator.manual_seed(1)).double() for p in parameters]
    try:
        product = _product(model, parameters, along)
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(
            f"{type(model).__name__}: this model cannot be differentiated twice ({error}), which "
            "the Hessian needs. Use a checkpoint of another encoder."
        ) from error
    expected = _difference(model, parameters, along)
    wrong = float((product - expected).norm() / expected.norm())
    if not wrong <= _WRONG:  # so that NaN is wrong
        raise InputError(
            f"{type(model).__name__}: a product with the Hessian is wrong by {wrong:.2g} of its "
            "length; a part of this model has no correct second derivative. Use a checkpoint of "
            "another encoder."
        )


def _product(model: PreTrainedModel, parameters: Tensors, along: Tensors) -> torch.Tensor:
    slopes = _slopes(model, parameters, create_graph=True)
    total = torch.stack([(one * d).sum() for one, d in zip(slopes, along, strict=True)]).sum()
    return _flat(torch.autograd.grad(total, parameters, **_ALL))


def _difference(model: PreTrainedModel, parameters: Tensors, along: Tensors) -> torch.Tensor:
    """The same from gradients on both sides."""
    found = []
    for step in (_STEP, -2 * _STEP):
        with torch.no_grad():
            for parameter, direction in zip(parameters, along, strict=True):
                parameter.add_(step * direction)
        found.append(_flat(_slopes(model, parameters)))
    return (found[0] - found[1]) / (2 * _STEP)


def _slopes(model: PreTrainedModel, parameters: Tensors, **more: Any) -> Tensors:  # noqa: ANN401
    value = model(**trial_inputs(model, _TOKENS)).logits.square().sum()
    return torch.autograd.grad(value, parameters, **_ALL, **more)


def _flat(parts: Tensors) -> torch.Tensor:
    return torch.cat([part.detach().flatten() for part in parts])
