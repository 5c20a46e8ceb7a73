"""Scores against the number of removed heads, and the largest set that can be (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import PRUNING_CURVES, RANDOM
from darksecrets.beyond.importance.measure.orders import Plan
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.metrics import METRICS, PERCENT, score_of_most_frequent, score_resampled
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.scores import require_usable
from darksecrets.core.run.columns import MODEL
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.draws import reach_of_one_more
from darksecrets.core.stats.resampling import feasible, interval

_SCORED = list(PRUNING_CURVES.names[len(MODEL) :])
DECIMALS = 9  # of percent: differences that ought to be 0, or a tolerance, are so exactly


@dataclass(frozen=True)
class _Curves:
    """Scores against the number of removed heads, all × 100.

    Attributes:
        baseline: [1 + resamples] the intact model's; the first is on the examples as they are.
        scores: By the name of the order, [1 + resamples, counts].
        at_random: [orders, 1 + resamples, counts] those of the random orders, one by one.
    """

    baseline: Floats
    scores: Mapping[str, Floats]
    at_random: Floats

    def delta(self, name: str) -> Floats:
        """[1 + resamples, counts], score - baseline."""
        return np.round(self.scores[name] - self.baseline[:, None], DECIMALS)

    def excess_over_random(self, name: str) -> Floats:
        """[1 + resamples, counts], score - mean score of as many heads at random."""
        return np.round(self.scores[name] - self.at_random.mean(axis=0), DECIMALS)

    def excess_ends(self, name: str) -> Floats:
        """[2, counts] ends of the intervals: an order is one more draw beside the random ones."""
        over = self.excess_over_random(name)
        example_variance = over[1:].var(axis=0, ddof=1)
        half = reach_of_one_more(
            example_variance, np.round(self.at_random[:, 0], DECIMALS), family=True
        )
        half[~over.any(axis=0)] = 0  # all heads: the same set in every order
        return np.stack([over[0] - half, over[0] + half])


def score_orders(
    result: SweepResult, plan: Plan, task: Task, *, tolerance: float, resamples: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score every order of heads at every number of heads; find the largest set within a tolerance.

    Intervals are percentiles of a bootstrap over examples, with the same examples for all sets. For
    random orders, the orders are drawn, too: one fewer than there are, which makes the variance
    unbiased (McCarthy and Snowden 1985). Other intervals of ``delta`` are conditional on the
    orders; for those of ``excess_over_random``, see `darksecrets.core.stats.draws`.

    Args:
        result: Predictions with the sets of ``plan`` removed.
        plan: The orders.
        task: The task.
        tolerance: The greatest drop that is tolerated, × 100.
        resamples: Number of bootstrap samples.
        seed: Their seed.

    Returns:
        The tables ``pruning_curves`` and ``pruned_heads`` of `beyond.importance.declared`,
        without the columns of the model.

    Raises:
        InputError: The predictions are not those of the plan, or see
            `darksecrets.core.interventions.scores.require_usable`.
    """
    require_usable(result, task)
    _require_planned(result, plan, task)
    scored, sizes = [], []
    for metric in task.metrics:
        rng = np.random.default_rng(seed)
        scores = score_resampled(
            metric, result.predictions, result.labels, result.units, resamples, rng
        )
        curves = _curves(scores, result, plan, rng)
        chance = score_of_most_frequent(result.labels, metric, task)
        for name in plan.names:
            about = {"metric": metric, "order": name}
            draws = sum(order.name == name for order in plan.orders)
            more = {"chance": chance, "examples": len(result.idx), "draws": draws}
            scored.append(_scored(curves, name, plan, metric).assign(**about, **more))
            counts = {**about, "tolerance": tolerance, "heads": plan.total}
            deltas = curves.delta(name)
            sizes.append(counts | _largest(deltas, plan.counts, tolerance))
    return pd.concat(scored, ignore_index=True)[_SCORED], pd.DataFrame(sizes)


