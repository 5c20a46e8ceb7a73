"""The tables of weights beside norms, from what is measured of every example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.norms.declared import KINDS, NORM_LEVELS, NORM_STATISTICS
from darksecrets.beyond.norms.measure.running import Measured
from darksecrets.core.arrays import Floats
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.correlation import correlate_moments
from darksecrets.core.stats.crossed import distance_to_new_models
from darksecrets.core.stats.paired import ends_of_means, mean_over_heads, nanmean
from darksecrets.core.stats.resampling import resampled_means

RESAMPLES = 1000
"""Bootstrap samples of the examples."""
LEAST_SPREAD = 1e-4
"""Logarithms of weights or lengths that vary less are equal up to rounding."""


@dataclass(frozen=True)
class Means:
    """Estimates of one model; arrays are [..., kinds, layers, heads], with resamples first, if any.

    Attributes:
        uniform: Share under uniform attention; like ``summed``, of one head.
        weight: Share of weight.
        norm: Share of norm.
        shuffled: The same with random lengths.
        length: Relative length.
        summed: Share of the norm of all heads' sum.
        correlation: Of weight and length; NaN where either does not vary.
    """

    uniform: Floats
    weight: Floats
    norm: Floats
    shuffled: Floats
    length: Floats
    summed: Floats
    correlation: Floats

    @property
    def over_control(self) -> Floats:
        """How much more of the norm a kind has than with random lengths."""
        return self.norm - self.shuffled

    @property
    def norm_weight_ratio(self) -> Floats:
        """What norms leave of the share of weight; NaN without weight."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.weight > 0, self.norm / self.weight, np.nan)

    def mean_over_heads(self) -> Means:
        """The same, [..., kinds, layers + 1]: means over the heads of a layer, and of all."""
        return Means(**{name: mean_over_heads(values) for name, values in vars(self).items()})


_SHARES = ("uniform", "weight", "norm", "shuffled", "length", "summed")
_WITH_ENDS = {
    "weight": (0, 1),
    "norm": (0, 1),
    "over_control": (-1, 1),
    "norm_weight_ratio": (0, np.inf),
    "length": (0, np.inf),
    "correlation": (-1, 1),
    "summed": (0, 1),
}
"""Estimates with intervals, and their bounds; heads have no sums."""


