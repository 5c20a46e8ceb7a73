"""How much attention tokens with a feature get, per layer and in the encoder (section 4.4, 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats, Values
from darksecrets.core.stats.crossed import (
    distance_to_new_models,
    drawn_means,
    excess_over_rivals,
    probability_greatest,
)
from darksecrets.core.stats.paired import FEWEST, nanmean
from darksecrets.core.stats.resampling import interval_of_known
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.profiles import (
    CONTROLLED,
    ROUNDING,
    Models,
    Profiles,
    append_encoder,
    check_paired,
    layer_numbers,
    stacked,
)
from darksecrets.paper.features.tables import (
    ATTENTION_LEVELS,
    ATTENTION_MEASURES,
    FROM_CLS,
    OVER_RIVALS,
)

SPECIAL = [FEATURES.index(name) for name in ("[CLS]", "[SEP]")]


#: Means this close are equal: they were stored in single precision.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Level:
    """One measure of a state's models on a task; arrays are [features, places].

    Attributes:
        layers: The layer of each place; None for the whole encoder.
        columns: Columns of the table that hold estimates, intervals and controls.
        excess: [criteria, resamples, features, places] bootstrap values of `weight` − `uniform` and
            of `weight` − `control`, if there is one, over examples, models and heads; NaN with
            fewer than `FEWEST` examples, of which nothing is said.
        known: [examples, features, places] whether an example has such a token, in reach.
    """

    layers: list[int | None]
    columns: dict[str, Floats]
    excess: Floats
    known: Flags


def level(
    profiles: Sequence[Profiles], measure: str, resamples: int, seed: int, task: int
) -> Level:
    """Estimate a measure, with intervals over examples and models.

    Args:
        profiles: The models, on the same examples.
        measure: One of `ATTENTION_MEASURES`.
        resamples: Number of bootstrap samples.
        seed: Seed of the samples; those of heads are the same for all tasks.
        task: Number of the task, for the samples of examples.
    """
    layered = measure != FROM_CLS
    last = profiles[0].weights[ATTENTION_MEASURES[0]].shape[-1]

    def read(part: str) -> Floats:
        values = stacked(profiles, part, measure)
        return append_encoder(values) if layered else values

    def means(values: Floats, statistic: Callable[[Floats], Floats] = np.asarray) -> Floats:
        return drawn_means(values, resamples, np.random.default_rng([seed, task]), statistic)

    weights, others = read("weights"), {"uniform": read("uniform")}
    heads = stacked(profiles, "heads", measure).mean(axis=0)
    head_excess = {"uniform": heads}
    if measure in CONTROLLED:
        others["control"] = read("control")
        head_excess["control"] = heads - stacked(profiles, "control_heads", measure).mean(axis=0)
    excess, beyond = [], []
    for name, values in others.items():
        moved = _distance_to_other_heads(head_excess[name], resamples, seed, encoder=layered)
        differences = _beyond_rounding(weights, values)
        excess.append(means(differences) + moved)
        beyond.append(_mean(differences))
    known = ~np.isnan(weights).all(axis=0) & (profiles[0].tokens > 0)[..., None]
    enough = known.sum(axis=0) >= FEWEST

    def where_enough(values: Floats) -> Floats:
        return np.where(enough, values, np.nan)

    drawn, apart = where_enough(means(weights)), where_enough(np.stack(excess))
    columns = {name: _mean(values) for name, values in ({"weight": weights} | others).items()}
    columns.setdefault("control", np.full(drawn.shape[1:], np.nan))
    columns["weight_low"], columns["weight_high"] = np.clip(interval_of_known(drawn), 0, 1)
    both = _beside_special(weights)
    columns["to_special"] = _ratio(_mean(both))
    ends = interval_of_known(where_enough(means(both, _ratio)))
    columns["to_special_low"], columns["to_special_high"] = np.maximum(ends, 0)
    columns["greatest_of_features"] = where_enough(probability_greatest(apart, TOLERANCE))
    ends = excess_over_rivals(where_enough(np.stack(beyond)), apart, TOLERANCE)
    columns |= dict(zip(OVER_RIVALS, ends, strict=True))
    places = layer_numbers(last) if layered else [last]
    return Level(places, columns, apart, known)


def _beyond_rounding(weights: Floats, others: Floats) -> Floats:
    """Differences, those within half precision's rounding as 0."""
    differences = weights - others
    size = np.maximum(weights, others)
    return np.where(np.abs(differences) <= ROUNDING * size, 0, differences)


