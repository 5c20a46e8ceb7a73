"""Time that several models take for the same input, in one run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from darksecrets.arrays import Floats
from darksecrets.run.progress import progress
from darksecrets.stats.percentiles import median_interval


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


@dataclass(frozen=True)
class Speedup:
    """The median of ratios of times, with its 95% interval."""

    median: float
    low: float
    high: float


def speedup(whole: Floats, compressed: Floats) -> Speedup:
    """How many times as fast one model is as another.

    The interval takes repetitions for independent, which bursts of other work make too narrow.

    Args:
        whole: [repetitions] seconds of the one model; at least 6.
        compressed: [repetitions] seconds of the other in the same repetitions.
    """
    ratios = whole / compressed
    return Speedup(float(np.median(ratios)), *median_interval(ratios))
