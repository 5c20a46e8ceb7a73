"""Logits without some heads or MLPs, and the greedy order of heads to remove."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.ablation.backends import Logits
from darksecrets.ablation.disable import ZERO, Disable
from darksecrets.ablation.joint import Order, Place
from darksecrets.ablation.sets import HeadSet
from darksecrets.ablation.sweep import choose_backend
from darksecrets.data.batches import EncodedSplit, by_length
from darksecrets.data.tasks import Task
from darksecrets.importance.gradients import BLOCK, losses_of
from darksecrets.importance.steps import pruning_counts
from darksecrets.models.hooks import Intervention, shape_of
from darksecrets.models.selectors import Heads
from darksecrets.run.progress import progress


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


def greedy_order(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int]
) -> list[Place]:
    """Remove heads in the steps of `pruning_counts`, each time those that add least to the loss.

    Before every step, each head that is left is removed alone, beside those that are gone.

    Args:
        model: A classifier, on the device to use.
        split: Encoded training examples.
        task: Their task, which decides the loss.
        rows: Row numbers of the examples to use.

    Returns:
        All heads, in the order in which they are removed.
    """
    shape = shape_of(model)
    layers, heads = range(1, shape.layers + 1), range(1, shape.heads + 1)
    left = [(layer, head) for layer in layers for head in heads]
    gone: list[Place] = []
    with progress("Greedy order", len(left), "heads") as advance:
        for count in pruning_counts(len(left)):
            ranked = left
            if len(left) > 1:
                means = _without_each(model, split, task, rows, gone, left)
                ranked = [left[number] for number in np.argsort(means, kind="stable")]
            step = ranked[: count - len(gone)]
            gone += step
            left = [place for place in left if place not in step]
            advance(len(step))
    return gone


def _without_each(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    gone: list[Place],
    left: list[Place],
) -> list[float]:
    """Mean losses without the heads that are gone and one of those left."""
    sets = [HeadSet("set", Order("", None, (*gone, one)).first(len(gone) + 1), "") for one in left]
    backend = choose_backend(model, split, [of_set.intervention(ZERO) for of_set in sets])
    total = np.zeros(len(sets))
    with torch.inference_mode():
        for places in by_length(split.lengths[list(rows)], BLOCK):
            chosen = [rows[place] for place in places]
            total += losses_of(backend, split, task, chosen).sum(axis=1)
    return (total / len(rows)).tolist()