def _mean(values: Floats) -> Floats:
    """[features, places] mean over examples, then over models."""
    return nanmean(values, axis=1).mean(axis=0)


def _beside_special(weights: Floats) -> Floats:
    """[..., 2] weights, and the means of [CLS] and [SEP] over the same examples, NaN for these."""
    special = nanmean(weights[:, :, SPECIAL], axis=2)[:, :, None]
    beside = np.where(np.isnan(weights), np.nan, special)
    beside[:, :, SPECIAL] = np.nan
    return np.stack([weights, beside], axis=-1)


def _ratio(means: Floats) -> Floats:
    """[...] the first of two numbers, divided by the second; NaN if that is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = means[..., 0] / means[..., 1]
    return np.where(np.isfinite(ratio), ratio, np.nan)


def _distance_to_other_heads(heads: Floats, resamples: int, seed: int, *, encoder: bool) -> Floats:
    """How far means over heads may be from those over all heads that might have been trained.

    Deviations are Student's, as those of seeds are: a layer has few heads, and a bootstrap of six
    is too narrow.

    Args:
        heads: [features, layers, heads].
        resamples: Number of samples.
        seed: Seed of the samples.
        encoder: Whether the whole encoder follows the layers.

    Returns:
        [resamples, features, places] deviations; 0 with one head.
    """
    rng = np.random.default_rng(seed)
    moved = distance_to_new_models(np.moveaxis(heads, -1, 0), resamples, rng)
    if not encoder:
        return moved
    whole = distance_to_new_models(heads.reshape(len(heads), -1).T, resamples, rng)
    return np.concatenate([moved, whole[:, :, None]], axis=-1)


def levels(models: Models, resamples: int, seed: int) -> pd.DataFrame:
    """The table `attention_levels.csv`.

    Args:
        models: All models of the run.
        resamples: Number of bootstrap samples.
        seed: Their seed.

    Raises:
        InputError: See `profiles.check_paired`.
    """
    check_paired(models)
    states = list(dict.fromkeys(state for task_states in models.values() for state in task_states))
    parts: list[dict[str, Any]] = []
    for state in states:
        tasks = [task for task in models if state in models[task]]
        for measure in ATTENTION_MEASURES:
            found = [
                level(models[task][state], measure, resamples, seed, number)
                for number, task in enumerate(tasks)
            ]
            excess = np.stack([one.excess for one in found], axis=2)
            task_chances = probability_greatest(excess, TOLERANCE)
            for number, task in enumerate(tasks):
                one, profiles = found[number], models[task][state]
                unsaid = np.isnan(one.excess).all(axis=(0, 1))
                one.columns["greatest_of_tasks"] = np.where(unsaid, np.nan, task_chances[number])
                named = {"task": task, "state": state, "measure": measure, "seeds": len(profiles)}
                parts += [named | rows for rows in _rows(one, profiles[0])]
    columns = {name: _joined(name, parts) for name in ATTENTION_LEVELS.names}
    return pd.DataFrame(columns).astype({"layer": "Int64"})


def _joined(name: str, parts: Sequence[Mapping[str, Any]]) -> Values:
    """A column of all parts, in one step: a frame for each part would take longer than the rest."""
    return np.concatenate(
        [np.broadcast_to(np.asarray(part[name]), len(part["feature"])) for part in parts]
    )


def _rows(one: Level, profiles: Profiles) -> Iterator[dict[str, Any]]:
    """Columns with a row per feature that is there, and in reach, for one place after the other."""
    for place, layer in enumerate(one.layers):
        known = one.known[:, :, place]
        there, examples = known.any(axis=0), known.sum(axis=0)
        tokens = (profiles.tokens * known).sum(axis=0)
        columns = {name: values[there, place] for name, values in one.columns.items()}
        yield columns | {
            "layer": layer,
            "feature": np.array(FEATURES)[there],
            "tokens": tokens[there] / examples[there],
            "examples": examples[there],
        }