def largest_sets(deltas: Floats, counts: Sequence[int], tolerance: float) -> Integers:
    """The largest number of heads up to which no drop exceeds the tolerance.

    Args:
        deltas: [..., counts] differences to the intact model.
        counts: Numbers of heads, ascending.
        tolerance: The greatest drop that is tolerated, in the unit of the differences.

    Returns:
        [...] one of ``counts``, or 0.
    """
    fine = np.logical_and.accumulate(deltas >= -tolerance, axis=-1).sum(axis=-1)
    return np.array([0, *counts])[fine]


def _scored(curves: _Curves, name: str, plan: Plan, metric: str) -> pd.DataFrame:
    """A row for every number of heads of one order."""
    deltas, over_random = curves.delta(name), np.full(len(plan.counts), np.nan)
    (low, high), ends = interval(deltas[1:]), np.stack([over_random, over_random])
    if name != RANDOM:
        over_random, ends = curves.excess_over_random(name)[0], curves.excess_ends(name)
        ends = feasible(ends, *(PERCENT * end for end in METRICS[metric].bounds_of_differences))
    columns = {
        "heads": plan.counts,
        "share": np.array(plan.counts) / plan.total,
        "baseline": curves.baseline[0],
        "score": curves.scores[name][0],
        "delta": deltas[0],
        "ci_low": low,
        "ci_high": high,
        "over_random": over_random,
        "over_random_low": ends[0],
        "over_random_high": ends[1],
    }
    return pd.DataFrame(columns)


def _largest(deltas: Floats, counts: Sequence[int], tolerance: float) -> dict[str, float]:
    """The size of the largest set of heads, with an interval; and the size that is significant."""
    resampled = largest_sets(deltas[1:], counts, tolerance)
    low, high = interval(resampled.astype(np.float64))
    worst = interval(deltas[1:])[0]
    return {
        "largest": int(largest_sets(deltas[0], counts, tolerance)),
        "ci_low": low,
        "ci_high": high,
        "noninferior": int(largest_sets(worst, counts, tolerance)),
    }


def _curves(scores: Floats, result: SweepResult, plan: Plan, rng: np.random.Generator) -> _Curves:
    """The scores of every order, from those of all sets, [1 + resamples, sets]."""
    number = {name: row for row, name in enumerate(result.sets["name"])}
    curves: dict[str, Floats] = {}
    at_random = np.empty((0, *scores.shape))
    for name in plan.names:
        orders = [order for order in plan.orders if order.name == name]
        sets = [[number[plan.name(order, count)] for count in plan.counts] for order in orders]
        order_scores = np.stack([scores[:, each] for each in sets])
        curves[name] = order_scores[0]
        if name == RANDOM:
            weights = weights_of_draws(len(orders), len(scores), rng)
            curves[name] = np.einsum("rd,drk->rk", weights, order_scores)
            at_random = order_scores
    return _Curves(scores[:, 0], curves, at_random)


def weights_of_draws(draws: int, rows: int, rng: np.random.Generator) -> Floats:
    """[rows, draws] equal weights in the first row, then those of a bootstrap over draws.

    One fewer is drawn than there are, which makes the variance unbiased (McCarthy and Snowden
    1985). A single draw has no variance to estimate: its weight is always 1.
    """
    equal = np.full((1, draws), 1 / draws)
    if draws == 1:
        return np.ones((rows, 1))
    drawn = rng.multinomial(draws - 1, equal[0], size=rows - 1) / (draws - 1)
    return np.concatenate([equal, drawn])


def _require_planned(result: SweepResult, plan: Plan, task: Task) -> None:
    """Check that predictions are those of the plan's sets and examples."""
    missing = [name for name in plan.sets if name not in set(result.sets["name"])]
    if missing:
        raise InputError(
            f"{task.name}: the predictions with heads removed lack {len(missing)} of "
            f"{len(plan.sets)} sets of the orders. Expected both from the same run. Remove the "
            "folder of the predictions and run again."
        )
