"""The output of a classifier for regression: what changes its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from darksecrets.core.models.session import evaluating, trial_inputs
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.models.losses import LabelScale

_TOLERANCE = 1e-4
_TRIAL_LENGTH = 6  # tokens


def rescale_outputs(model: PreTrainedModel, scale: LabelScale) -> None:
    """Let a regression that has learned on a scale give outputs in the unit of its labels.

    The scale becomes part of the last linear map, so that whoever loads the model needs no more.

    Args:
        model: The classifier, changed in place.
        scale: The scale on which it has learned; nothing is changed if it is not needed.

    Raises:
        InputError: The classifier does not end with a linear map that has a bias.
    """
    if not scale.is_needed:
        return
    inputs = trial_inputs(model, _TRIAL_LENGTH)
    with evaluating(model):
        expected = scale.restore(model(**inputs).logits)
    last = _last_linear_map(model)
    with torch.no_grad():
        last.weight.mul_(scale.deviation)
        last.bias.mul_(scale.deviation).add_(scale.mean)
    with evaluating(model):
        difference = (model(**inputs).logits - expected).abs().max().item()
    allowed = _TOLERANCE * (abs(scale.mean) + scale.deviation)
    if difference > allowed:
        raise InputError(
            f"{type(model).__name__}: the classifier does not end with a linear map (its outputs "
            f"differ by {difference:.2g}, expected at most {allowed:.2g}). Give labels between 0 "
            "and 5, or use a checkpoint of BERT, RoBERTa or another encoder."
        )


def _last_linear_map(model: PreTrainedModel) -> torch.nn.Linear:
    """The linear map with one output outside of the encoder."""
    inside = {id(module) for module in model.base_model.modules()}
    found = [
        module
        for module in model.modules()
        if isinstance(module, torch.nn.Linear)
        and id(module) not in inside
        and module.out_features == 1
        and module.bias is not None
    ]
    if not found:
        raise InputError(
            f"{type(model).__name__} has no linear map with one output and a bias after its "
            "encoder. Give labels between 0 and 5, or use a checkpoint of BERT or RoBERTa."
        )
    return found[-1]
