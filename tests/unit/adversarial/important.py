"""Trials of importance: definitions that know nothing, heads whose removal costs nothing."""

from collections.abc import Iterator
from pathlib import Path

import made_up_heads
import numpy as np
import pandas as pd

from adversarial import sweeps
from adversarial.models import SAMPLES, TASK
from adversarial.sweeps import Shape, Together
from adversarial.together import labelled_orders
from adversarial.trials import CI, LEVEL, NULL, ONE_END, POWER, Size, Statements, Trial
from darksecrets.beyond.importance.declared import (
    ABSOLUTE,
    EXACT,
    HEADS,
    LEARNED,
    LOSS,
    RANDOM,
    SCORE,
    SIGNED,
    WEIGHTS,
)
from darksecrets.beyond.importance.measure.curves import score_orders
from darksecrets.beyond.importance.measure.estimates import (
    head_importance,
    importance_agreement,
    mlp_importance,
)
from darksecrets.beyond.importance.measure.gradients import Gradients
from darksecrets.beyond.importance.measure.learned import GateResult, Kept, learned_gates
from darksecrets.beyond.importance.measure.pruning import layer_needs, layer_sets, plan
from darksecrets.beyond.importance.measure.pruning import orders as pruning_orders
from darksecrets.beyond.importance.measure.statistics import important_heads
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.models import selectors

_TOLERANCE = 4.0
_EXAMPLES = 60
_SIGNED = (SIGNED, EXACT)
_SETS = 20  # random ones, so that the best of 21 sets has p < 0.05
_WITHOUT_MEAN = "gradients and effects that are 0 on average"
_UNEQUAL = "sets of heads differ, gates keep any"
_FOLLOW = "gradients that follow the effects"


def agreement(size: Size, folder: Path) -> Iterator[Trial]:
    """Importances that have nothing to do with effects, and ones that follow them."""
    for kind, truth in ((_WITHOUT_MEAN, NULL), (_FOLLOW, POWER)):
        rng, made = np.random.default_rng(31), Statements()
        for _ in range(size.sweeps):
            needed = rng.normal(size=(size.layers, size.layers)) * (truth == POWER)
            found = _gradients(rng, needed)
            importance = head_importance(found, seed=3)
            layers, heads = (places.ravel() + 1 for places in np.indices(needed.shape))
            delta = -needed.ravel() + rng.normal(size=needed.size) / 2
            effects = pd.DataFrame({"layer": layers, "head": heads, "delta": delta})
            draws = {"permutations": 199, "seed": 3}
            table = importance_agreement(importance, found, effects, "uniform", draws)
            mlps = mlp_importance(found, seed=3)
            _of_agreement(table, importance, mlps, made, power=truth == POWER)
        yield from made.trials(kind, truth)


def _of_agreement(
    table: pd.DataFrame,
    importance: pd.DataFrame,
    mlps: pd.DataFrame,
    made: Statements,
    *,
    power: bool,
) -> None:
    rows = table[table["reference"].isin((LOSS, SCORE))]  # with itself, it does agree
    if power:
        rows = rows[(rows["definition"] == SIGNED) & (rows["part"] == HEADS)]
    made.each("importance_agreement: p_value < 0.05", rows["p_value"] < LEVEL)
    made.interval("importance_agreement", "spearman", rows, CI)
    signed = importance[importance["definition"].isin(_SIGNED)]
    made.interval("head_importance", "importance", signed, CI)
    of_mlps = mlps[mlps["definition"].isin(_SIGNED)]
    made.interval("mlp_importance", "importance", of_mlps, CI)


def _gradients(rng: np.random.Generator, needed: np.ndarray) -> Gradients:
    """Gradients of random size, whose means are those of the heads that the task needs."""

    def drawn(examples: int) -> np.ndarray:
        return needed + rng.normal(size=(examples, *needed.shape))

    output, kept = -drawn(_EXAMPLES), -drawn(_EXAMPLES)
    return Gradients(
        output=output,
        kept=kept,
        exact={mode: drawn(_EXAMPLES) for mode in ("zero", "uniform")},
        mlp=-drawn(_EXAMPLES)[..., :1],
        mlp_exact=drawn(_EXAMPLES)[..., :1],
    )


def interpretable(size: Size, folder: Path) -> Iterator[Trial]:
    """Statistics of heads that have nothing to do with importance, and one that is importance."""
    for kind, truth in (
        ("statistics that know nothing of importance", NULL),
        ("a statistic that follows importance", POWER),
    ):
        rng, made = np.random.default_rng(33), Statements()
        for _ in range(size.sweeps):
            needed, table = made_up_heads.importance(rng), made_up_heads.statistics(rng)
            if truth == POWER:
                table = made_up_heads.following(table, needed)
            found = important_heads(
                *(needed, made_up_heads.OF_STATISTICS, {made_up_heads.STATISTICS.name: table}),
                made_up_heads.METRICS,
                made_up_heads.DRAWS,
            )
            if truth == POWER:
                first = found["measure"].str.endswith(f".{made_up_heads.KINDS[0]}")
                found = found[first & (found["definition"] == EXACT)]
            made.each("important_heads: p_value < 0.05", found["p_value"] < LEVEL)
            for _, family in found.groupby(["task", "definition"]):
                made.any("important_heads: q_value < 0.05", family["q_value"] < LEVEL)
            made.interval("important_heads", "spearman", found, CI)
        yield from made.trials(kind, truth)


