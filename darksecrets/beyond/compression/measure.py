"""Smaller models of a task: how they are made, what they save, and what they cost."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.compression import declared
from darksecrets.beyond.compression.declared import (
    BATCH,
    COMPRESSION,
    COMPRESSION_TIMES,
    INPUTS,
    SINGLE,
    WHOLE,
    Settings,
)
from darksecrets.core.arrays import Floats, Integers, Singles, Values
from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.models import shrinking
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.layers import is_known
from darksecrets.core.models.loading import Draw, draw_from_normal
from darksecrets.core.models.removal import remove_heads, remove_mlps
from darksecrets.core.models.selectors import Heads
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.percentiles import median_interval
from darksecrets.core.stats.resampling import interval

if TYPE_CHECKING:
    from darksecrets.core.data.tasks import Task


# The compressed models of a run: which there are, and how each is made from the whole model.
#
# To add one, name it in `declared.METHODS`, give it a look in `shown.LOOKS`, and yield it in
# `variants`: a function that changes a copy of the model in place.

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


# Size, decisions and time of every compressed model of a task.


def seconds(
    models: Sequence[torch.nn.Module],
    inputs: Mapping[str, torch.Tensor],
    repetitions: int,
    rng: np.random.Generator,
) -> Floats:
    """Time every model, all in turn in every repetition, in an order drawn anew.

    Args:
        models: Models in evaluation mode.
        inputs: What each takes.
        repetitions: How often each is timed, after a first time that does not count.
        rng: Source of the orders.

    Returns:
        [repetitions, models].
    """
    taken = np.empty((repetitions, len(models)))
    with torch.inference_mode(), progress("Timing", repetitions, "repetitions") as advance:
        for model in models:
            model(**inputs)
        for repetition in range(repetitions):
            for number in rng.permutation(len(models)):
                start = time.perf_counter()
                models[number](**inputs)
                taken[repetition, number] = time.perf_counter() - start
            advance(1)
    return taken


def speedup(whole: Floats, compressed: Floats) -> dict[str, float]:
    """How many times as fast one model is as another: the median, with its 95% interval.

    The interval takes repetitions for independent, which bursts of other work make too narrow.

    Args:
        whole: [repetitions] seconds of the one model; at least 6.
        compressed: [repetitions] seconds of the other in the same repetitions.
    """
    ratios = whole / compressed
    low, high = median_interval(ratios)
    return {"speedup": float(np.median(ratios)), "ci_low": low, "ci_high": high}


BITS, VALUES = ".bits", ".values"
_WORTHWHILE = 1 / 32
"""Share of zeros from which a bit for every number takes less than the zeros do, in float32."""


def saved_bytes(tensors: Mapping[str, torch.Tensor]) -> int:
    """Size of a safetensors file with these tensors."""
    from safetensors.torch import save

    return len(save({name: tensor.contiguous() for name, tensor in tensors.items()}))


def pack_zeros(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors; those with many zeros as a bit for every number, and the other numbers.

    Args:
        tensors: By name.

    Returns:
        Tensors by name; instead of ``x`` there may be ``x.bits`` (uint8, eight numbers in each,
        the first in the highest bit) and ``x.values``.
    """
    packed: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        flat = tensor.flatten()
        kept = flat != 0
        if tensor.dtype == torch.float32 and 1 - kept.float().mean() > _WORTHWHILE:
            packed[name + BITS] = torch.from_numpy(np.packbits(kept.numpy()))
            packed[name + VALUES] = flat[kept]
        else:
            packed[name] = tensor
    return packed


BATCH_SIZE, TIMED = 32, 16
"""Examples that are scored together, and that are timed together."""

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


def times(
    models: Sequence[PreTrainedModel],
    variants: Sequence[Variant],
    split: EncodedSplit,
    *,
    repetitions: int,
    threads: int,
    seed: int,
) -> pd.DataFrame:
    """Time all models but the control, on one example and on a batch.

    Args:
        models: Compressed models, the whole one first.
        variants: How they were made.
        split: Validation examples.
        repetitions: How often each is timed.
        threads: Threads that PyTorch uses.
        seed: Seed of the examples of the batch and of the order of the models.

    Returns:
        `COMPRESSION_TIMES` without the columns of the model.
    """
    rng = np.random.default_rng(seed)
    timed = [pair for pair in zip(variants, models, strict=True) if not pair[0].is_control]
    again = [timed[0][1], *(model for _, model in timed)]
    rows: list[dict[str, Any]] = []
    for name in INPUTS:
        batch = split.batch(_rows(split, name, rng))
        del batch["labels"]
        taken = seconds(again, batch, repetitions, rng)
        examples, tokens = batch["input_ids"].shape
        for place, (variant, _) in enumerate(timed, start=1):
            rows.append(
                {**variant.about, "inputs": name, "examples": examples, "tokens": examples * tokens}
                | {"threads": threads, "seconds": np.median(taken[:, place])}
                | {**speedup(taken[:, 0], taken[:, place]), "repetitions": repetitions}
            )
    return COMPRESSION_TIMES.select(pd.DataFrame(rows))


