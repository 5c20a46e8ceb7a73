"""Effects over fine-tuning seeds.

The validation examples of all seeds are the same, so that the noise of an effect is partly the
same, too. Variances are therefore computed on the same resamples for all seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import PARTS, SweepResult, joined
from darksecrets.core.interventions.scores import plain
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.paper.ablation.statistics import Resampling, bootstrap
from darksecrets.paper.ablation.tables import SEED_EFFECTS

RESAMPLES = 1000
"""Most bootstrap samples: enough for variances and the ends of 95 % intervals."""

Results = Mapping[int, SweepResult]
"""Sweeps of one task and state by fine-tuning seed."""


def effects_over_seeds(results: Results, task: Task, resampling: Resampling) -> pd.DataFrame:
    """Compare the sweeps of all seeds of a task and state.

    Args:
        results: The sweeps; with one there is nothing to compare.
        task: Their task.
        resampling: Numbers of samples, seed; at most `RESAMPLES` are drawn.

    Returns:
        The rows of `SEED_EFFECTS`, without ``task`` and ``state``.

    Raises:
        InputError: The sweeps have different examples or sets.
    """
    _require_alike(results, task)
    effects = []
    for metric in task.metrics if len(results) > 1 else ():
        deltas = np.stack([(s := plain(r, task)[metric]) - s[0] for r in results.values()])
        drawn = _bootstraps(results, metric, resampling)
        sets = next(iter(results.values())).sets
        for kind in PARTS:
            kind_rows = np.flatnonzero(sets["kind"] == kind)
            places = sets.loc[sets["kind"] == kind, ["layer", "head"]].reset_index(drop=True)
            about = {"metric": metric, "kind": kind}
            bounds = METRICS[metric].bounds_of_differences
            effects.append(
                _effects(deltas[:, kind_rows], drawn[:, :, kind_rows], places, about, bounds)
            )
    return joined(effects, SEED_EFFECTS.names[2:])


def _effects(
    deltas: Floats,
    drawn: Floats,
    places: pd.DataFrame,
    about: dict[str, Any],
    bounds: tuple[float, float],
) -> pd.DataFrame:
    """Mean effects from deltas [seeds, sets], and from the same [resamples, seeds, sets].

    `bounds` are the lowest and highest possible effect.
    """
    over_examples = drawn.mean(axis=1)
    found = mean_over_seeds(deltas, over_examples.var(axis=0), family=True)
    ends = feasible([found.low, found.high], *bounds)
    return places.assign(
        **about,
        seeds=len(deltas),
        delta=PERCENT * found.mean,
        ci_low=PERCENT * ends[0],
        ci_high=PERCENT * ends[1],
        p_value=found.p,
        q_value=benjamini_hochberg(found.p),
    )


def _bootstraps(results: Results, metric: str, resampling: Resampling) -> Floats:
    """[resamples, seeds, sets] differences to the baseline, on the same resamples."""
    number = min(RESAMPLES, resampling.bootstrap)
    rngs = [np.random.default_rng(resampling.seed) for _ in results]
    drawn = [
        bootstrap(result, metric, number, rng)
        for result, rng in zip(results.values(), rngs, strict=True)
    ]
    return np.stack(drawn, axis=1)


def _require_alike(results: Results, task: Task) -> None:
    first_seed, first = next(iter(results.items()))
    for seed, result in results.items():
        if not result.is_like(first):
            raise InputError(
                f"{task.name}: the sweeps of seeds {first_seed} and {seed} have different examples "
                "or disabled sets. Run the sweeps again."
            )
