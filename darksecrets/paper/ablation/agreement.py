"""Whether the same heads matter for every task (section 4.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.interventions.results import joined
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.ranks import Draws, agreement
from darksecrets.paper.ablation.tables import TASK_AGREEMENT, WORST_HEADS

WORST = 8
"""How many of the worst heads of a task have a row; the paper names a pair."""

RESAMPLES = 1000
"""Most bootstrap samples of the heads."""

_PLACE = ["layer", "head"]


@dataclass(frozen=True)
class Deltas:
    """Effects of the heads of one task's models in one state.

    Attributes:
        table: [heads, seeds] `delta` on one metric, indexed by layer and head, in their order.
    """

    table: pd.DataFrame

    @property
    def values(self) -> Floats:
        """[seeds, heads]."""
        return self.table.to_numpy().T

    def worst_first(self, seed: int) -> Floats:
        """[heads] ranks of the mean over seeds, from 0, the lowest; ties are broken at random."""
        means = self.table.mean(axis=1).round(9).to_numpy()
        order = np.lexsort([np.random.default_rng(seed).random(len(means)), means])
        return np.argsort(order).astype(np.float64)


def task_agreement(
    heads: pd.DataFrame, metrics: Mapping[str, str], draws: Mapping[str, int]
) -> pd.DataFrame:
    """Compare the heads' effects between every two tasks, and between the seeds of each task.

    Args:
        heads: `head_ablation.csv`.
        metrics: The metric to use of each task.
        draws: ``bootstrap`` (at most `RESAMPLES` are drawn), ``permutations`` and ``seed`` of
            `Draws`.

    Returns:
        `TASK_AGREEMENT`: a row per state and pair of tasks, and per task with several seeds.
    """
    tables = []
    for state, deltas in _effects_by_state(heads, metrics):
        rows = []
        for one, other in combinations_with_replacement(deltas, 2):
            same = one == other
            if same and deltas[one].table.shape[1] < 2:
                continue
            second = None if same else deltas[other].values
            found = agreement(deltas[one].values, second, _draws(deltas[one], draws))
            size = {"pairs": found.pairs, "heads": len(deltas[one].table)}
            rows.append({"state": state, "task": one, "other_task": other, **size})
            rows[-1] |= found.columns
        tables.append(_add_q_values(pd.DataFrame(rows), "p_value"))
    return joined(tables, TASK_AGREEMENT.names)


def worst_heads(
    heads: pd.DataFrame, metrics: Mapping[str, str], draws: Mapping[str, int]
) -> pd.DataFrame:
    """The worst heads of every task.

    Args:
        heads: `head_ablation.csv`.
        metrics: The metric to use of each task.
        draws: See `task_agreement`; ties are broken at random.

    Returns:
        `WORST_HEADS`: a row per state, task and rank.
    """
    tables = []
    for state, deltas in _effects_by_state(heads, metrics):
        for task, order in _orders(deltas, draws["seed"]).items():
            worst = _places(deltas[task], order, min(WORST, len(order)))
            table = worst.to_frame(index=False).assign(state=state, task=task)
            table["rank"] = range(1, len(table) + 1)
            mine = heads["task"].eq(task) & heads["state"].eq(state)
            own = _mean_over_seeds(heads[mine & heads["metric"].eq(metrics[task])])
            tables.append(table.merge(own, how="left", on=_PLACE))
    return joined(tables, WORST_HEADS.names)


def _mean_over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean `delta` of each head over seeds, and its largest q-value."""
    kept = rows.groupby([*_PLACE, "metric"], as_index=False)
    return kept.agg(delta=("delta", "mean"), q_value=("q_value", "max"))


def _effects_by_state(
    heads: pd.DataFrame, metrics: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Deltas]]]:
    """The effects of each task on its metric, by state; tasks in the order of ``metrics``."""
    for state in dict.fromkeys(heads["state"]):
        state_rows = heads[heads["state"] == state]
        tables = {
            task: state_rows[state_rows["task"].eq(task) & state_rows["metric"].eq(metric)]
            for task, metric in metrics.items()
        }
        yield state, {task: _deltas(table) for task, table in tables.items() if len(table)}


def _deltas(rows: pd.DataFrame) -> Deltas:
    table = rows.pivot_table(index=_PLACE, columns="seed", values="delta")
    return Deltas(table.sort_index())


def _draws(deltas: Deltas, draws: Mapping[str, int]) -> Draws:
    layers = deltas.table.index.get_level_values("layer").to_numpy()
    return Draws(layers, **{**draws, "bootstrap": min(RESAMPLES, draws["bootstrap"])})


def _orders(deltas: Mapping[str, Deltas], seed: int) -> dict[str, Floats]:
    """Ranks of each task's heads; each task breaks its ties with random numbers of its own."""
    return {task: d.worst_first(seed + n) for n, (task, d) in enumerate(deltas.items())}


def _places(deltas: Deltas, order: Floats, k: int) -> pd.MultiIndex:
    """Layers and heads of the k worst, the worst first."""
    return pd.MultiIndex.from_tuples(deltas.table.index[np.argsort(order)[:k]], names=_PLACE)


def _add_q_values(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Add a q-value for each column of p-values, over the rows that have one."""
    for column in columns if len(table) else ():
        known = table[column].dropna()
        table[column.replace("p_", "q_", 1)] = pd.Series(benjamini_hochberg(known), known.index)
    return table