def _rows(split: EncodedSplit, name: str, rng: np.random.Generator) -> list[int]:
    """Rows of the example of median length, or of a random batch."""
    if name == SINGLE:
        return [int(np.argsort(split.lengths, kind="stable")[len(split) // 2])]
    assert name == BATCH
    return rng.permutation(len(split))[:TIMED].tolist()


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


# What compressed models retain of the score, with intervals over examples.

_DECIMALS = 9
"""Of percent: differences that ought to be 0, or a tolerance, are so exactly."""


def compression(
    found: Sequence[Measured],
    labels: Values,
    units: Integers,
    task: Task,
    *,
    tolerance: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score all compressed models of a task on the same examples.

    Args:
        found: What was measured, the whole model first.
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        task: Their task.
        tolerance: The greatest drop that is tolerated, × 100.
        resamples: Number of bootstrap samples of the examples.
        seed: Their seed.

    Returns:
        `COMPRESSION` without the columns of the model.
    """
    predictions = np.stack([metrics.predict(task, one.logits) for one in found])
    sizes = pd.DataFrame([_size(one, found[0]) for one in found])
    tables = []
    for metric in task.metrics:
        scores = _scores(metric, predictions, labels, units, task, resamples, seed)
        columns = _retained(scores, tolerance)
        tables.append(sizes.assign(metric=metric, examples=len(labels), **columns))
    table = pd.concat(tables, ignore_index=True)
    agreed = _agreement(predictions, task)
    table = table.assign(**{name: np.tile(rows, len(tables)) for name, rows in agreed.items()})
    return COMPRESSION.select(table)


def _size(one: Measured, whole: Measured) -> dict[str, Any]:
    """Columns about the size of a model."""
    return {
        **one.variant.about,
        "parameters": one.parameters,
        "nonzero": one.nonzero,
        "bytes": one.saved,
        "packed_bytes": one.packed,
        "smaller": whole.saved / one.saved,
    }


def _scores(
    metric: str,
    predictions: Values,
    labels: Values,
    units: Integers,
    task: Task,
    resamples: int,
    seed: int,
) -> Floats:
    """[1 + resamples, models + 1] scores × 100; the last column is chance, the first row plain."""
    frequent = 0 if task.is_regression else np.bincount(labels.astype(np.int64)).argmax()
    constant = np.full((1, len(labels)), frequent, dtype=predictions.dtype)
    models = np.concatenate([predictions, constant])
    rng = np.random.default_rng(seed)
    scores = metrics.score_resampled(metric, models, labels, units, resamples, rng)
    if task.is_regression:  # of any constant: what is not explained, and no correlation
        scores[:, -1] = 0.0
    return scores


def _retained(scores: Floats, tolerance: float) -> dict[str, Any]:
    """Columns about the scores of the models, from `_scores`."""
    models, chance = scores[:, :-1], scores[:, -1:]
    whole = models[:, :1]
    deltas = np.round(models - whole, _DECIMALS)
    over = np.round(models - chance, _DECIMALS)
    score_low, score_high = interval(models[1:])
    low, high = interval(deltas[1:])
    share, share_low, share_high = _ratio(models, whole)
    above, above_low, above_high = _ratio(models - chance, whole - chance)
    better = (over[0] > 0) & (interval(over[1:])[0] > 0)
    return {
        "baseline": whole[0, 0],
        "score": models[0],
        "score_low": score_low,
        "score_high": score_high,
        "delta": deltas[0],
        "ci_low": low,
        "ci_high": high,
        "chance": chance[0, 0],
        "retention": share,
        "retention_low": share_low,
        "retention_high": share_high,
        "above_chance": above,
        "above_chance_low": above_low,
        "above_chance_high": above_high,
        "tolerance": tolerance,
        "retained": (low >= -tolerance) & better,
    }


def _ratio(parts: Floats, of: Floats) -> tuple[Floats, Floats, Floats]:
    """Ratios in percent with their intervals; NaN if the whole is not above 0 in every sample."""
    if not (of > 0).all():
        unknown = np.full(parts.shape[1], np.nan)
        return unknown, unknown, unknown
    ratios = PERCENT * parts / of
    low, high = interval(ratios[1:])
    return ratios[0], low, high


def _agreement(predictions: Values, task: Task) -> dict[str, Floats]:
    """[models] shares of the decisions that are those of the whole model; NaN for a regression."""
    if task.is_regression:
        unknown = np.full(len(predictions), np.nan)
        return {"agreement": unknown, "agreement_by_chance": unknown}
    classes = np.arange(task.num_labels)
    shares = (predictions[:, None] == classes[:, None]).mean(axis=2)  # [models, classes]
    alike = (predictions == predictions[0]).mean(axis=1)
    return {"agreement": alike, "agreement_by_chance": (shares * shares[0]).sum(axis=1)}
