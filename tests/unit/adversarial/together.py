"""Trials of the inferences about several heads: disabled together, named elsewhere, in two ways."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from adversarial import sweeps
from adversarial.models import EQUAL, SAMPLES, TASK
from adversarial.sweeps import Shape, Together
from adversarial.trials import CI, LEVEL, NULL, ONE_END, POWER, Size, Statements, Trial
from darksecrets.ablation.joint import Joint, plan
from darksecrets.ablation.joint_effects import joint_effects
from darksecrets.ablation.links import DIRECTION, Experiments, linked
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.statistics import effects, of_kind
from darksecrets.ablation.tables import LEAST_IMPORTANT, RANDOM

_TOLERANCE = 4.0
_SHOWN = 4
"""Heads disabled together where a true effect is looked for."""
_LAYERS_MATTER = "two layers matter, all of their heads alike"
_SEEDS = 3
_MODEL = "t", "finetuned", 1
_JOINT = Joint("auto", draws=6, seed=5, metric="accuracy")


def joint(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads disabled together: exchangeable ones, ones that cost what is tolerated, bad ones."""
    yield from labelled_orders("joint_ablation", LEAST_IMPORTANT, size)
    shape = Shape(size.examples, size.layers, size.layers)
    bad = np.zeros(size.layers**2)
    bad[: size.layers] = 0.3  # without any of these heads, the model is better
    at_border = sweeps.cost_of(_TOLERANCE / 100)
    for kind, cost, shift, truth in (
        (EQUAL, 0.0, 0.0, NULL),
        ("each set costs what is tolerated", 0.0, at_border, NULL),
        ("a fifth of the heads is harmful", bad, 0.0, POWER),
    ):
        rng, made = np.random.default_rng(21), Statements()
        for _ in range(size.sweeps):
            known = Together.draw(rng, shape, cost, shift)
            planned = plan(known.single(shape), TASK, _JOINT)
            scored, tolerated = joint_effects(
                *(known.joint(planned), planned, TASK),
                tolerance=_TOLERANCE,
                resamples=SAMPLES.bootstrap,
                seed=3,
            )
            _of_joint(scored, tolerated, at_border=shift != 0, power=truth == POWER, made=made)
        yield from made.trials(kind, truth)


def labelled_orders(table: str, label: str, size: Size) -> Iterator[Trial]:
    """Heads of which a few are costly, and a random order that is labelled as a chosen one."""
    shape = Shape(size.examples, size.layers, size.layers)
    costs = -1.0 * (np.arange(size.layers**2) < size.layers - 1)
    for draws in (3, 10, 20):
        rng, made = np.random.default_rng(50 + draws), Statements()
        for seed in range(2 * size.sweeps):
            known = Together.draw(rng, shape, costs)
            planned = plan(known.single(shape), TASK, replace(_JOINT, draws=draws + 1, seed=seed))
            first, *others = (order for order in planned.orders if order.name == RANDOM)
            planned = replace(planned, orders=[*others, replace(first, name=label)])
            options = {"tolerance": _TOLERANCE, "resamples": SAMPLES.bootstrap, "seed": 3}
            scored, _ = joint_effects(known.joint(planned), planned, TASK, **options)
            chosen, ends = scored[scored["order"] == label], ("over_random_low", "over_random_high")
            made.interval(table, "over_random", chosen, ends)
            beyond = chosen["over_random_low"] > 0
            made.each(f"{table}: better than random", beyond, ONE_END)
        yield from made.trials(f"a random order beside {draws}, costly heads", NULL)


def _of_joint(
    scored: pd.DataFrame, tolerated: pd.DataFrame, *, at_border: bool, power: bool, made: Statements
) -> None:
    chosen, ends = scored[scored["order"] != RANDOM], ("over_random_low", "over_random_high")
    if power:
        scored = chosen = chosen[(chosen["order"] == LEAST_IMPORTANT) & (chosen["heads"] == _SHOWN)]
        tolerated = tolerated[tolerated["order"] == LEAST_IMPORTANT]
    made.interval("joint_ablation", "over_random", chosen, ends)
    if power or not at_border:
        made.interval("joint_ablation", "delta", scored, CI)
    if power or at_border:
        made.each("largest_sets: noninferior above 0", tolerated["noninferior"] > 0, ONE_END)
        made.each("largest_sets: interval of largest above 0", tolerated["ci_low"] > 0, ONE_END)


def linked_groups(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads that another experiment names: any heads, any in layers that matter, needed ones."""
    shape = Shape(size.examples, size.layers, size.layers)
    heads = range(1, size.layers**2 + 1)
    of_layers = {n: -0.4 for n in heads if (n - 1) // size.layers < 2}
    kinds = (
        (EQUAL, {}, None),
        (_LAYERS_MATTER, of_layers, None),
        ("they are needed", dict.fromkeys((1, 2, 7, 13), -0.6), (1, 2, 7, 13)),
    )
    for kind, costs, needed in kinds:
        rng, made = np.random.default_rng(22), Statements()
        for _ in range(size.sweeps):
            result = sweeps.sweep(sweeps.CLASSES, rng, shape, costs).result
            numbers = needed or rng.choice(list(heads)[: 2 * size.layers], size=4, replace=False)
            table = of_kind(effects(result, TASK, SAMPLES)[0], "head").assign(
                **dict(zip(("task", "state", "seed"), _MODEL, strict=True))
            )
            _of_group(_linked(table, result, np.asarray(numbers)), kind, made)
        yield from made.trials(kind, NULL if needed is None else POWER)


def _linked(
    table: pd.DataFrame, result: SweepResult, numbers: npt.NDArray[np.int64]
) -> pd.DataFrame:
    """The row of a group of heads, which have these numbers, from 1."""
    named = table[["layer", "head"]].assign(direction=DIRECTION, weight=0.1, exceeds_controls=False)
    named.iloc[numbers - 1, named.columns.get_loc("exceeds_controls")] = True
    _, groups = linked(table, [(_MODEL, result)], Experiments(named), SAMPLES)
    return groups


def _of_group(groups: pd.DataFrame, kind: str, made: Statements) -> None:
    name = "linked_groups"
    made.interval(name, "over_control", groups)
    for column in ("p_value", "q_value"):
        made.each(f"{name}: {column} < 0.05", groups[column] < LEVEL)
    if kind != _LAYERS_MATTER:
        made.interval(name, "mean_effect", groups, CI)
        made.each(f"{name}: significant above 0", groups["significant"] > 0)
    if kind == EQUAL:
        made.each(f"{name}: drop_bound below the true drop", groups["drop_bound"] < 0)
