"""Sweeps in which no head matters, or some matter by a known amount.

Every example has a margin. Every disabled set, and the intact model itself, adds noise to it, all
by the same law; so they are equal models, except for the sets that are given an effect. Their
predictions are exchangeable, and their true scores are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from darksecrets.ablation.results import SweepResult

Floats = npt.NDArray[np.float64]

CLASSES, REGRESSION = "MRPC", "STS-B"
"""Tasks whose metrics have known true values here: accuracy and F1, both correlations."""

_EASY = 0.8  # mean margin of the examples in standard deviations; scores are about 0.8
_POSITIVE = 2 / 3  # share of class 1


@dataclass(frozen=True)
class Shape:
    """Size of a sweep, and how its sets depend on each other.

    Attributes:
        examples: Of the validation set.
        layers: Layers, each of which is also disabled as a whole.
        heads: Heads of each layer.
        noise: Standard deviation of what disabling does to a margin.
        common: Share of this variance that all disabled sets have in common.
        sets: Further sets of heads that are disabled together.
    """

    examples: int = 400
    layers: int = 12
    heads: int = 12
    noise: float = 0.3
    common: float = 0.0
    sets: int = 0


@dataclass(frozen=True)
class Known:
    """A sweep of which the truth is known.

    Attributes:
        task: Name of its task.
        result: The predictions.
        true: By metric, [sets] true score minus that of the intact model.
    """

    task: str
    result: SweepResult
    true: Mapping[str, Floats]


def places(shape: Shape) -> pd.DataFrame:
    """Rows of `SweepResult.sets`: the baseline, every head, every layer, further sets."""
    layers = range(1, shape.layers + 1)
    each = [(layer, head) for layer in layers for head in range(1, shape.heads + 1)]
    rows: list[tuple[str, int | None, int | None, str]] = [("baseline", None, None, "nothing")]
    rows += [("head", *place, f"layer {place[0]} head {place[1]}") for place in each]
    rows += [("layer", layer, None, f"all of layer {layer}") for layer in layers]
    rows += [("set", None, None, f"set {number}") for number in range(shape.sets)]
    table = pd.DataFrame(rows, columns=["kind", "layer", "head", "name"])
    return table.astype({"layer": "Int64", "head": "Int64"})


def sweep(
    task: str,
    rng: np.random.Generator,
    shape: Shape | None = None,
    effects: Mapping[int, float] | None = None,
) -> Known:
    """Draw a sweep.

    Args:
        task: `CLASSES` or `REGRESSION`.
        rng: Source of randomness.
        shape: Size of the sweep.
        effects: What some sets, by their number, add to every margin; for a regression, to the
            slope of the predictions. The intact model is set 0. None: no set matters.
    """
    shape = shape or Shape()
    sets = places(shape)
    added = np.zeros(len(sets))
    for number, effect in (effects or {}).items():
        added[number] = effect
    own = rng.normal(size=(len(sets), shape.examples))
    shared = rng.normal(size=shape.examples)
    together = np.sqrt(1 - shape.common) * own + np.sqrt(shape.common) * shared
    together[0] = own[0]  # what disabling does in all sets alike, it does not do to the intact one
    make = _regression if task == REGRESSION else _classes
    predictions, labels, true = make(shape.noise, together, added, rng)
    result = SweepResult(sets, predictions, labels, np.arange(shape.examples))
    return Known(task, result, {name: of - of[0] for name, of in true.items()})


def _classes(
    noise: float, disturbed: Floats, added: Floats, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, Floats]]:
    """Two classes; an example is predicted correctly if its margin is positive."""
    examples = disturbed.shape[1]
    labels = (rng.random(examples) < _POSITIVE).astype(np.int64)
    labels[:2] = 0, 1
    margins = _EASY + rng.normal(size=examples)
    right = margins + noise * disturbed + added[:, None] > 0
    share = norm.cdf((_EASY + added) / np.sqrt(1 + noise**2))
    f1 = 2 * _POSITIVE * share / (2 * _POSITIVE * share + 1 - share)
    return np.where(right, labels, 1 - labels), labels, {"accuracy": share, "f1": f1}


def _regression(
    noise: float, disturbed: Floats, added: Floats, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], dict[str, Floats]]:
    """Normal predictions, correlated with the labels."""
    labels, errors = rng.normal(size=(2, disturbed.shape[1]))
    slope = 1 + added[:, None]
    predictions = slope * labels + _EASY * errors + noise * disturbed
    pearson = (1 + added) / np.sqrt((1 + added) ** 2 + _EASY**2 + noise**2)
    ranks = 6 / np.pi * np.arcsin(pearson / 2)  # Spearman's, of two normal variables
    true = {"pearson": pearson, "spearman": ranks}
    return predictions.astype(np.float32), labels.astype(np.float32), true
