"""Searching a fine-tuned model for parts that are enough, and for parts that are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.importance.declared import HEADS, MLPS
from darksecrets.beyond.importance.measure import gradients
from darksecrets.beyond.subnetworks.declared import BAD, GOOD, RANDOM, SUBNETWORKS
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.models.hooks import Intervention, shape_of
from darksecrets.core.models.mlps import linear_maps_of
from darksecrets.core.models.selectors import Heads, Shape
from darksecrets.core.run.errors import InputError

# Subnetworks: the heads and MLPs of an encoder that are kept; the others add nothing.


@dataclass(frozen=True)
class Parts:
    """Some heads and MLPs of an encoder.

    Attributes:
        heads: [layers, heads].
        mlps: [layers].
    """

    heads: Flags
    mlps: Flags

    @classmethod
    def every(cls, shape: Shape) -> Parts:
        """All heads and MLPs."""
        return cls(np.ones((shape.layers, shape.heads), bool), np.ones(shape.layers, bool))

    @classmethod
    def drawn(cls, shape: Shape, size: tuple[int, int], rng: np.random.Generator) -> Parts:
        """As many heads and MLPs, drawn at random."""
        places = (np.zeros(shape.layers * shape.heads, bool), np.zeros(shape.layers, bool))
        for flags, count in zip(places, size, strict=True):
            flags[rng.permutation(len(flags))[:count]] = True
        return cls(places[0].reshape(shape.layers, shape.heads), places[1])

    @classmethod
    def from_table(cls, rows: pd.DataFrame) -> Parts:
        """Parts from rows of one subnetwork in the table ``subnetworks``."""
        ordered = rows.sort_values(["layer", "head"])
        heads, mlps = (
            ordered.loc[ordered["part"] == part, "kept"].to_numpy(dtype=bool)
            for part in (HEADS, MLPS)
        )
        return cls(heads.reshape(len(mlps), -1), mlps)

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of heads and of MLPs."""
        return int(self.heads.sum()), int(self.mlps.sum())

    def removal(self) -> Intervention | None:
        """What removes all other parts; None if there are none."""
        from darksecrets.core.interventions.disable import ZERO, Disable, DisableParts

        gone: Heads = {
            layer: frozenset((np.flatnonzero(~kept) + 1).tolist())
            for layer, kept in enumerate(self.heads, start=1)
            if not kept.all()
        }
        mlps = frozenset((np.flatnonzero(~self.mlps) + 1).tolist())
        if mlps:
            return DisableParts(gone, ZERO, mlps)
        return Disable(gone, ZERO) if gone else None

    def table(self) -> pd.DataFrame:
        """Columns ``part``, ``layer``, ``head`` and ``kept``: all heads, then all MLPs."""
        layers, heads = (places.ravel() + 1 for places in np.indices(self.heads.shape))
        head_rows = {"part": HEADS, "layer": layers, "head": heads, "kept": self.heads.ravel()}
        mlp_rows = {"part": MLPS, "layer": np.arange(len(self.mlps)) + 1, "head": pd.NA}
        parts = [pd.DataFrame(head_rows), pd.DataFrame({**mlp_rows, "kept": self.mlps})]
        return pd.concat([part.astype({"head": "Int64"}) for part in parts], ignore_index=True)


# The search for the good subnetwork of a fine-tuned model (Prasanna et al. 2020, section 3).
#
# Each step removes the least important parts that are left, by the absolute gradient of their gates
# (Michel et al. 2019), as long as the score is at least a share of the whole model's. At first, a
# step takes a tenth of the heads and one MLP; then a twentieth of the heads; then one MLP. Training
# examples decide, unlike in the paper: some measure importance, and others the score.


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


# Predictions of the whole model and of subnetworks side by side.

WHOLE = "whole"


def sets_of(names: Sequence[str]) -> pd.DataFrame:
    """Rows of the sets of a sweep; the first is the whole model."""
    kinds = ["baseline", *["set"] * (len(names) - 1)]
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": list(names)})
    return sets.astype({"layer": "Int64", "head": "Int64"})


def add_retrained(result: SweepResult, predictions: Mapping[str, pd.DataFrame]) -> SweepResult:
    """The whole model beside re-trained subnetworks.

    Args:
        result: Predictions of the whole model, and others.
        predictions: By name, tables of predictions of the re-trained subnetworks.

    Raises:
        InputError: A table is about other examples.
    """
    found = [result.predictions[0]]
    for name, table in predictions.items():
        if table["idx"].tolist() != result.idx.tolist():
            raise InputError(
                f"The predictions of the re-trained subnetwork {name} are of other examples than "
                "those of the fine-tuned model. Run both again."
            )
        found.append(table["prediction"].to_numpy(dtype=result.predictions.dtype))
    return replace(result, sets=sets_of([WHOLE, *predictions]), predictions=np.stack(found))


# Everything about one model's subnetworks that needs the model: masks and predictions.


def subnetworks(model: PreTrainedModel, found: SearchResult, draws: int, seed: int) -> pd.DataFrame:
    """The good, the bad and random subnetworks.

    Args:
        model: The model that was searched.
        found: Its good subnetwork.
        draws: Number of random subnetworks, of exactly the size of the good one.
        seed: Their seed.

    Returns:
        The table ``subnetworks`` without the columns of the model.
    """
    rng, shape = np.random.default_rng(seed), shape_of(model)
    every = [(GOOD, 1, found.good), (BAD, 1, found.bad())]
    every += [
        (RANDOM, draw, Parts.drawn(shape, found.good.size, rng)) for draw in range(1, draws + 1)
    ]
    steps = np.concatenate([found.heads.ravel(), found.mlps])
    removed_at = pd.Series(steps, dtype="Int64").where(steps > 0)
    never = pd.Series(pd.NA, index=removed_at.index, dtype="Int64")
    tables = []
    for name, draw, parts in every:
        table = parts.table().assign(subnetwork=name, draw=draw, weights=_weights(model))
        tables.append(table.assign(step=removed_at if name == GOOD else never))
    joined = pd.concat(tables, ignore_index=True)
    return SUBNETWORKS.select(joined)


def _weights(model: PreTrainedModel) -> list[int]:
    """Weights of the linear maps of all heads, then of all MLPs."""
    layers, heads = linear_maps_of(model), shape_of(model).heads
    head_sizes = [sum(m.weight.numel() for m in layer.attention) // heads for layer in layers]
    mlp_sizes = [sum(m.weight.numel() for m in layer.mlp) for layer in layers]
    return [*np.repeat(head_sizes, heads).tolist(), *mlp_sizes]


def predicted(
    model: PreTrainedModel, split: EncodedSplit, task: Task, table: pd.DataFrame
) -> SweepResult:
    """Predictions of the intact model and of all subnetworks.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: Encoded validation examples.
        task: Their task.
        table: The table ``subnetworks`` of the model.
    """
    rows = list(range(len(split)))
    groups = table.groupby(["subnetwork", "draw"], sort=False)
    parts = {f"{name} {draw}": Parts.from_table(part) for (name, draw), part in groups}
    removals = [None, *(each.removal() for each in parts.values())]
    found = predictions(model, split, task, rows, removals)
    return SweepResult(sets_of([WHOLE, *parts]), found, split.labels, split.idx, split.units)
