"""Effects of resetting layers, and means of flatness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape import declared
from darksecrets.beyond.landscape.declared import DIFFERENCE, FLATNESS_MEANS, LEAST, STATES
from darksecrets.beyond.landscape.measure.results import (
    Logits,
    Reset,
    losses,
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
from darksecrets.core.stats.resampling import feasible, interval, resampled_means, widened
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.paper.ablation.statistics import Resampling, bootstrap, effects

# Effects of reset layers on scores and losses, with intervals and tests, as in the ablation.
#
# Every model with layers reset is compared with the fine-tuned model, on the same examples. Over
# seeds, all models are compared on the same resamples of the examples.

RESAMPLES = 1000
"""Bootstrap samples of losses, and of everything over seeds."""
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
    """Rows of scores and losses of every model with layers reset."""
    outputs = _outputs(result)
    table, _ = effects(_as_sweep(outputs, result, task), task, resampling)
    number = table.groupby("metric", sort=False).cumcount().to_numpy()
    example_losses = losses(task, outputs, result.labels)
    resamples = min(RESAMPLES, resampling.bootstrap)
    change = example_losses[1:] - example_losses[0]
    drawn = resampled_means(change.T, resamples, _rng(resampling))
    low, high = widened(interval(drawn), change.mean(axis=1), np.array(change.shape[1]))
    per_set = result.swaps.reset_index(drop=True).assign(
        examples=len(result.idx),
        flips=PERCENT * _flips(outputs, task),
        loss_delta=change.mean(axis=1),
        loss_low=low,
        loss_high=high,
    )
    numbers = table.drop(columns=["kind", "layer", "head", "name"])
    return pd.concat([per_set.iloc[number].reset_index(drop=True), numbers], axis=1)


def _as_sweep(outputs: Logits, result: Reset, task: Task) -> SweepResult:
    """The models as sets of a sweep, the first of which is the baseline."""
    kinds = ["baseline"] + ["set"] * (len(outputs) - 1)
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": ""})
    return SweepResult(sets, predictions(task, outputs), result.labels, result.idx)


def _flips(outputs: Logits, task: Task) -> Floats:
    """[models] share of the examples whose prediction is not that of the first model."""
    predicted = predictions(task, outputs)
    if task.is_regression:
        return np.full(len(predicted) - 1, np.nan)
    return (predicted[1:] != predicted[0]).mean(axis=1)


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
        example_losses = [losses(task, outputs, result.labels) for outputs, result in groups]
        drawn_losses = [
            resampled_means((found[1:] - found[0]).T, resamples, _rng(draws))
            for found in example_losses
        ]
        of = {
            name: np.stack([table.loc[rows.index, name].to_numpy(float) for table in tables])
            for name in ("baseline", "score", "delta", "flips", "loss_delta")
        }
        bounds = [PERCENT * end for end in METRICS[str(metric)].bounds_of_differences]
        means = _means_over_seeds(of["delta"], PERCENT * np.stack(drawn)[:, :, 1:])
        low, high = feasible([means.low, means.high], bounds[0], bounds[1])
        loss_means = _means_over_seeds(of["loss_delta"], np.stack(drawn_losses))
        parts.append(
            rows[columns].assign(
                seeds=len(results),
                **{name: of[name].mean(axis=0) for name in ("baseline", "score", "flips")},
                delta=means.mean,
                ci_low=low,
                ci_high=high,
                p_value=means.p,
                loss_delta=loss_means.mean,
                loss_low=loss_means.low,
                loss_high=loss_means.high,
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


# Flatness over fine-tuning seeds, and its difference between both ways to begin.

LEARNED = 0.9
"""Models have learned if their loss is less than this share of that of constant output."""
_AVERAGED = ["task", "split", "measure"]


def means(flatness: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, with their intervals, and differences of both states of the same seed.

    An interval adds the variance over seeds to that over random vectors (for an eigenvalue, its
    residual takes the place of a standard error). With one seed it is about the models at hand; a
    sharpness, which has no error of its own, then has none. Examples are the same for all models:
    intervals are about these.

    Args:
        flatness: `FLATNESS` of any tasks.

    Returns:
        `FLATNESS_MEANS`.
    """
    rows = []
    for what, group in flatness.groupby(_AVERAGED, sort=False):
        about = dict(zip(_AVERAGED, what, strict=True))
        wide = group.pivot(index="seed", columns="state", values=["value", "error"])
        for state in STATES:
            if state in wide["value"]:
                both = wide[[("value", state), ("error", state)]].dropna(how="all")
                values, errors = both.to_numpy(dtype=np.float64).T
                least = LEAST.get(str(about["measure"]), -np.inf)
                rows.append({**about, "state": state, **_mean(values, errors, least)})
        if set(STATES) <= set(wide["value"]):
            pairs = wide.loc[wide["value"][list(STATES)].dropna().index]
            values = pairs["value"][list(STATES)].to_numpy(dtype=np.float64)
            errors = pairs["error"][list(STATES)].to_numpy(dtype=np.float64)
            gained = values[:, 1] - values[:, 0]
            rows.append({**about, "state": DIFFERENCE, **_mean(gained, np.hypot(*errors.T))})
    return pd.DataFrame(rows)[list(FLATNESS_MEANS.names)]


def _mean(values: Floats, errors: Floats, least: float = -np.inf) -> dict[str, float]:
    """The mean over [seeds], given [seeds] standard errors; NaN where there is none.

    Ends below the least possible value are there.
    """
    known = np.nan_to_num(errors)
    found = mean_over_seeds(values, float((known**2).sum()) / len(values) ** 2)
    unknown = len(values) == 1 and bool(np.isnan(errors).all())
    ends = feasible(np.full(2, np.nan) if unknown else [found.low, found.high], least, np.inf)
    interval = dict(zip(("ci_low", "ci_high"), map(float, ends), strict=True))
    return {"seeds": len(values), "value": float(found.mean), **interval}


def learned(flatness: pd.DataFrame) -> pd.Series[bool]:
    """Whether models have learned the examples, by their mean loss over seeds.

    Around models that have not, the loss may be flat, but they are at no optimum.

    Args:
        flatness: `FLATNESS` of any tasks.

    Returns:
        Flags by ``task``, ``state`` and ``split``.
    """
    excess = flatness["loss"] - LEARNED * flatness["constant_loss"]
    by = [flatness[name] for name in ("task", "state", "split")]
    return excess.groupby(by).mean() < 0
