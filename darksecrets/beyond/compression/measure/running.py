"""Size and decisions of every compressed model of a task."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.compression.declared import WHOLE
from darksecrets.beyond.compression.measure.storage import pack_zeros, saved_bytes
from darksecrets.beyond.compression.measure.variants import Variant
from darksecrets.core.arrays import Singles
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.models import shrinking
from darksecrets.core.run.progress import progress

BATCH_SIZE = 32
"""Examples that are scored together."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measured:
    """A compressed model.

    Attributes:
        variant: How it was made.
        parameters: Numbers of the model.
        nonzero: Those that are not 0.
        saved: Bytes of its weights as saved.
        packed: The same without zeros.
        logits: [examples, outputs] on the validation examples.
    """

    variant: Variant
    parameters: int
    nonzero: int
    saved: int
    packed: int
    logits: Singles


def compress(model: PreTrainedModel, variant: Variant) -> PreTrainedModel:
    """A compressed model in evaluation mode; it shares unchanged tensors with the whole one."""
    changed = copy.deepcopy(model) if variant.is_control else shrinking.copy(model)
    variant.change(changed)
    changed.train(False)
    changed.requires_grad_(False)
    return changed


def measure(
    model: PreTrainedModel, split: EncodedSplit, variants: Sequence[Variant]
) -> tuple[list[Measured], list[PreTrainedModel]]:
    """Compress a model in every way; count, save and score what is left.

    Args:
        model: A classifier on a CPU; it is left as it is.
        split: Validation examples.
        variants: The ways.

    Returns:
        What was measured, and the models, both in the order of the variants.
    """
    models = [compress(model, variant) for variant in variants]
    found = []
    for variant, changed in zip(variants, models, strict=True):
        tensors = changed.state_dict()
        packed = saved_bytes(pack_zeros(tensors))
        counts = [(tensor.numel(), int(tensor.count_nonzero())) for tensor in tensors.values()]
        parameters, nonzero = (sum(column) for column in zip(*counts, strict=True))
        logits = _logits(changed, split, variant.method)
        found.append(Measured(variant, parameters, nonzero, saved_bytes(tensors), packed, logits))
        _log.info("%s %s: %d bytes", variant.method, variant.detail, found[-1].saved)
    return found, models


def _logits(model: PreTrainedModel, split: EncodedSplit, what: str) -> Singles:
    """[examples, outputs] on a CPU, in the order of the split."""
    done: list[int] = []
    outputs: list[Singles] = []
    title = "Whole model" if what == WHOLE else what.capitalize()
    with torch.inference_mode(), progress(title, len(split), "examples") as advance:
        for rows in batches_by_length(split.lengths, BATCH_SIZE):
            batch = split.batch(rows)
            del batch["labels"]
            outputs.append(model(**batch).logits.numpy())
            done += rows
            advance(len(rows))
    return np.concatenate(outputs)[np.argsort(done)]
