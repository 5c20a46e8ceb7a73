"""Orders in which heads are removed for good, and what each layer needs (Michel et al. 2019).

Orders are made on training examples; all validation examples score them. A removed head adds
nothing: mode ``zero``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from darksecrets.beyond.importance import declared
from darksecrets.beyond.importance.declared import RANDOM
from darksecrets.beyond.importance.measure.curves import DECIMALS, largest_sets, score_orders
from darksecrets.beyond.importance.measure.gradients import logits_without
from darksecrets.beyond.importance.measure.orders import Order, Place, Plan
from darksecrets.beyond.importance.measure.steps import pruning_counts
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.metrics import PERCENT, predict, score
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.scores import plain
from darksecrets.core.interventions.sweep import Settings
from darksecrets.core.models.selectors import Heads, Shape
from darksecrets.core.stats.resampling import interval
from darksecrets.paper.ablation.statistics import bootstrap

_SCORES = ["baseline", "score", "delta", "ci_low", "ci_high"]


def orders(
    importance: pd.DataFrame, greedy: Sequence[Place], draws: int, seed: int
) -> pd.DataFrame:
    """Orders by every definition of importance, greedy, reversed and random ones.

    Args:
        importance: Rows of ``head_importance`` of one model.
        greedy: The order that `gradients.greedy_order` found.
        draws: Number of random orders.
        seed: Seed of these, and of the order of tied heads.

    Returns:
        The table ``pruning_orders``.
    """
    importance = importance[importance["mode"] == declared.MODE]
    rng = np.random.default_rng(seed)
    # Rows of definitions that are no longer measured: random orders stay what they were.
    ties = rng.random((6, len(greedy)))
    found = {
        (declared.ABSOLUTE, 1): ascending(importance, declared.ABSOLUTE, ties[0]),
        (declared.SIGNED, 1): ascending(importance, declared.SIGNED, ties[3]),
        (declared.EXACT, 1): ascending(importance, declared.EXACT, ties[5]),
    }
    found |= {
        (declared.GREEDY, 1): list(greedy),
        (declared.REVERSED, 1): found[declared.ABSOLUTE, 1][::-1],
    }
    places = sorted(greedy)
    for draw in range(1, draws + 1):
        found[RANDOM, draw] = [places[number] for number in rng.permutation(len(places))]
    rows = [
        (name, draw, rank, *place)
        for (name, draw), heads in found.items()
        for rank, place in enumerate(heads, start=1)
    ]
    return pd.DataFrame(rows, columns=list(declared.PRUNING_ORDERS.names))


def ascending(importance: pd.DataFrame, name: str, ties: Floats) -> list[Place]:
    """The heads by a definition, the least important first; ties in random order.

    Args:
        importance: Rows of ``head_importance`` of one model and mode.
        name: The definition.
        ties: [heads] random numbers that order heads of the same importance.
    """
    rows = importance[importance["definition"] == name]
    values: Floats = rows["importance"].to_numpy(dtype=np.float64)
    return _places(rows.iloc[np.lexsort([ties, values])])


def _places(rows: pd.DataFrame) -> list[Place]:
    return list(zip(rows["layer"].tolist(), rows["head"].tolist(), strict=True))


def plan(table: pd.DataFrame) -> Plan:
    """What a sweep over removed heads disables.

    Args:
        table: The table ``pruning_orders``.
    """
    groups = table.sort_values("rank").groupby(["order", "draw"], sort=False)
    found = [Order(str(name), tuple(_places(rows))) for (name, _), rows in groups]
    shape = Shape(int(table["layer"].max()), int(table["head"].max()))
    total = shape.layers * shape.heads
    return Plan(shape, pruning_counts(total), found)


def choices(
    orders: pd.DataFrame,
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    tolerance: float,
) -> pd.DataFrame:
    """How many heads of each order can be removed, by training examples that determined no order.

    Args:
        orders: The table ``pruning_orders``.
        model: A classifier in evaluation mode, on the device to use.
        split: Encoded training examples.
        task: Their task.
        rows: Row numbers of these examples; without any, no head is removed.
        tolerance: The greatest drop of a score that is tolerated, × 100.

    Returns:
        The table ``pruning_choices``.
    """
    planned = plan(orders)
    chosen = [order for order in planned.orders if order.name in declared.CHOOSING]
    about = {"tolerance": tolerance, "chosen_on": len(rows)}
    scores = {metric: np.zeros((len(chosen), len(planned.counts) + 1)) for metric in task.metrics}
    if rows:
        sets = [order.first(count) for order in chosen for count in planned.counts]
        logits = logits_without(model, split, rows, sets)
        found = [score(task, predict(task, each), split.labels[list(rows)]) for each in logits]
        for metric in task.metrics:
            intact, *others = (each[metric] for each in found)
            scores[metric] = np.insert(np.reshape(others, (len(chosen), -1)), 0, intact, axis=1)
    tables = []
    for metric, metric_scores in scores.items():
        deltas = np.round(PERCENT * (metric_scores[:, 1:] - metric_scores[:, :1]), DECIMALS)
        removed = largest_sets(deltas, planned.counts, tolerance) * bool(rows)
        names = [order.name for order in chosen]
        table = pd.DataFrame({"order": names, "metric": metric, "removed": removed})
        tables.append(table.assign(**about))
    return pd.concat(tables, ignore_index=True)[list(declared.PRUNING_CHOICES.names)]


def smaller_models(curves: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Validation scores of the models that `choices` leaves.

    Args:
        curves: The table ``pruning_curves`` without the columns of the model.
        choices: The table ``pruning_choices``.

    Returns:
        The table ``smaller_models`` without the columns of the model.
    """
    columns = ["order", "metric", "heads", "share", *_SCORES]
    scored = curves[columns].rename(columns={"heads": "removed"})
    intact = scored.drop_duplicates(["order", "metric"]).assign(removed=0, share=0.0)
    intact = intact.assign(score=intact["baseline"], delta=0.0, ci_low=0.0, ci_high=0.0)
    found = choices.merge(pd.concat([intact, scored]), on=["order", "metric", "removed"])
    return declared.SMALLER_MODELS.select(found)


