"""Effects of exchanged weights on scores and losses, with intervals and tests, as in the ablation.

Every model with weights exchanged is compared with the model that they are put into, on the same
examples. Over seeds, all models are compared on the same resamples of the examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.statistics import Resampling, bootstrap, effects
from darksecrets.arrays import Floats, Integers
from darksecrets.data.metrics import METRICS, PERCENT
from darksecrets.data.tasks import Task
from darksecrets.landscape import tables as t
from darksecrets.landscape.joining import RESAMPLES, change_and_cost
from darksecrets.landscape.results import Logits, Reset, losses, predictions, require_alike
from darksecrets.landscape.swaps import interpolations
from darksecrets.run.columns import HEAD, LAYER, MODEL
from darksecrets.run.tables import identify
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.resampling import feasible, interval, resampled_means, widened
from darksecrets.stats.seeds import mean_over_seeds
from darksecrets.stats.weighted import resampled

_WHAT = ["direction", "kind", "first_layer", "last_layer"]
_FAMILY = ["direction", "kind", "metric"]
_IDENTITY = {column.name for column in MODEL}


def score(
    results: Mapping[int, Reset],
    maps: Mapping[int, Floats],
    task: Task,
    state: str,
    resampling: Resampling,
) -> dict[str, pd.DataFrame]:
    """Make the tables `darksecrets.landscape.tables.TABLES` of a task and state, by name.

    Args:
        results: The results by seed.
        maps: [layers, heads] how much each head's maps changed, by seed; empty if not known.
        task: The task.
        state: The state of the models.
        resampling: Numbers of samples, seed.

    Raises:
        InputError: The results are of different examples or cannot be scored.
    """
    require_alike(results, task)
    layers = [reset_layers(result, task, resampling) for result in results.values()]
    heads = [reset_heads(result, task, resampling) for result in results.values()]
    of_seeds = {"reset_layers": layers, "reset_heads": heads}
    found = {
        name: pd.concat(
            [
                identify(table, task.name, f"{state}/seed-{seed}")
                for seed, table in zip(results, tables, strict=True)
            ],
            ignore_index=True,
        )
        for name, tables in of_seeds.items()
    }
    over_seeds = {
        "reset_means": reset_means(results, layers, task, resampling),
        "interpolation": interpolation(results, task, resampling),
        "change_and_cost": change_and_cost(results, maps, task, resampling),
    }
    for name, table in over_seeds.items():
        about = pd.DataFrame({"task": task.name, "state": state}, index=table.index)
        found[name] = pd.concat([about, table], axis=1)
    return found


def changes_of_maps(cosine: pd.DataFrame) -> Floats:
    """[layers, heads] 1 − cosine of the maps before and after fine-tuning.

    Args:
        cosine: Rows of the table ``cosine`` of one task and seed.
    """
    wide = 1 - cosine.pivot(index="layer", columns="head", values="similarity").sort_index()
    return wide.to_numpy(dtype=float)


def reset_layers(result: Reset, task: Task, resampling: Resampling) -> pd.DataFrame:
    """`RESET_LAYERS` of one model, without the columns that identify it.

    Raises:
        InputError: See `darksecrets.ablation.scores.require_usable`.
    """
    tables = []
    for direction in (t.RESET, t.TRANSFERRED):
        chosen = (result.swaps["direction"] == direction).to_numpy()
        group = _compared(result, direction, np.flatnonzero(chosen))
        tables.append(_effects(group, result.swaps[chosen], task, resampling))
    table = pd.concat(tables, ignore_index=True)
    table["q_value"] = table.groupby(_FAMILY)["p_value"].transform(benjamini_hochberg)
    return table[[name for name in t.RESET_LAYERS.names if name not in _IDENTITY]]


def reset_heads(result: Reset, task: Task, resampling: Resampling) -> pd.DataFrame:
    """`RESET_HEADS` of one model, likewise; no rows if no head was reset."""
    columns = [name for name in t.RESET_HEADS.names if name not in _IDENTITY]
    if not result.heads.size:
        return pd.DataFrame(columns=columns)
    layers, heads = (places.ravel() + 1 for places in np.indices(result.heads.shape[:2]))
    about = {LAYER.name: layers, HEAD.name: heads}
    swaps = pd.DataFrame({**about, "weight_change": result.head_changes.ravel()})
    flat = result.heads.reshape(-1, *result.finetuned.shape)
    group = np.concatenate([result.finetuned[None], flat])
    return _effects((group, result), swaps, task, resampling)[columns]


def _compared(result: Reset, direction: str, rows: Integers) -> tuple[Logits, Reset]:
    """[models, examples, outputs]: what weights are put into, and with each swap."""
    outputs = result.swapped[rows]
    return np.concatenate([_intact(result, direction)[None], outputs]), result


def _intact(result: Reset, direction: str) -> Logits:
    """[examples, outputs] of the model that weights are put into."""
    if direction == t.RESET:
        return result.finetuned
    swaps = result.swaps
    whole = (swaps["kind"] == t.UP_TO) & (swaps["last_layer"] == result.layers)
    (place,) = np.flatnonzero(whole & (swaps["direction"] == t.RESET))
    return result.swapped[place]


def _effects(
    group: tuple[Logits, Reset], swaps: pd.DataFrame, task: Task, resampling: Resampling
) -> pd.DataFrame:
    """Rows of scores and losses of every model after the first, compared with it."""
    outputs, result = group
    table, _ = effects(_as_sweep(outputs, result, task), task, resampling)
    number = table.groupby("metric", sort=False).cumcount().to_numpy()
    of_loss = losses(task, outputs, result.labels)
    resamples = min(RESAMPLES, resampling.bootstrap)
    change = of_loss[1:] - of_loss[0]
    drawn = resampled_means(change.T, resamples, _rng(resampling))
    low, high = widened(interval(drawn), change.mean(axis=1), np.array(change.shape[1]))
    per_set = swaps.reset_index(drop=True).assign(
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
    for (metric, direction), rows in first.groupby(["metric", "direction"], sort=False):
        places = np.flatnonzero(results[next(iter(results))].swaps["direction"] == direction)
        groups = [_compared(result, str(direction), places) for result in results.values()]
        sweeps = [_as_sweep(*group, task) for group in groups]
        resamples = min(RESAMPLES, draws.bootstrap)
        drawn = [bootstrap(sweep, str(metric), resamples, _rng(draws)) for sweep in sweeps]
        of_loss = [losses(task, outputs, result.labels) for outputs, result in groups]
        of_loss_drawn = [
            resampled_means((found[1:] - found[0]).T, resamples, _rng(draws)) for found in of_loss
        ]
        of = {
            name: np.stack([table.loc[rows.index, name].to_numpy(float) for table in tables])
            for name in ("baseline", "score", "delta", "flips", "loss_delta")
        }
        bounds = [PERCENT * end for end in METRICS[str(metric)].bounds_of_differences]
        means = _over_seeds(of["delta"], PERCENT * np.stack(drawn)[:, :, 1:])
        low, high = feasible([means.low, means.high], bounds[0], bounds[1])
        of_losses = _over_seeds(of["loss_delta"], np.stack(of_loss_drawn))
        parts.append(
            rows[columns].assign(
                seeds=len(results),
                **{name: of[name].mean(axis=0) for name in ("baseline", "score", "flips")},
                **{"delta": means.mean, "ci_low": low, "ci_high": high, "p_value": means.p},
                **{"loss_delta": of_losses.mean, "loss_low": of_losses.low},
                loss_high=of_losses.high,
            )
        )
    table = pd.concat(parts, ignore_index=True)
    table["q_value"] = table.groupby(_FAMILY)["p_value"].transform(benjamini_hochberg)
    return table[[name for name in t.RESET_MEANS.names if name not in ("task", "state")]]


def _over_seeds(values: Floats, drawn: Floats) -> Any:  # noqa: ANN401 - `stats.seeds.Means`
    """Means over seeds: of values [seeds, sets], drawn for the same resamples [seeds, ., sets]."""
    return mean_over_seeds(values, drawn.mean(axis=0).var(axis=0), family=len(values) > 1)


def interpolation(results: Mapping[int, Reset], task: Task, resampling: Resampling) -> pd.DataFrame:
    """`INTERPOLATION` of one task and state, without ``task`` and ``state``.

    Args:
        results: The results by seed, of the same examples and points.
        task: The task.
        resampling: Numbers of samples, seed; at most `RESAMPLES` are drawn.
    """
    first = next(iter(results.values()))
    tables = []
    for split in t.SPLITS:
        for number, (part, layer) in enumerate(interpolations(first.layers)):
            curves = [(r.curves(split)[0][number], r.curves(split)[1]) for r in results.values()]
            for quantity in (t.LOSS, *(task.metrics if split == t.VALIDATION else ())):
                found = [_curve(*curve, quantity, task, resampling) for curve in curves]
                rows = _of_curves(*map(np.stack, zip(*found, strict=True)))
                rows = rows.assign(part=part, split=split, quantity=quantity, alpha=first.points)
                tables.append(rows.assign(layer=layer if part == t.LAYER else None))
    table = pd.concat(tables, ignore_index=True).assign(seeds=len(results))
    return table[[name for name in t.INTERPOLATION.names if name not in ("task", "state")]]


def _curve(
    outputs: Logits, labels: npt.NDArray[Any], quantity: str, task: Task, resampling: Resampling
) -> tuple[Floats, Floats]:
    """[points] values of a curve, and the same on resamples, [resamples, points]."""
    resamples = min(RESAMPLES, resampling.bootstrap)
    if quantity == t.LOSS:
        found = losses(task, outputs, labels)
        return found.mean(axis=1), resampled_means(found.T, resamples, _rng(resampling))
    predicted, metric = predictions(task, outputs), METRICS[quantity]
    values = np.array([metric.plain(one, labels) for one in predicted])
    drawn = resampled(metric.weighted(predicted, labels), len(labels), resamples, _rng(resampling))
    return PERCENT * values, PERCENT * drawn


def _of_curves(values: Floats, drawn: Floats) -> pd.DataFrame:
    """Means of curves [seeds, points], from the same on resamples [seeds, resamples, points]."""
    means = _over_seeds((values - values[:, -1:])[:, :-1], (drawn - drawn[..., -1:])[..., :-1])
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)
    of_differences = {"difference": means.mean, "ci_low": means.low, "ci_high": means.high}
    columns = {name: np.append(ends, 0.0) for name, ends in of_differences.items()}
    return pd.DataFrame({"value": values.mean(axis=0), **columns, "spread": spread})


def _rng(resampling: Resampling) -> np.random.Generator:
    return np.random.default_rng(resampling.seed)
