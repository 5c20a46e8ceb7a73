"""Size, decisions and time of every compressed model of a task."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.compression.declared import (
    BATCH,
    COMPRESSION_TIMES,
    INPUTS,
    SINGLE,
    WHOLE,
)
from darksecrets.core.arrays import Floats, Singles
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.models import shrinking
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.percentiles import median_interval

if TYPE_CHECKING:
    pass
from darksecrets.beyond.compression.measure.variants import Variant


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
