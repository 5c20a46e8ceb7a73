"""Trials of the inferences about several heads: removed together, or named elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from adversarial import sweeps
from adversarial.models import EQUAL, SAMPLES, TASK
from adversarial.sweeps import Shape, Together
from adversarial.trials import CI, LEVEL, NULL, ONE_END, POWER, Size, Statements, Trial
from darksecrets.beyond.importance.declared import RANDOM
from darksecrets.beyond.importance.measure.curves import score_orders
from darksecrets.beyond.importance.measure.orders import Order, Plan
from darksecrets.beyond.importance.measure.steps import pruning_counts
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.models import selectors
from darksecrets.paper.ablation.links import DIRECTION, Experiments, linked
from darksecrets.paper.ablation.statistics import effects, kind_rows

_TOLERANCE = 4.0
_LAYERS_MATTER = "two layers matter, all of their heads alike"
_SEEDS = 3
_MODEL = "t", "finetuned", 1


def labelled_orders(table: str, label: str, size: Size) -> Iterator[Trial]:
    """Heads of which a few are costly, and a random order that is labelled as a chosen one."""
    shape = Shape(size.examples, size.layers, size.layers)
    costs = -1.0 * (np.arange(size.layers**2) < size.layers - 1)
    for draws in (3, 10, 20):
        rng, made = np.random.default_rng(50 + draws), Statements()
        for seed in range(2 * size.sweeps):
            known = Together.draw(rng, shape, costs)
            planned = _plan(shape, label, draws, seed)
            options = {"tolerance": _TOLERANCE, "resamples": SAMPLES.bootstrap, "seed": 3}
            scored, _ = score_orders(known.joint(planned), planned, TASK, **options)
            chosen, ends = scored[scored["order"] == label], ("over_random_low", "over_random_high")
            made.interval(table, "over_random", chosen, ends)
            beyond = chosen["over_random_low"] > 0
            made.each(f"{table}: interval of over_random above 0", beyond, ONE_END)
        yield from made.trials(f"a random order beside {draws}, costly heads", NULL)


def _plan(shape: Shape, label: str, draws: int, seed: int) -> Plan:
    """Random orders, one of which has a label."""
    rng = np.random.default_rng(seed)
    places = [
        (layer, head) for layer in range(1, shape.layers + 1) for head in range(1, shape.heads + 1)
    ]
    drawn = [tuple(places[k] for k in rng.permutation(len(places))) for _ in range(draws + 1)]
    first, *others = drawn
    orders = [*(Order(RANDOM, heads) for heads in others), Order(label, first)]
    of_model = selectors.Shape(shape.layers, shape.heads)
    return Plan(of_model, pruning_counts(len(places)), orders)


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
            table = kind_rows(effects(result, TASK, SAMPLES)[0], "head").assign(
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
    return linked(table, [(_MODEL, result)], Experiments(named), SAMPLES)


def _of_group(groups: pd.DataFrame, kind: str, made: Statements) -> None:
    name = "linked_groups"
    made.interval(name, "over_control", groups)
    for column in ("p_value", "q_value"):
        made.each(f"{name}: {column} < 0.05", groups[column] < LEVEL)
    if kind != _LAYERS_MATTER:
        made.interval(name, "mean_effect", groups, CI)
        made.each(f"{name}: significant above 0", groups["significant"] > 0)
