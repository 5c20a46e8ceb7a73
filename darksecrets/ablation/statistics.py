"""What disabling heads and layers does to the scores, and how sure that is (section 4.6).

The paper reports the scores alone. Here, every difference to the intact model has an interval and
a test on the same examples, because a gain of a few examples is what chance gives the best of 144.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import false_discovery_control

from darksecrets.ablation.paired_tests import p_values
from darksecrets.ablation.results import LEVEL, SweepResult
from darksecrets.ablation.scores import Counts, Floats, plain, require_usable, weighted
from darksecrets.data.tasks import Task

PERCENT = 100.0  # scores in tables

_BLOCK = 2**22  # numbers of a matrix of weights
_COLUMNS = ("metric", "baseline", "score", "delta", "ci_low", "ci_high", "p_value", "q_value")
PLACES = {"head": ["layer", "head"], "layer": ["layer"], "set": ["name"]}
"""Columns that say what was disabled, by the kind of set; layers and heads from 1."""


@dataclass(frozen=True)
class Chances:
    """How often chance is asked, and where it starts.

    Attributes:
        bootstrap: Resamples of the examples.
        permutations: Random ones, in tests that cannot be summed exactly.
        splits: Random halves of the validation set.
        seed: Start of the random numbers.
    """

    bootstrap: int
    permutations: int
    splits: int
    seed: int


def effects(result: SweepResult, task: Task, chances: Chances) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Effect of every disabled set on every metric of the task, and of a random one of its kind.

    The interval is a bootstrap over examples (percentiles), the same resamples for all sets; the
    test is paired, see `darksecrets.ablation.paired_tests`. p-values are corrected with Benjamini
    and Hochberg's procedure over the sets of a kind: the heads of the model, and its layers.

    Args:
        result: A sweep.
        task: The task it was made for.
        chances: Resamples, permutations, seed.

    Returns:
        A row per set and metric: ``kind``, ``layer``, ``head``, ``name``, ``metric``,
        ``baseline``, ``score``, ``delta`` (score - baseline), ``ci_low``, ``ci_high`` of the delta,
        all x 100, ``p_value`` and ``q_value``; the baseline has no row. And a row per metric and
        kind: ``mean_effect``, the mean delta over the kind, and its ``mean_low``, ``mean_high``.

    Raises:
        InputError: See `darksecrets.ablation.scores.require_usable`.
    """
    require_usable(result, task)
    tables, means = [], []
    for metric, scores in plain(result, task).items():
        rng = np.random.default_rng(chances.seed)
        resampled = bootstrap(result, metric, chances.bootstrap, rng)
        low, high = interval(resampled)
        table = result.sets.reset_index(drop=True).assign(
            metric=metric,
            baseline=PERCENT * scores[0],
            score=PERCENT * scores,
            delta=PERCENT * (scores - scores[0]),
            ci_low=low,
            ci_high=high,
            p_value=p_values(result, metric, chances.permutations, rng),
        )[1:]
        table["q_value"] = table.groupby("kind")["p_value"].transform(false_discovery_control)
        tables.append(table)
        means += [_mean(rows, resampled) for _, rows in table.groupby("kind")]
    return pd.concat(tables, ignore_index=True), pd.DataFrame(means)


def interval(deltas: Floats) -> Floats:
    """Lower and upper end over the first axis, x 100."""
    ends: Floats = PERCENT * np.quantile(deltas, (LEVEL / 2, 1 - LEVEL / 2), axis=0)
    return ends


def _mean(rows: pd.DataFrame, resampled: Floats) -> dict[str, Any]:
    """Mean delta of the sets of one kind: what disabling a random one of them does."""
    low, high = interval(resampled[:, rows.index].mean(axis=1))
    where = {column: rows[column].iloc[0] for column in ("metric", "kind")}
    return {**where, "mean_effect": rows["delta"].mean(), "mean_low": low, "mean_high": high}


def of_kind(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The table of one kind of set, `head`, `layer` or `set`, in the columns of the contract."""
    return table.loc[table["kind"] == kind, [*PLACES[kind], *_COLUMNS]]


def bootstrap(result: SweepResult, metric: str, resamples: int, rng: np.random.Generator) -> Floats:
    """Differences to the baseline on resamples of the examples.

    Args:
        result: A sweep.
        metric: Which score.
        resamples: How many.
        rng: Source of chance.

    Returns:
        [resamples, sets] score - baseline; all sets on the same resamples.
    """
    score = weighted(result, metric)
    blocks = [score(weights) for weights in draws(resamples, len(result.idx), rng)]
    scores: Floats = np.concatenate(blocks)
    return scores - scores[:, :1]


def draws(resamples: int, examples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Blocks of bootstrap weights: how often each example is drawn, with replacement.

    Yields:
        [at most resamples, examples]; every row sums to ``examples``.
    """
    size = max(1, _BLOCK // examples)
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        drawn: npt.NDArray[np.int64] = rng.integers(examples, size=(rows, examples))
        drawn += examples * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * examples)
        yield counts.reshape(rows, examples)
