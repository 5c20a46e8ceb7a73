"""Random sweeps, for tests of statistics computed from them."""

import dataclasses

import numpy as np
import pandas as pd
from glue import TASKS

from darksecrets.core.interventions.results import SweepResult


def places(layers: int, heads: int, custom: int = 0) -> pd.DataFrame:
    """Rows of `SweepResult.sets`: the baseline, every head, every layer, and custom sets."""
    rows: list[tuple[str, int | None, int | None, str]] = [("baseline", None, None, "nothing")]
    for layer in range(1, layers + 1):
        rows += [("head", layer, h, f"layer {layer} head {h}") for h in range(1, heads + 1)]
    rows += [("layer", layer, None, f"all of layer {layer}") for layer in range(1, layers + 1)]
    rows += [("set", None, None, f"set {n}") for n in range(custom)]
    table = pd.DataFrame(rows, columns=["kind", "layer", "head", "name"])
    return table.astype({"layer": "Int64", "head": "Int64"})


def sweep(
    task: str,
    examples: int = 40,
    layers: int = 2,
    heads: int = 3,
    *,
    seed: int = 0,
    changed: float = 0.15,
    custom: int = 0,
) -> SweepResult:
    """A model that is mostly right; every set changes some predictions at random.

    Wins and losses are equally likely: disabling does nothing but shuffle.
    """
    rng, kind = np.random.default_rng(seed), TASKS[task]
    sets = places(layers, heads, custom)
    shape = (len(sets), examples)
    if kind.is_regression:
        labels = np.round(rng.uniform(0, 5, examples) * 4).astype(np.float32) / 4
        shared = labels + rng.normal(size=examples)
        predictions = (shared + changed * rng.normal(size=shape)).astype(np.float32)
        return SweepResult(sets, predictions, labels, *2 * [np.arange(examples)])
    labels = rng.integers(0, kind.num_labels, examples)
    labels[:2] = 0, 1
    noise = rng.integers(0, kind.num_labels, shape)
    shared = np.where(rng.random(examples) < 0.7, labels, noise[0])
    # each set, the baseline too, replaces a share of the shared predictions in the same way
    mixed = np.where(rng.random(shape) < 0.7, labels, noise)
    predictions = np.where(rng.random(shape) < changed, mixed, shared)
    return SweepResult(sets, predictions, labels, *2 * [np.arange(examples)])


def repeated(result: SweepResult, units: np.ndarray) -> SweepResult:
    """A sweep with some examples more than once: ``units`` are their places in it."""
    return dataclasses.replace(
        result,
        predictions=result.predictions[:, units],
        labels=result.labels[units],
        idx=np.arange(len(units)),
        units=units,
    )
