"""The compressed models of a run: which there are, and how each is made from the whole model.

To add one, name it in `declared.METHODS`, give it a look in `shown.LOOKS`, and yield it in
`variants`: a function that changes a copy of the model in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformers import PreTrainedModel

from darksecrets.beyond.compression import declared
from darksecrets.beyond.compression.declared import Settings
from darksecrets.core.models import shrinking
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.layers import is_known
from darksecrets.core.models.loading import Draw, draw_from_normal
from darksecrets.core.models.removal import remove_heads, remove_mlps
from darksecrets.core.models.selectors import Heads

Change = Callable[[PreTrainedModel], object]

LeastImportant = Callable[[int], "Heads"]
"""Gives a number of heads by layer, the least important ones."""


@dataclass(frozen=True)
class Variant:
    """One way to compress a model.

    Attributes:
        method: One of `declared.METHODS`.
        amount: How much of it, as configured; 0 where there is nothing to choose.
        detail: The same in numbers.
        change: Changes a model in place, but not its tensors, unless it is the control.
    """

    method: str
    amount: float
    detail: str
    change: Change

    @property
    def is_control(self) -> bool:
        """Whether it is the model that learned nothing."""
        return self.method == declared.RANDOM

    @property
    def about(self) -> dict[str, Any]:
        """The columns of tables that identify it."""
        return {"method": self.method, "amount": self.amount, "detail": self.detail}


def variants(
    model: PreTrainedModel,
    settings: Settings,
    heads: LeastImportant | None,
    mlps: Sequence[int],
    random: Draw,
) -> list[Variant]:
    """All compressed models of a run, the whole model first.

    Args:
        model: The whole model.
        settings: How much of each method.
        heads: Gives a number of heads to remove; None if their order is not known.
        mlps: Layers whose MLPs are to be removed first; none if their order is not known.
        random: How the control is drawn.

    Returns:
        Those that the model's architecture can have, see `left_out`.
    """
    without = left_out(model, heads, mlps)
    every = _every(model, settings, heads, mlps, random)
    return [variant for variant in every if variant.method not in without]


def _every(
    model: PreTrainedModel,
    settings: Settings,
    heads: LeastImportant | None,
    mlps: Sequence[int],
    random: Draw,
) -> Iterator[Variant]:
    """The same, and those that the architecture cannot have as far as they can be named."""
    amounts, shape, words = settings.amounts, shape_of(model), shrinking.matrix_of_words(model)
    weights = sum(each.weight.numel() for each in shrinking.matrices(model))
    yield Variant(declared.WHOLE, 0, "", lambda _: None)
    if heads is not None:
        for share in amounts.get("heads", ()):
            count = round(share * shape.total)
            detail = f"{count} of {shape.total} heads"
            yield Variant(declared.HEADS, share, detail, partial(remove_heads, heads=heads(count)))
        # the same share of both, as McCarley et al. (2020) and Prasanna et al. (2020) prune both
        for share in amounts.get("heads_and_mlps", ()):
            count, mlp_count = round(share * shape.total), round(share * shape.layers)
            change = partial(_remove_both, heads=heads(count), mlps=mlps[:mlp_count])
            detail = f"{count} of {shape.total} heads, {mlp_count} of {shape.layers} MLPs"
            yield Variant(declared.HEADS_AND_MLPS, share, detail, change)
    for share in amounts.get("weights", ()):
        detail = f"{round(share * weights):,} of {weights:,} weights"
        yield Variant(declared.WEIGHTS, share, detail, partial(_zero_smallest, share=share))
    for share in amounts.get("layers", ()):
        count = min(round(share * shape.layers), shape.layers - 1)
        change = partial(shrinking.drop_layers, count=count)
        yield Variant(declared.LAYERS, share, f"{count} of {shape.layers} layers", change)
    if words is not None:
        width = words.embedding_dim
        for share in amounts.get("rank", ()):
            rank = min(max(1, round(share * width)), words.num_embeddings, width)
            change = partial(shrinking.factorise_embeddings, rank=rank)
            yield Variant(declared.EMBEDDINGS, share, f"rank {rank} of {width}", change)
    yield Variant(declared.EIGHT_BITS, 0, "", shrinking.quantize)
    drawn = partial(draw_from_normal, seed=random.seed, std=random.std)
    yield Variant(declared.RANDOM, 0, "", drawn)


def left_out(
    model: PreTrainedModel, heads: LeastImportant | None, mlps: Sequence[int]
) -> dict[str, str]:
    """Methods that a model cannot be compressed by, and why."""
    found = {}
    if not is_known(model):
        name = type(model).__name__
        why = f"{name} is no classifier of BERT, RoBERTa or ELECTRA"
        found = dict.fromkeys((declared.HEADS, declared.HEADS_AND_MLPS, declared.LAYERS), why)
    elif heads is None:
        why = "the run does not order the heads of this task by importance"
        found = dict.fromkeys((declared.HEADS, declared.HEADS_AND_MLPS), why)
    elif not mlps:
        why = "the run does not order the MLPs of this task by importance"
        found = {declared.HEADS_AND_MLPS: why}
    if shrinking.matrix_of_words(model) is None:
        found[declared.EMBEDDINGS] = f"{type(model).__name__} has no matrix of word embeddings"
    return found


def _remove_both(model: PreTrainedModel, heads: Heads, mlps: Sequence[int]) -> None:
    remove_heads(model, heads)
    remove_mlps(model, mlps)


def _zero_smallest(model: PreTrainedModel, share: float) -> None:
    """Set the smallest weights of the whole encoder to 0, those of the pooler included."""
    shrinking.zero_smallest(shrinking.matrices(model), share)
