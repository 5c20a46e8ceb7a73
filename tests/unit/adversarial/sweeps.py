"""Sweeps in which no head matters, or some matter by a known amount.

Every example has a margin. Every disabled set, and the intact model itself, adds noise to it, all
by the same law; so they are equal models, except for the sets that are given an effect. Their
predictions are exchangeable, and their true scores are known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm
from sweeps import repeated as repeat_examples

from darksecrets.beyond.importance.measure.orders import Plan
from darksecrets.core.interventions.results import SweepResult

Floats = npt.NDArray[np.float64]

CLASSES, REGRESSION = "MRPC", "STS-B"
"""Tasks whose metrics have known true values here: accuracy and F1, both correlations."""

_EASY = 0.8  # mean margin of the examples in standard deviations; scores are about 0.8
NOISE = 0.3  # standard deviation of what disabling does to a margin
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
        tails: Degrees of freedom of Student's t that the noise follows; None if it is normal. With
            2, its variance is infinite, and there are no true scores.
    """

    examples: int = 400
    layers: int = 12
    heads: int = 12
    noise: float = NOISE
    common: float = 0.0
    sets: int = 0
    tails: float | None = None


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
    size = (len(sets), shape.examples)
    own = rng.normal(size=size) if shape.tails is None else rng.standard_t(shape.tails, size=size)
    shared = rng.normal(size=shape.examples)
    together = np.sqrt(1 - shape.common) * own + np.sqrt(shape.common) * shared
    together[0] = own[0]  # what disabling does in all sets alike, it does not do to the intact one
    make = _regression if task == REGRESSION else _classes
    predictions, labels, true = make(shape.noise, together, added, rng)
    result = SweepResult(sets, predictions, labels, *2 * [np.arange(shape.examples)])
    return Known(task, result, {name: of - of[0] for name, of in true.items()})


def several(
    rng: np.random.Generator,
    shape: Shape,
    effects: Sequence[Mapping[int, float]] = ({}, {}),
    *,
    shared: float = 0.0,
    one_intact: bool = False,
) -> list[SweepResult]:
    """Draw sweeps of `CLASSES` on the same examples: of several seeds, or ways of disabling.

    Args:
        rng: Source of randomness.
        shape: Size of each.
        effects: Those of each sweep, see `sweep`.
        shared: Share of a set's noise that all sweeps have in common: disabling a head changes the
            same examples in every model.
        one_intact: Whether the intact model is the same in all sweeps.
    """
    sets, count = places(shape), len(effects)
    own = rng.normal(size=(count, len(sets), shape.examples))
    common = rng.normal(size=own.shape[1:])
    noise = np.sqrt(1 - shared) * own + np.sqrt(shared) * common
    if one_intact:
        noise[:, 0] = noise[0, 0]
    added = np.zeros((count, len(sets)))
    for number, of_sets in enumerate(effects):
        added[number, list(of_sets)] = list(of_sets.values())
    rows = noise.reshape(-1, shape.examples)
    predictions, labels, _ = _classes(shape.noise, rows, added.ravel(), rng)
    idx = np.arange(shape.examples)
    return [SweepResult(sets, part, labels, idx, idx) for part in np.split(predictions, count)]


def repeated(known: Known, rng: np.random.Generator) -> Known:
    """The same sweep with every example one to four times."""
    units = np.repeat(known.result.units, rng.integers(1, 5, len(known.result.units)))
    return dataclasses.replace(known, result=repeat_examples(known.result, units))


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


def accuracy(added: float = 0.0, noise: float = NOISE) -> float:
    """True accuracy if something is added to every margin, and noise of this standard deviation."""
    return float(norm.cdf((_EASY + added) / np.sqrt(1 + noise**2)))


def cost_of(drop: float, noise: float = NOISE) -> float:
    """What has to be added to every margin for the true accuracy to drop by this much."""
    return float(norm.ppf(accuracy(noise=noise) - drop) * np.sqrt(1 + noise**2) - _EASY)


@dataclass(frozen=True)
class Together:
    """Made-up heads that are disabled alone and together, on the same examples.

    Every head moves the margins of some examples up and of others down, by noise that is its own;
    that of several heads is their sum, scaled to the size of one.

    Attributes:
        labels: [examples].
        margins: [examples] before noise.
        intact: [examples] noise of the intact model.
        heads: [heads, examples] noise of each.
        effects: [heads] what disabling each adds to every margin.
        shift: What disabling anything adds to every margin.
    """

    labels: npt.NDArray[np.int64]
    margins: Floats
    intact: Floats
    heads: Floats
    effects: Floats
    shift: float

    @classmethod
    def draw(
        cls, rng: np.random.Generator, shape: Shape, effects: Floats | float = 0, shift: float = 0
    ) -> Together:
        count = shape.layers * shape.heads
        labels = (rng.random(shape.examples) < _POSITIVE).astype(np.int64)
        labels[:2] = 0, 1
        margins = _EASY + rng.normal(size=shape.examples)
        noise = shape.noise * rng.normal(size=(1 + count, shape.examples))
        every = np.broadcast_to(np.asarray(effects, dtype=np.float64), count)
        return cls(labels, margins, noise[0], noise[1:], every, shift)

    def single(self, shape: Shape) -> SweepResult:
        """The sweep over single heads."""
        sets = places(shape)
        sets = sets[sets["kind"].isin(["baseline", "head"])].reset_index(drop=True)
        rows = [self.predicted_intact(), *(self.predicted([n]) for n in range(len(self.heads)))]
        return SweepResult(sets, np.stack(rows), self.labels, *2 * [np.arange(len(self.labels))])

    def predicted_intact(self) -> npt.NDArray[np.int64]:
        """[examples] predictions of the intact model."""
        return self._right(self.intact)

    def predicted(self, heads: Sequence[int]) -> npt.NDArray[np.int64]:
        """[examples] predictions with some heads disabled."""
        some = list(heads)
        moved = self.heads[some].sum(axis=0) / np.sqrt(len(some)) + self.effects[some].sum()
        return self._right(moved + self.shift)

    def _right(self, moved: Floats) -> npt.NDArray[np.int64]:
        return np.where(self.margins + moved > 0, self.labels, 1 - self.labels)

    def joint(self, plan: Plan) -> SweepResult:
        """The predictions with the sets of a plan disabled."""
        rows = {"nothing": self.predicted_intact()}
        for order in plan.orders:
            numbers = [(layer - 1) * plan.shape.heads + head - 1 for layer, head in order.heads]
            for count in plan.counts:
                rows[plan.name(order, count)] = self.predicted(numbers[:count])
        kinds = ["baseline"] + ["set"] * (len(rows) - 1)
        sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": list(rows)})
        idx = np.arange(len(self.labels))
        return SweepResult(sets, np.stack(list(rows.values())), self.labels, idx, idx)
