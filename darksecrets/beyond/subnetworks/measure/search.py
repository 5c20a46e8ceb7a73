"""The search for the good subnetwork of a fine-tuned model (Prasanna et al. 2020, section 3).

Each step removes the least important parts that are left, by the absolute gradient of their gates
(Michel et al. 2019), as long as the score is at least a share of the whole model's. At first, a
step takes a tenth of the heads and one MLP; then a twentieth of the heads; then one MLP. Training
examples decide, unlike in the paper: some measure importance, and others the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.importance.measure import gradients
from darksecrets.beyond.subnetworks.measure.parts import Parts
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.hooks import Intervention, shape_of


class Stage(NamedTuple):
    """What each step of a stage removes: a share of all heads, and a number of MLPs."""

    heads: float
    mlps: int


STAGES = (Stage(0.1, 1), Stage(0.05, 0), Stage(0.0, 1))


@dataclass(frozen=True)
class Examples:
    """Row numbers of the training examples that a search uses.

    Attributes:
        measuring: Those that measure importance.
        deciding: Others, which decide whether a step is made.
    """

    measuring: Sequence[int]
    deciding: Sequence[int]

    @classmethod
    def of(cls, rows: Sequence[int]) -> Examples:
        """Halves of a random sample; of a single example, both are the same."""
        half = max(1, len(rows) // 2)
        return cls(rows[:half], rows[half:] or rows)


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        good: The parts that are left.
        heads: [layers, heads] the step that removed each head, from 1; 0 if it is left.
        mlps: [layers] likewise.
        scores: [steps + 1] score on the deciding examples, at first of the whole model.
    """

    good: Parts
    heads: Integers
    mlps: Integers
    scores: list[float]

    def bad(self) -> Parts:
        """As many parts from the rest, those removed first; all of the rest if it is too small."""
        sizes = self.good.size
        return Parts(_first(self.heads, sizes[0]), _first(self.mlps, sizes[1]))


def _first(steps: Integers, count: int) -> Flags:
    """Flags of the parts that were removed first, up to a number of them."""
    flat = steps.ravel()
    order = np.argsort(np.where(flat > 0, flat, flat.max(initial=0) + 1), kind="stable")
    chosen = np.zeros(len(flat), dtype=bool)
    chosen[order[: min(count, int((flat > 0).sum()))]] = True
    return chosen.reshape(steps.shape)


def search(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    examples: Examples,
    share: float,
    rng: np.random.Generator,
) -> SearchResult:
    """Find the smallest subnetwork whose score is at least a share of the whole model's.

    At least one head and one MLP are left.

    Args:
        model: A classifier, on the device to use.
        split: Encoded training examples.
        task: Their task; `deciding_metric` is the score.
        examples: Which examples measure and decide.
        share: Share of the whole model's score that is kept.
        rng: Orders parts of the same importance. By their places, models that need none of them
            would seem to agree on those that they keep.

    Raises:
        InputError: The model's attention or MLPs cannot be reached, or a loss is not finite.
    """
    model.train(False)
    model.requires_grad_(False)
    shape = shape_of(model)
    good = Parts.every(shape)
    heads, mlps = np.zeros(good.heads.shape, np.int64), np.zeros(good.mlps.shape, np.int64)
    ties = rng.random(heads.shape), rng.random(mlps.shape)
    scores = [_score(model, split, task, examples.deciding, good)]
    important = importance(model, split, task, examples.measuring, good)
    for stage in STAGES:
        while (rest := _drop_least(good, important, ties, stage)) is not None:
            score = _score(model, split, task, examples.deciding, rest)
            if not score >= share * scores[0]:
                break
            heads[good.heads & ~rest.heads] = mlps[good.mlps & ~rest.mlps] = len(scores)
            good = rest
            scores.append(score)
            important = importance(model, split, task, examples.measuring, good)
    return SearchResult(good, heads, mlps, scores)


def deciding_metric(task: Task) -> str:
    """Accuracy, as in the paper, or the first metric of a task that has none.

    F1 would not do: always predicting the frequent class has nine tenths of it on MRPC.
    """
    return metrics.ACCURACY if metrics.ACCURACY in task.metrics else task.metrics[0]


def _drop_least(
    parts: Parts, important: tuple[Floats, Floats], ties: tuple[Floats, Floats], stage: Stage
) -> Parts | None:
    """The parts without the least important ones; None if a kind that it takes has one left."""
    wanted = (round(stage.heads * parts.heads.size) if stage.heads else 0, stage.mlps)
    counts = [max(1, count) if by else 0 for count, by in zip(wanted, stage, strict=True)]
    counts = [min(n, left - 1) for n, left in zip(counts, parts.size, strict=True)]
    if any(count < 1 for count, by in zip(counts, stage, strict=True) if by):
        return None
    kept = []
    kinds = zip((parts.heads, parts.mlps), important, ties, counts, strict=True)
    for flags, values, random, count in kinds:
        order = np.lexsort([random.ravel(), np.where(flags, values, np.inf).ravel()])
        left = flags.copy()
        left.flat[order[:count]] = False
        kept.append(left)
    return Parts(*kept)


def importance(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int], parts: Parts
) -> tuple[Floats, Floats]:
    """Mean absolute gradients of the gates of heads and MLPs, in a subnetwork.

    Args:
        model: A classifier in evaluation mode that needs no gradients.
        split: Encoded examples.
        task: Their task, which decides the loss.
        rows: Row numbers of the examples to use.
        parts: The parts whose gates are open.

    Returns:
        [layers, heads] and [layers].
    """
    totals = np.zeros(parts.heads.shape), np.zeros(parts.mlps.shape)
    lengths = split.lengths[list(rows)]
    for places in batches_by_length(lengths, gradients.batch_size_of(model, lengths)):
        batch, labels = gradients.batch_of(model, split, [rows[place] for place in places])
        gates = _gates(model, len(places), parts)
        heads, _, mlps = gradients.backward(model, task, batch, labels, *gates)
        for total, slopes in zip(totals, (heads[..., 0], mlps), strict=True):
            total += np.abs(slopes).sum(axis=0)
    return totals[0] / len(rows), totals[1] / len(rows)


def _gates(
    model: PreTrainedModel, examples: int, parts: Parts
) -> tuple[gradients.Gates, gradients.MlpGates]:
    """Gates that are open for some parts, for each example by itself."""

    def gates(flags: Flags) -> torch.Tensor:
        opened = torch.from_numpy(flags).to(model.device, model.dtype)
        return opened.expand(examples, *flags.shape).clone()

    kept = gates(np.ones_like(parts.heads))
    return gradients.Gates(gates(parts.heads[..., None]), kept), gradients.MlpGates(
        gates(parts.mlps)
    )


def predictions(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    interventions: Sequence[Intervention | None],
) -> Any:  # noqa: ANN401 - numbers of classes, or outputs
    """[interventions, rows] predictions of some examples under each intervention."""
    logits = gradients.logits_under(model, split, rows, interventions)
    return np.stack([metrics.predict(task, each) for each in logits])


def _score(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int], parts: Parts
) -> float:
    """The score that decides."""
    (predicted,) = predictions(model, split, task, rows, [parts.removal()])
    metric = metrics.METRICS[deciding_metric(task)]
    return metric.plain(predicted, split.labels[list(rows)])
