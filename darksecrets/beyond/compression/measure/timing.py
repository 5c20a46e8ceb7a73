"""How long compressed models take, beside the whole one, all in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.compression.declared import BATCH, COMPRESSION_TIMES, INPUTS, SINGLE
from darksecrets.beyond.compression.measure.variants import Variant
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.percentiles import median_interval

TIMED = 16
"""Examples of the batch."""


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
