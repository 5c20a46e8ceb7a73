"""The greedy order of heads: each step removes those that then add least to the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.ablation.disable import ZERO
from darksecrets.ablation.joint import Order, Place
from darksecrets.ablation.sets import HeadSet
from darksecrets.ablation.sweep import choose_backend
from darksecrets.data.batches import by_length
from darksecrets.importance.gradients import BLOCK, losses_of
from darksecrets.importance.steps import pruning_counts
from darksecrets.models.hooks import shape_of
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.batches import EncodedSplit
    from darksecrets.data.tasks import Task


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
