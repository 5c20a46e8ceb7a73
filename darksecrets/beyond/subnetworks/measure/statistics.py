"""Scores of subnetworks beside those of as many random parts, with intervals and tests.

The good subnetwork is one of many of its size: it is compared with random ones as
`darksecrets.core.stats.draws` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.beyond.subnetworks import declared
from darksecrets.beyond.subnetworks.measure.running import add_retrained
from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import METRICS, PERCENT, score_of_most_frequent, score_resampled
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.scores import require_usable
from darksecrets.core.stats.draws import rank_p_value, reach, reach_of_one_more
from darksecrets.core.stats.resampling import feasible, interval


@dataclass(frozen=True)
class _Scores:
    """Scores × 100 of all sets for one metric.

    Attributes:
        metric: The metric.
        names: [sets] their names; the first is the whole model.
        plain: [sets] on all examples.
        drawn: [resamples, sets] on bootstrap samples of the examples.
        chance: Of always predicting the most frequent label.
    """

    metric: str
    names: list[str]
    plain: Floats
    drawn: Floats
    chance: float

    def of(self, kind: str) -> list[int]:
        """Numbers of the sets of a kind."""
        return [number for number, name in enumerate(self.names) if name.split()[0] == kind]

    def clipped(self, ends: npt.ArrayLike) -> Floats:
        """[2, ...] ends of intervals of differences, within what is possible."""
        lowest, highest = METRICS[self.metric].bounds_of_differences
        return feasible(ends, PERCENT * lowest, PERCENT * highest)


def scores(
    result: SweepResult,
    retrained: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    task: Task,
    *,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score the subnetworks of a model, as they are and re-trained.

    Args:
        result: Predictions of the whole model and of subnetworks.
        retrained: Predictions of re-trained subnetworks, by kind and draw, such as ``good-1``.
        table: See `subnetwork_scores`, likewise the others.
        task: The task.
        resamples: Number of bootstrap samples of the examples.
        seed: Their seed.

    Returns:
        The table of `subnetwork_scores`.
    """
    options = {"resamples": resamples, "seed": seed}
    results = {declared.AS_IT_IS: result}
    if retrained:
        named = {name.replace("-", " "): rows for name, rows in retrained.items()}
        results[declared.RETRAINED] = add_retrained(result, named)
    found = [
        subnetwork_scores(each, table, task, trained=trained, **options)
        for trained, each in results.items()
    ]
    return pd.concat(found, ignore_index=True)


def subnetwork_scores(
    result: SweepResult, table: pd.DataFrame, task: Task, *, trained: str, resamples: int, seed: int
) -> pd.DataFrame:
    """Score subnetworks beside the whole model and beside random ones of their size.

    Args:
        result: Predictions of the whole model, and of subnetworks, whose names are kind and draw;
            others are left out.
        table: The table ``subnetworks`` of the model.
        task: The task.
        trained: How the subnetworks were trained.
        resamples: Number of bootstrap samples of the examples.
        seed: Their seed.

    Returns:
        The table ``subnetwork_scores`` without the columns of the model.

    Raises:
        InputError: See `darksecrets.core.interventions.scores.require_usable`.
    """
    sizes = {kind: _size(table, kind) for kind in declared.KINDS}
    rows = []
    for scores in _all_scores(result, task, resamples, seed):
        for kind in declared.KINDS:
            same = all(
                sizes[kind][part] == sizes[declared.GOOD][part] for part in ("heads", "mlps")
            )
            about = {"metric": scores.metric, "subnetwork": kind, "trained": trained}
            counts = {"examples": len(result.idx), "draws": len(scores.of(declared.RANDOM))}
            rows.append(
                {**about, **sizes[kind], "same_size": same, **_scored(scores, kind), **counts}
            )
    found = pd.DataFrame(rows)
    return declared.SUBNETWORK_SCORES.select(found)


def _all_scores(result: SweepResult, task: Task, resamples: int, seed: int) -> list[_Scores]:
    """Scores for every metric of the task; all sets on the same resamples."""
    require_usable(result, task)
    names = result.sets["name"].tolist()
    found = []
    for metric in task.metrics:
        rng = np.random.default_rng(seed)
        plain, *drawn = score_resampled(
            metric, result.predictions, result.labels, result.units, resamples, rng
        )
        chance = score_of_most_frequent(result.labels, metric, task)
        found.append(_Scores(metric, names, plain, np.array(drawn), chance))
    return found


def _size(table: pd.DataFrame, kind: str) -> dict[str, float]:
    """What the subnetworks of a kind keep; those at random all keep as much."""
    rows = table[(table["subnetwork"] == kind) & (table["draw"] == 1)]
    kept = rows[rows["kept"]]
    heads = int(kept["head"].notna().sum())
    weights = float(kept["weights"].sum() / rows["weights"].sum())
    return {"heads": heads, "mlps": len(kept) - heads, "weights": weights}


def _beside_whole(scores: _Scores, score: float, low: float, high: float) -> dict[str, float]:
    whole = scores.plain[0]
    ends = {"ci_low": low, "ci_high": high, "chance": scores.chance}
    return {"baseline": whole, "score": score, "delta": score - whole, **ends}


def _scored(scores: _Scores, kind: str) -> dict[str, float]:
    """Scores and tests of one kind of subnetwork."""
    at_random, mine = scores.of(declared.RANDOM), scores.of(kind)
    score, drawn = scores.plain[mine].mean(), scores.drawn[:, mine].mean(axis=1)
    others, draws = scores.plain[at_random], len(at_random)
    to_whole = drawn - scores.drawn[:, 0]
    names = ("over_random", "over_random_low", "over_random_high", "p_value")
    if kind == declared.RANDOM:
        half = reach(to_whole.var(ddof=1), others.var(ddof=1) / draws, draws)
        delta = score - scores.plain[0]
        low, high = scores.clipped([delta - half, delta + half])
        return _beside_whole(scores, score, low, high) | dict.fromkeys(names, np.nan)
    low, high = interval(to_whole)
    over = score - others.mean()
    to_random = drawn - scores.drawn[:, at_random].mean(axis=1)
    half = reach_of_one_more(to_random.var(ddof=1), others)
    ends = scores.clipped([over - half, over + half])
    p_value = rank_p_value(score, others, lower=kind == declared.BAD)
    tests = dict(zip(names, (over, *ends, p_value), strict=True))
    return _beside_whole(scores, score, low, high) | tests