def removal(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads removed in orders that know nothing, at no cost or at that which is tolerated."""
    yield from labelled_orders("pruning_curves", ABSOLUTE, size)
    shape = Shape(size.examples, size.layers, size.layers)
    bad = np.zeros(size.layers**2)
    bad[: size.layers] = 0.3
    at_border = sweeps.cost_of(_TOLERANCE / 100)
    for kind, cost, shift, truth in (
        ("equal models, orders that know nothing", 0.0, 0.0, NULL),
        ("each removal costs what is tolerated", 0.0, at_border, NULL),
        ("the first layer is harmful, and an order knows it", bad, 0.0, POWER),
    ):
        rng, made = np.random.default_rng(32), Statements()
        for _ in range(size.sweeps):
            known = Together.draw(rng, shape, cost, shift)
            table = pruning_orders(_importance(rng, shape, known.effects), _places(shape), 10, 3)
            layers, planned = layer_sets(table), plan(table)
            result = _removed(known, [*planned.sets, *layers], shape)
            options = {"tolerance": _TOLERANCE, "resamples": SAMPLES.bootstrap, "seed": 3}
            curves, pruned = score_orders(result, planned, TASK, **options)
            needs = layer_needs(result, layers, TASK, **options)
            if truth == POWER:
                curves = curves[(curves["order"] == ABSOLUTE) & (curves["heads"] == size.layers)]
                pruned = pruned[pruned["order"] == ABSOLUTE]
                needs = needs[needs["layer"] == 1]
            _of_removal(curves, pruned, needs, made, at_border=shift != 0, power=truth == POWER)
        yield from made.trials(kind, truth)


def _of_removal(
    curves: pd.DataFrame,
    pruned: pd.DataFrame,
    needs: pd.DataFrame,
    made: Statements,
    *,
    at_border: bool,
    power: bool,
) -> None:
    others, ends = curves[curves["order"] != RANDOM], ("over_random_low", "over_random_high")
    made.interval("pruning_curves", "over_random", others, ends)
    if power or not at_border:
        made.interval("pruning_curves", "delta", curves, CI)
        made.interval("layer_needs", "delta", needs, CI)
    if power or at_border:
        made.each("pruned_heads: noninferior above 0", pruned["noninferior"] > 0, ONE_END)
        made.each("pruned_heads: interval of largest above 0", pruned["ci_low"] > 0, ONE_END)
        made.each("layer_needs: noninferior", needs["noninferior"], ONE_END)


def gates(size: Size, folder: Path) -> Iterator[Trial]:
    """Gates that keep heads as good as any others, and gates that keep better ones."""
    for kind, better, spread, truth in (
        ("all sets of heads are equally good", 0.0, 0.0, NULL),
        (_UNEQUAL, 0.0, 0.08, NULL),
        ("gates keep better heads", 0.15, 0.0, POWER),
    ):
        rng, made = np.random.default_rng(33), Statements()
        for _ in range(size.sweeps):
            labels = rng.integers(0, 2, size.examples)
            found = _kept(rng, labels, better, spread)
            units = np.arange(size.examples)
            table = learned_gates(found, labels, units, TASK, resamples=SAMPLES.bootstrap, seed=3)
            rows = table[table["chosen_by"] != RANDOM]
            if truth == POWER:
                rows = rows[rows["chosen_by"] == LEARNED]
            elif not spread:
                made.interval("learned_gates", "delta", table, CI)
            made.interval("learned_gates", "over_random", rows)
        yield from made.trials(kind, truth)


def _kept(rng: np.random.Generator, labels: np.ndarray, better: float, spread: float) -> GateResult:
    """Predictions that are right in four of five cases; those with the gates' heads more often."""

    def logits(right: float) -> np.ndarray:
        right += spread * rng.normal()
        predicted = np.where(rng.random(len(labels)) < right, labels, 1 - labels)
        return np.eye(2, dtype=np.float32)[predicted]

    chosen = {LEARNED: [0.8 + better], ABSOLUTE: [0.8], RANDOM: [0.8] * _SETS}
    kept = [
        Kept(0.1, name, weights, 12, logits(right))
        for weights in WEIGHTS
        for name, rights in chosen.items()
        for right in rights
    ]
    heads = pd.DataFrame({"layer": [1, 1], "head": [1, 2]})
    return GateResult({weights: logits(0.8) for weights in WEIGHTS}, kept, heads)


def _places(shape: Shape) -> list[tuple[int, int]]:
    layers, heads = range(1, shape.layers + 1), range(1, shape.heads + 1)
    return [(layer, head) for layer in layers for head in heads]


def _importance(rng: np.random.Generator, shape: Shape, effects: np.ndarray) -> pd.DataFrame:
    """Random importances, lower for heads that are harmful."""
    found = _gradients(rng, np.zeros((shape.layers, shape.heads)))
    table = head_importance(found, seed=3)
    harm = dict(zip(_places(shape), effects.tolist(), strict=True))
    places = zip(table["layer"], table["head"], strict=True)
    return table.assign(importance=table["importance"] - 99 * np.array([harm[p] for p in places]))


def _removed(known: Together, names: list[str], shape: Shape) -> SweepResult:
    """The predictions with sets of heads removed."""
    rows = {"none": known.predicted_intact()}
    for name in names:
        heads = selectors.Shape(shape.layers, shape.heads).parse(name).items()
        numbers = [(layer - 1) * shape.heads + head - 1 for layer, few in heads for head in few]
        rows[name] = known.predicted(numbers)
    kinds = ["baseline"] + ["set"] * (len(rows) - 1)
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": list(rows)})
    idx = np.arange(len(known.labels))
    return SweepResult(sets, np.stack(list(rows.values())), known.labels, idx, idx)