def tables(
    models: Mapping[str, Measured], random: str, seed: int
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """The tables `norm_statistics` and `norm_levels` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        random: Name of the encoder with random weights.
        seed: Seed of the bootstrap samples, the same for all models.

    Returns:
        Both tables of every model.
    """
    control = means(models[random]).mean_over_heads()
    layer_values = {"random": control.over_control, "random_correlation": control.correlation}
    found = {}
    for name, measured in models.items():
        mean, drawn = means(measured), drawn_means(measured, seed)
        shape = mean.weight.shape  # every head has the value of its layer
        head_values = {
            key: np.broadcast_to(of[:, :-1, None], shape) for key, of in layer_values.items()
        }
        heads = _table(mean, drawn, head_values, measured, NORM_STATISTICS)
        moved = distances_to_other_heads(mean, seed)
        mean, drawn = mean.mean_over_heads(), drawn.mean_over_heads()
        found[name] = heads, _table(mean, drawn, layer_values, measured, NORM_LEVELS, moved)
    return found


def means(measured: Measured) -> Means:
    """Means over the examples that have tokens of a kind; correlations over all their tokens."""
    shares = {name: nanmean(getattr(measured, name), axis=0) for name in _SHARES}
    return Means(
        **shares, correlation=correlate_moments(measured.moments.sum(axis=0), LEAST_SPREAD)
    )


def drawn_means(measured: Measured, seed: int) -> Means:
    """The same of examples drawn with replacement: resamples first."""
    values = {name: getattr(measured, name) for name in (*_SHARES, "moments")}
    flat = [one.reshape(len(one), -1) for one in values.values()]
    rng = np.random.default_rng(seed)
    drawn = resampled_means(np.concatenate(flat, axis=1), RESAMPLES, rng)
    parts = np.split(drawn, np.cumsum([one.shape[1] for one in flat])[:-1], axis=1)
    shaped = {
        name: part.reshape(len(part), *of.shape[1:])
        for (name, of), part in zip(values.items(), parts, strict=True)
    }
    shaped["correlation"] = correlate_moments(shaped.pop("moments"), LEAST_SPREAD)
    return Means(**shaped)


def distances_to_other_heads(mean: Means, seed: int) -> dict[str, Floats]:
    """How far estimates of a layer may be from those over all heads that might have been trained.

    An encoder with random weights has some lengths for [CLS] on all examples alike, but not the
    same in all heads. Examples alone would call them a finding.

    Args:
        mean: Estimates of every head.
        seed: Seed of the samples.

    Returns:
        By column, [resamples, kinds, layers + 1] deviations: Student's t over the heads of a layer,
        and of the encoder; 0 with one head.
    """
    names = ("over_control", "length", "norm_weight_ratio", "correlation")
    kinds, layers, _ = mean.weight.shape
    moved = {name: np.zeros((RESAMPLES, kinds, layers + 1)) for name in names}
    for kind, place in np.ndindex(kinds, layers + 1):
        own = kind, slice(None) if place == layers else place
        for name, effects in zip(names, _effects(mean, own), strict=True):
            known = effects[~np.isnan(effects)]
            if known.size:
                rng = np.random.default_rng([seed, place])
                moved[name][:, kind, place] = distance_to_new_models(
                    known[:, None], RESAMPLES, rng
                )[:, 0]
    return moved


def _effects(mean: Means, own: tuple[int, slice | int]) -> tuple[Floats, ...]:
    """[heads] what each head adds to the estimates of its layer; to a ratio, to first order."""
    weight, norm = mean.weight[own].ravel(), mean.norm[own].ravel()
    total = weight.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (norm - weight * norm.mean() / total) / total
    ratio = np.where(np.isfinite(ratio), ratio, np.nan)
    over, length, correlation = mean.over_control, mean.length, mean.correlation
    return over[own].ravel(), length[own].ravel(), ratio, correlation[own].ravel()


def _table(
    mean: Means,
    drawn: Means,
    random: Mapping[str, Floats],
    measured: Measured,
    table: Table,
    moved: Mapping[str, Floats] | None = None,
) -> pd.DataFrame:
    """Rows of the kinds that the task has, for one place after the other.

    Args:
        mean: Estimates.
        drawn: The same of other examples.
        random: Columns of the encoder with random weights.
        measured: Which kinds the examples have.
        table: The table.
        moved: What other heads would add to the resamples of a column.
    """
    moved = moved or {}
    shape = mean.weight.shape
    places = np.indices(shape)
    examples = np.broadcast_to((measured.tokens > 0).sum(axis=0), shape[::-1]).T
    columns = {"uniform": mean.uniform, "shuffled": mean.shuffled, **random, "examples": examples}
    for name, bounds in _WITH_ENDS.items():
        columns[name] = getattr(mean, name)
        samples = getattr(drawn, name) + moved.get(name, 0)
        ends = np.clip(ends_of_means(samples, columns[name], examples), *bounds)
        columns[f"{name}_low"], columns[f"{name}_high"] = ends
    found = pd.DataFrame(
        {name: np.broadcast_to(values, shape).ravel() for name, values in columns.items()}
    )
    found["kind"] = np.array(KINDS)[places[0].ravel()]
    found["layer"] = pd.array(places[1].ravel() + 1, dtype="Int64")
    if len(shape) == 3:
        found["head"] = places[2].ravel() + 1
    else:
        found.loc[found["layer"] == shape[1], "layer"] = None
    known = found[found["examples"] > 0]
    return table.select(known).reset_index(drop=True)