def least_important_first(table: pd.DataFrame) -> Order:
    """All heads by the absolute gradient, from the table ``pruning_orders``."""
    return next(order for order in plan(table).orders if order.name == declared.ABSOLUTE)


def least_important(
    orders: Iterable[Path], mlps: Iterable[Path]
) -> tuple[Callable[[int], Heads] | None, list[int]]:
    """What a model needs least by the absolute gradient, as far as there are tables of it.

    Args:
        orders: The table ``pruning_orders``, or nothing.
        mlps: The table ``mlp_importance``, or nothing.

    Returns:
        A function that gives a number of heads; and layers, those that need their MLPs least first.
    """
    heads = [least_important_first(declared.PRUNING_ORDERS.read(path)).first for path in orders]
    layers = [least_important_mlps(declared.MLP_IMPORTANCE.read(path)) for path in mlps]
    return next(iter(heads), None), next(iter(layers), [])


def least_important_mlps(table: pd.DataFrame) -> list[int]:
    """Layers, from 1, that need their MLPs least by the absolute gradient, first.

    Args:
        table: The table ``mlp_importance`` of one model; empty if its MLPs cannot be reached.
    """
    rows = table[table["definition"] == declared.ABSOLUTE].sort_values(["importance", "layer"])
    return rows["layer"].tolist()


