"""Logits of a classifier under interventions, such as without some of its heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.ablation.disable import ZERO, Disable
from darksecrets.ablation.sweep import choose_backend
from darksecrets.data.batches import by_length
from darksecrets.importance.gradients import BLOCK
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.ablation.backends import Logits
    from darksecrets.data.batches import EncodedSplit
    from darksecrets.models.hooks import Intervention
    from darksecrets.models.selectors import Heads


def logits_without(
    model: PreTrainedModel, split: EncodedSplit, rows: Sequence[int], removed: Sequence[Heads]
) -> Logits:
    """Logits with all heads, and without each of some sets of them.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: Encoded examples.
        rows: Row numbers of the examples to use.
        removed: The sets of heads; a set may be empty.

    Returns:
        [1 + sets, rows, outputs]; the first are of the intact model.

    Raises:
        InputError: The model's attention cannot be reached, or an output is not finite.
    """
    changes = [None, *(Disable(heads, ZERO) if heads else None for heads in removed)]
    return logits_under(model, split, rows, changes)


def logits_under(
    model: PreTrainedModel,
    split: EncodedSplit,
    rows: Sequence[int],
    changes: Sequence[Intervention | None],
) -> Logits:
    """Logits under each of some interventions.

    Args:
        model: See `logits_without`.
        split: See `logits_without`.
        rows: See `logits_without`.
        changes: The interventions; None leaves the model intact.

    Returns:
        [interventions, rows, outputs].

    Raises:
        InputError: The model's attention cannot be reached, or an output is not finite.
    """
    backend = choose_backend(model, split, changes)
    found, lengths = backend.empty(len(rows)), split.lengths[list(rows)]
    with torch.inference_mode(), progress("Heads removed", len(rows), "examples") as advance:
        for places in by_length(lengths, BLOCK):
            everything = np.ones((len(changes), len(places)), dtype=bool)
            found[:, places] = backend.logits([rows[place] for place in places], everything)
            advance(len(places))
    return found
