"""Tables of gradients, agreement of rankings and erased tokens, from single examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.faithfulness import declared
from darksecrets.beyond.faithfulness.measure.erasure import REVERSED
from darksecrets.beyond.faithfulness.measure.explanations import Measured
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.run.columns import TOKEN_KINDS
from darksecrets.core.stats.kendall import least_significant
from darksecrets.core.stats.paired import ends_of_means, mean_over_heads, nanmean
from darksecrets.core.stats.resampling import resampled_means

RESAMPLES = 1000
"""Bootstrap samples of the examples."""


@dataclass(frozen=True)
class Estimate:
    """Means over examples with intervals.

    Attributes:
        value: [...]; NaN where no example has a value.
        low: [...] NaN with fewer than 6 examples.
        high: The same.
        examples: [...] examples with a value.
    """

    value: Floats
    low: Floats
    high: Floats
    examples: Integers

    def columns(self, name: str, low: float, high: float) -> dict[str, Floats]:
        """The estimate and both ends, within their bounds, by the names of their columns."""
        ends = {f"{name}_low": self.low, f"{name}_high": self.high}
        return {name: self.value} | {key: np.clip(end, low, high) for key, end in ends.items()}


def mean(values: Floats, seed: int) -> Estimate:
    """Means over the examples that have a value.

    Args:
        values: [examples, ...]; NaN for examples without one.
        seed: Seed of the bootstrap samples.
    """
    return _estimate(nanmean(values, axis=0), _drawn(values, seed), values)


def ratio(values: Floats, of: Floats, seed: int) -> Estimate:
    """Ratios of means over the examples that have a value.

    Args:
        values: [examples, ...]; NaN for examples without one.
        of: The same shape.
        seed: Seed of the bootstrap samples.
    """
    below = np.where(np.isnan(values), np.nan, of)
    drawn = _quotient(_drawn(values, seed), _drawn(below, seed))
    found = _quotient(nanmean(values, axis=0), nanmean(below, axis=0))
    return _estimate(found, drawn, values)


def _drawn(values: Floats, seed: int) -> Floats:
    """[resamples, ...] means of bootstrap samples; the same samples for all values of a seed."""
    flat = values.reshape(len(values), -1)
    drawn = resampled_means(flat, RESAMPLES, np.random.default_rng(seed))
    return drawn.reshape(-1, *values.shape[1:])


def _quotient(over: Floats, under: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(under > 0, over / under, np.nan)


def _estimate(value: Floats, drawn: Floats, values: Floats) -> Estimate:
    examples = np.asarray((~np.isnan(values)).sum(axis=0))
    low, high = ends_of_means(drawn, value, examples)
    return Estimate(value, low, high, examples)


def gradients(models: Mapping[str, Measured], random: str, seed: int) -> dict[str, pd.DataFrame]:
    """The table `attention_gradients` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        random: Name of the one with random weights.
        seed: Seed of the bootstrap samples.
    """
    layer_values = _relative(models[random], seed).value
    shape = models[random].gradients.shape[1:]
    control = _replace_by_layers(layer_values, shape)
    return {name: _gradients(one, control, seed) for name, one in models.items()}


def _relative(measured: Measured, seed: int) -> Estimate:
    """[kinds, places] gradients by attention to a kind, divided by those of all tokens."""
    every = np.broadcast_to(measured.all_gradients[:, None], measured.gradients.shape)
    return ratio(stack_levels(measured.gradients), stack_levels(every), seed)


def _gradients(measured: Measured, control: Floats, seed: int) -> pd.DataFrame:
    shape = measured.gradients.shape[1:]
    size = mean(stack_levels(measured.gradients), seed)
    relative = _relative(measured, seed)
    columns: dict[str, Floats | Integers] = {
        **size.columns("gradient", 0, np.inf),
        **relative.columns("relative", 0, np.inf),
        "random": control,
        "examples": size.examples,
    }
    rows = _rows("kind", TOKEN_KINDS, shape, columns)
    return declared.ATTENTION_GRADIENTS.select(rows[rows["examples"] > 0]).reset_index(drop=True)


def agreements(
    models: Mapping[str, Measured], tokens: Sequence[int], seed: int
) -> dict[str, pd.DataFrame]:
    """The table `faithfulness` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        tokens: [examples] numbers of their ordinary tokens.
        seed: Seed of the bootstrap samples.
    """
    least = np.array([least_significant(n) if n > 1 else np.nan for n in tokens])
    return {name: _agreement(one, least, seed) for name, one in models.items()}


def _agreement(measured: Measured, least: Floats, seed: int) -> pd.DataFrame:
    places = {
        name: stack_levels(getattr(measured, name)) for name in ("tau", "shuffled", "other_text")
    }
    tau = mean(places["tau"], seed)
    columns: dict[str, Floats | Integers] = {
        **tau.columns("tau", -1, 1),
        "shuffled": nanmean(places["shuffled"], axis=0),
        "other_text": nanmean(places["other_text"], axis=0),
        **mean(places["tau"] - places["other_text"], seed).columns("over_control", -2, 2),
        "significant": _significant(measured.tau, least),
        "examples": tau.examples,
    }
    rows = _rows("compared", tuple(declared.COMPARED), measured.tau.shape[1:], columns)
    return declared.FAITHFULNESS.select(rows).reset_index(drop=True)


def _significant(tau: Floats, least: Floats) -> Floats:
    """[compared, places] share of the examples whose τ is beyond those of random orders."""
    beyond = np.where(np.isnan(tau), np.nan, np.abs(tau) > least[:, None, None, None])
    return nanmean(stack_levels(beyond), axis=0)


def erased(found: Mapping[str, Floats], draws: int, seed: int) -> pd.DataFrame:
    """The table `erasure` of one model, without the columns of the model.

    Args:
        found: By order, [examples] share of the tokens that were erased: of every importance, of
            each reversed, and of ``draws`` random orders.
        draws: Number of random orders.
        seed: Seed of the bootstrap samples.
    """
    shares = {name: np.nan_to_num(values, nan=1.0) for name, values in found.items()}
    names = [f"{declared.RANDOM_ORDER} {draw}" for draw in range(1, draws + 1)]
    random = np.mean([shares[name] for name in names], axis=0)
    own = np.stack([shares[name] for name in declared.IMPORTANCE], axis=1)  # [examples, importance]
    columns = {
        "importance": declared.IMPORTANCE,
        **mean(own, seed).columns("erased", 0, 1),
        "reversed": [shares[name + REVERSED].mean() for name in declared.IMPORTANCE],
        "random": random.mean(),
        **mean(own - random[:, None], seed).columns("over_random", -1, 1),
        "examples": len(own),
    }
    return declared.ERASURE.select(pd.DataFrame(columns)).reset_index(drop=True)


def stack_levels(values: Floats) -> Floats:
    """[examples, kinds, places] of every head; then of every layer; last, of the whole encoder.

    Layers and the encoder are means over the heads that have a value.

    Args:
        values: [examples, kinds, layers, heads].
    """
    heads = values.reshape(*values.shape[:2], -1)
    return np.concatenate([heads, mean_over_heads(values)], axis=-1)


def _replace_by_layers(values: Floats, shape: tuple[int, ...]) -> Floats:
    """[kinds, places] with the values of layers in place of those of their heads."""
    _, layers, heads = shape
    found = values.copy()
    layer_values = values[:, layers * heads : -1]
    found[:, : layers * heads] = np.repeat(layer_values, heads, axis=1)
    return found


def _rows(
    column: str,
    kinds: Sequence[str],
    shape: tuple[int, ...],
    columns: Mapping[str, Floats | Integers],
) -> pd.DataFrame:
    """Rows of every kind and place, from columns of [kinds, places]."""
    _, layers, heads = shape
    numbers = np.arange(1, layers + 1)
    head_values = (
        [*np.repeat(numbers, heads), *numbers, None],
        [*np.tile(np.arange(1, heads + 1), layers), *[None] * (layers + 1)],
    )
    layer, head = (pd.array(list(one) * len(kinds), dtype="Int64") for one in head_values)
    named = np.repeat(list(kinds), len(head_values[0]))
    values = {name: np.ravel(of) for name, of in columns.items()}
    return pd.DataFrame({column: named, "layer": layer, "head": head, **values})