def layer_sets(table: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Sets of the least important heads of one layer, by leave-one-out loss, but not all heads.

    Args:
        table: The table ``pruning_orders``.

    Returns:
        By the set in words, the layer and how many of its heads are kept.
    """
    exact = table[table["order"] == declared.EXACT].sort_values("rank")
    shape = Shape(int(table["layer"].max()), int(table["head"].max()))
    found: dict[str, tuple[int, int]] = {}
    for layer in range(1, shape.layers + 1):
        heads = exact.loc[exact["layer"] == layer, "head"].tolist()
        for removed in range(1, shape.heads):
            name = shape.describe({layer: frozenset(heads[:removed])})
            found[name] = layer, shape.heads - removed
    return found


def scores(
    result: SweepResult,
    orders: pd.DataFrame,
    choices: pd.DataFrame,
    task: Task,
    **options: Any,  # noqa: ANN401 - see `score_orders`
) -> list[pd.DataFrame]:
    """The tables `OF_PRUNING` of a model, without its columns.

    Args:
        result: Predictions with the sets of `settings` removed.
        orders: The table ``pruning_orders``.
        choices: The table ``pruning_choices``.
        task: The task.
        options: ``tolerance``, ``resamples`` and ``seed``, see `layer_needs`.
    """
    curves, pruned = score_orders(result, plan(orders), task, **options)
    remaining = remaining_heads(orders, pruned, task.metrics[0])
    needs = layer_needs(result, layer_sets(orders), task, **options)
    return [curves, pruned, remaining, smaller_models(curves, choices), needs]


def settings(of_task: Settings, table: pd.DataFrame) -> Settings:
    """Settings of the sweep over all sets, in place of each head and each layer."""
    names = list(dict.fromkeys([*plan(table).sets, *layer_sets(table)]))
    return dataclasses.replace(of_task, sets=names, parts=False, mode=declared.MODE)


def layer_needs(
    result: SweepResult,
    layers: Mapping[str, tuple[int, int]],
    task: Task,
    *,
    tolerance: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """How the score depends on the number of heads that a layer keeps.

    Args:
        result: Predictions with the sets of `settings` removed.
        layers: The sets of single layers, from `layer_sets`.
        task: The task.
        tolerance: The greatest drop that is tolerated, × 100.
        resamples: Number of bootstrap samples of the examples.
        seed: Their seed.

    Returns:
        The table ``layer_needs`` without the columns of the model.
    """
    rows = [0, *np.flatnonzero(result.sets["name"].isin(layers))]
    sets = result.sets.iloc[rows].reset_index(drop=True)
    part = dataclasses.replace(result, sets=sets, predictions=result.predictions[rows])
    places = pd.DataFrame([layers[name] for name in sets["name"][1:]], columns=["layer", "kept"])
    tables = []
    for metric, scores in plain(part, task).items():
        drawn = bootstrap(part, metric, resamples, np.random.default_rng(seed))
        low, high = PERCENT * interval(drawn)[:, 1:]
        delta = PERCENT * (scores[1:] - scores[0])
        columns = {"baseline": PERCENT * scores[0], "score": PERCENT * scores[1:], "delta": delta}
        columns |= {"ci_low": low, "ci_high": high, "tolerance": tolerance}
        columns |= {"tolerated": delta >= -tolerance, "noninferior": low >= -tolerance}
        tables.append(places.assign(metric=metric, **columns))
    found = pd.concat(tables).sort_values(["metric", "layer", "kept"], ignore_index=True)
    return declared.LAYER_NEEDS.select(found)


def remaining_heads(table: pd.DataFrame, pruned: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Which heads remain when as many are removed as possible within the tolerance.

    Args:
        table: The table ``pruning_orders`` of a model.
        pruned: Rows of the table ``pruned_heads`` of the same model.
        metric: The score that decides.

    Returns:
        The table ``remaining_heads`` without the columns of the model.
    """
    ordered = table[~table["order"].isin((RANDOM, declared.REVERSED))]
    removed = pruned[pruned["metric"] == metric].set_index("order")[["largest", "heads"]]
    found = ordered.join(removed, on="order").assign(metric=metric)
    found["survives"] = found["rank"] > found["largest"]
    found["chance"] = 1 - found["largest"] / found["heads"]
    return declared.REMAINING_HEADS.select(found)
