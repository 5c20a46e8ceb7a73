"""Effects of resetting layers, and which models have learned their training examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape import declared
from darksecrets.beyond.landscape.measure.results import (
    Logits,
    Reset,
    predictions,
    require_alike,
)
from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.columns import MODEL
from darksecrets.core.run.tables import identify
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.paper.ablation.statistics import Resampling, bootstrap, effects

# Effects of reset layers on scores, with intervals and tests, as in the ablation.
#
# Every model with layers reset is compared with the fine-tuned model, on the same examples. Over
# seeds, all models are compared on the same resamples of the examples.

RESAMPLES = 1000
"""Bootstrap samples of effects over seeds, at most."""
_WHAT = ["kind", "first_layer", "last_layer"]
_FAMILY = ["kind", "metric"]
_IDENTITY = {column.name for column in MODEL}


def score(
    results: Mapping[int, Reset], task: Task, state: str, resampling: Resampling
) -> dict[str, pd.DataFrame]:
    """Make the tables `declared.RESET_TABLES` of a task and state, by name.

    Args:
        results: The results by seed.
        task: The task.
        state: The state of the models.
        resampling: Numbers of samples, seed.

    Raises:
        InputError: The results are of different examples or cannot be scored.
    """
    require_alike(results, task)
    layers = [reset_layers(result, task, resampling) for result in results.values()]
    seed_effects = [
        identify(table, task.name, f"{state}/seed-{seed}")
        for seed, table in zip(results, layers, strict=True)
    ]
    means = reset_means(results, layers, task, resampling)
    about = pd.DataFrame({"task": task.name, "state": state}, index=means.index)
    return {
        declared.RESET_LAYERS.name: pd.concat(seed_effects, ignore_index=True),
        declared.RESET_MEANS.name: pd.concat([about, means], axis=1),
    }


def reset_layers(result: Reset, task: Task, resampling: Resampling) -> pd.DataFrame:
    """`RESET_LAYERS` of one model, without the columns that identify it.

    Raises:
        InputError: See `darksecrets.core.interventions.scores.require_usable`.
    """
    table = _effects(result, task, resampling)
    table["q_value"] = table.groupby(_FAMILY)["p_value"].transform(benjamini_hochberg)
    return table[[name for name in declared.RESET_LAYERS.names if name not in _IDENTITY]]


def _outputs(result: Reset) -> Logits:
    """[models, examples, outputs]: the fine-tuned model, and with each swap."""
    return np.concatenate([result.finetuned[None], result.swapped])


def _effects(result: Reset, task: Task, resampling: Resampling) -> pd.DataFrame:
    """Rows of scores of every model with layers reset."""
    outputs = _outputs(result)
    table, _ = effects(_as_sweep(outputs, result, task), task, resampling)
    number = table.groupby("metric", sort=False).cumcount().to_numpy()
    per_set = result.swaps.reset_index(drop=True).assign(examples=len(result.idx))
    numbers = table.drop(columns=["kind", "layer", "head", "name"])
    return pd.concat([per_set.iloc[number].reset_index(drop=True), numbers], axis=1)


def _as_sweep(outputs: Logits, result: Reset, task: Task) -> SweepResult:
    """The models as sets of a sweep, the first of which is the baseline."""
    kinds = ["baseline"] + ["set"] * (len(outputs) - 1)
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": ""})
    return SweepResult(sets, predictions(task, outputs), result.labels, result.idx, result.units)


def reset_means(
    results: Mapping[int, Reset], tables: Sequence[pd.DataFrame], task: Task, draws: Resampling
) -> pd.DataFrame:
    """`RESET_MEANS` of one task and state, without ``task`` and ``state``.

    Args:
        results: The results by seed, of the same examples.
        tables: What `reset_layers` returned for each, with all its rows.
        task: The task.
        draws: Numbers of samples, seed; at most `RESAMPLES` are drawn.
    """
    parts = []
    first, columns = tables[0], [*_WHAT, "metric"]
    groups = [(_outputs(result), result) for result in results.values()]
    sweeps = [_as_sweep(*group, task) for group in groups]
    for metric, rows in first.groupby("metric", sort=False):
        resamples = min(RESAMPLES, draws.bootstrap)
        drawn = [bootstrap(sweep, str(metric), resamples, _rng(draws)) for sweep in sweeps]
        of = {
            name: np.stack([table.loc[rows.index, name].to_numpy(float) for table in tables])
            for name in ("baseline", "score", "delta")
        }
        bounds = [PERCENT * end for end in METRICS[str(metric)].bounds_of_differences]
        means = _means_over_seeds(of["delta"], PERCENT * np.stack(drawn)[:, :, 1:])
        low, high = feasible([means.low, means.high], bounds[0], bounds[1])
        parts.append(
            rows[columns].assign(
                seeds=len(results),
                baseline=of["baseline"].mean(axis=0),
                score=of["score"].mean(axis=0),
                delta=means.mean,
                ci_low=low,
                ci_high=high,
                p_value=means.p,
            )
        )
    table = pd.concat(parts, ignore_index=True)
    table["q_value"] = table.groupby(_FAMILY)["p_value"].transform(benjamini_hochberg)
    return table[[name for name in declared.RESET_MEANS.names if name not in ("task", "state")]]


def _means_over_seeds(values: Floats, drawn: Floats) -> Any:  # noqa: ANN401 - `core.stats.seeds.Means`
    """Means over seeds: of values [seeds, sets], drawn for the same resamples [seeds, ., sets]."""
    return mean_over_seeds(values, drawn.mean(axis=0).var(axis=0), family=len(values) > 1)


def _rng(resampling: Resampling) -> np.random.Generator:
    return np.random.default_rng(resampling.seed)


LEARNED = 0.9
"""Models have learned if their loss is less than this share of that of constant output."""


def learned(flatness: pd.DataFrame) -> pd.Series[bool]:
    """Whether models have learned the examples, by their mean loss over seeds.

    Around models that have not, the loss may be flat, but they are at no optimum.

    Args:
        flatness: `FLATNESS` of any tasks.

    Returns:
        Flags by ``task`` and ``state``.
    """
    excess = flatness["loss"] - LEARNED * flatness["constant_loss"]
    by = [flatness["task"], flatness["state"]]
    return excess.groupby(by).mean() < 0
