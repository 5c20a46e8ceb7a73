"""Orders in which more and more heads are disabled together (section 4.6; Michel et al. 2019).

The heads are ordered at random, or by the effects of disabling each of them alone. Effects on one
random half of the validation examples make an order, and the other half scores it; then the halves
swap their roles (cross-fitting). So no example scores a set of heads that it helped to choose.

The sets of an order are nested: they are its first k heads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.scores import require_usable, weighted
from darksecrets.ablation.sets import check_counts, joint_counts
from darksecrets.ablation.tables import LEAST_IMPORTANT, MOST_IMPORTANT, RANDOM
from darksecrets.arrays import Flags, Floats, Integers
from darksecrets.data.tasks import Task
from darksecrets.models.selectors import Heads, Shape
from darksecrets.run.errors import InputError
from darksecrets.stats.resampling import stratified_halves

if TYPE_CHECKING:
    from darksecrets.ablation.sweep import Settings

Place = tuple[int, int]
"""A layer and one of its heads, both from 1."""
HALVES = (0, 1)

_FEWEST = 4  # examples, so that each half has two


@dataclass(frozen=True)
class Joint:
    """What is disabled together.

    Attributes:
        heads: Numbers of heads, or ``auto``: 1, 2, 4, 8 and so on, and all of them.
        draws: Number of random orders.
        seed: Seed of the halves, of the random orders and of the order of tied heads.
        metric: Metric whose single-head effects order the heads.
    """

    heads: str | Sequence[int]
    draws: int
    seed: int
    metric: str


@dataclass(frozen=True)
class Order:
    """All heads of a model, in the order in which they are disabled.

    Attributes:
        name: One of `darksecrets.ablation.tables.ORDERS`.
        half: The half of the examples whose effects made the order; None for a random one.
        heads: The heads.
    """

    name: str
    half: int | None
    heads: tuple[Place, ...]

    def first(self, count: int) -> Heads:
        """The first heads of the order, by layer."""
        chosen: dict[int, frozenset[int]] = {}
        for layer, head in self.heads[:count]:
            chosen[layer] = chosen.get(layer, frozenset()) | {head}
        return dict(sorted(chosen.items()))

    @property
    def scored_on(self) -> tuple[int, ...]:
        """The halves that did not make the order."""
        return tuple(half for half in HALVES if half != self.half)


@dataclass(frozen=True)
class Plan:
    """What a joint sweep disables, and which examples score it.

    Attributes:
        shape: Layers and heads of the model.
        counts: Numbers of heads disabled together, ascending.
        orders: The random orders, then those that each half makes.
        halves: [examples] 0 or 1, the half of each example; all 0 if no half makes an order.
    """

    shape: Shape
    counts: list[int]
    orders: list[Order]
    halves: Integers

    @property
    def names(self) -> list[str]:
        """Names of the orders, each once."""
        return list(dict.fromkeys(order.name for order in self.orders))

    @property
    def parts(self) -> list[int]:
        """The halves that there are."""
        return np.unique(self.halves).tolist()

    @property
    def total(self) -> int:
        """How many heads the model has."""
        return self.shape.layers * self.shape.heads

    @property
    def sets(self) -> list[str]:
        """The sets of heads to disable in words, each once, although orders may begin alike."""
        names = (self.name(order, count) for order in self.orders for count in self.counts)
        return list(dict.fromkeys(names))

    def name(self, order: Order, count: int) -> str:
        """The first heads of an order in words, which are also a selector."""
        return self.shape.describe(order.first(count))


def joint_settings(settings: Settings, sweep: Path, joint: Joint) -> Settings:
    """Settings of a sweep that disables heads together, in place of each head and each layer.

    Args:
        settings: Settings of the sweep over single heads; its own sets are left out.
        sweep: Folder of the result of that sweep.
        joint: What to disable.

    Raises:
        InputError: See `plan`.
    """
    planned = plan(SweepResult.load(sweep), settings.task, joint)
    return dataclasses.replace(settings, sets=planned.sets, parts=False)


def plan(result: SweepResult, task: Task, joint: Joint) -> Plan:
    """Order the heads of a model, at random and by the effects of a sweep.

    Effects are differences of `Joint.metric` to the intact model. Heads whose effects tie are
    ordered at random. More draws leave the halves and all other orders as they are.

    Args:
        result: A sweep over every head.
        task: The task it was made for.
        joint: What to disable.

    Raises:
        InputError: There are fewer than four examples, or see
            `darksecrets.ablation.scores.require_usable` and `sets.check_counts`.
    """
    require_usable(result, task)
    if len(result.idx) < _FEWEST:
        raise InputError(
            f"{task.name}: found {len(result.idx)} validation examples, expected at least "
            f"{_FEWEST}: one half chooses heads to disable together, the other scores them. Leave "
            "the task out of `ablation.joint.tasks`."
        )
    heads = result.sets[result.sets["kind"] == "head"]
    places = list(zip(heads["layer"].tolist(), heads["head"].tolist(), strict=True))
    shape = Shape(int(heads["layer"].max()), int(heads["head"].max()))
    check_counts(joint.heads, shape)
    rng = np.random.default_rng(joint.seed)
    strata = np.zeros(len(result.idx)) if task.is_regression else result.labels
    halves = stratified_halves(strata, rng)
    chosen = [
        order
        for half in HALVES
        for order in _chosen(_effects(result, joint.metric, halves == half), places, half, rng)
    ]
    drawn = [_order(RANDOM, None, places, rng.permutation(len(places))) for _ in range(joint.draws)]
    return Plan(shape, joint_counts(joint.heads, shape), [*drawn, *chosen], halves)


def _effects(result: SweepResult, metric: str, half: Flags) -> Floats:
    """[heads] the score of each disabled head minus that of the intact model, on one half."""
    (scores,) = weighted(result, metric)(half[None].astype(np.int64))
    return scores[(result.sets["kind"] == "head").to_numpy()] - scores[0]


def _chosen(
    effects: Floats, places: list[Place], half: int, rng: np.random.Generator
) -> list[Order]:
    """The heads in the order of their effects, the highest first, and in reverse."""
    harmless = np.lexsort((rng.random(len(effects)), -effects))
    return [
        _order(LEAST_IMPORTANT, half, places, harmless),
        _order(MOST_IMPORTANT, half, places, harmless[::-1]),
    ]


def _order(name: str, half: int | None, places: list[Place], numbers: Iterable[int]) -> Order:
    return Order(name, half, tuple(places[number] for number in numbers))
