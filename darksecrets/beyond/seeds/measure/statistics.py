"""Tables of a grid: components of variance, the best of n, early stopping."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from darksecrets.beyond.seeds import declared
from darksecrets.beyond.seeds.measure.grid import Grid
from darksecrets.beyond.seeds.measure.stopping import predictive, stop
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.maxima import expected_maximum, expected_of_chosen
from darksecrets.core.stats.resampling import halves_of_units, interval
from darksecrets.core.stats.seeds import critical_value
from darksecrets.core.stats.two_way import components

SPLITS = 100
"""Random halves of the examples, of which one chooses a run and the other scores it."""


def tables(grid: Grid, resamples: int, seed: int) -> dict[str, pd.DataFrame]:
    """Make the tables `darksecrets.beyond.seeds.declared.TABLES` of a task, by name.

    Args:
        grid: What its fine-tunings gave.
        resamples: Bootstrap samples of the seeds.
        seed: Seed of samples, halves and permutations.
    """
    rng = np.random.default_rng([seed, *grid.task.name.encode()])
    found = {
        declared.SEED_VARIANCE: _corrected(_variance(grid)),
        declared.EXPECTED_MAXIMUM: _maximum(grid, resamples, rng),
        declared.EARLY_STOPPING: _corrected(_stopping(grid, rng)),
    }
    return {
        table.name: rows.assign(task=grid.task.name)[list(table.names)]
        for table, rows in found.items()
    }


def _variance(grid: Grid) -> pd.DataFrame:
    rows = []
    for metric in grid.task.metrics:
        found = components(grid.final(metric))
        total = sum(max(0.0, each.variance) for each in found)
        rows += [
            {
                "metric": metric,
                "component": name,
                "degrees": each.degrees,
                "variance": each.variance,
                "ci_low": each.low,
                "ci_high": each.high,
                "sd": math.sqrt(max(0.0, each.variance)),
                "share": max(0.0, each.variance) / total if total else math.nan,
                "p_value": each.p,
                "runs": math.prod(grid.shape),
            }
            for name, each in zip(declared.COMPONENTS, found, strict=True)
        ]
    return pd.DataFrame(rows)


def _maximum(grid: Grid, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """The best of 1 to all runs; intervals resample both kinds of seeds (Owen 2007)."""
    starts, orders = grid.shape
    drawn = (
        rng.integers(starts, size=(resamples, starts, 1)),
        rng.integers(orders, size=(resamples, 1, orders)),
    )
    sides = np.concatenate(list(halves_of_units(SPLITS, grid.units, rng)))
    rows = []
    for metric in grid.task.metrics:
        scores = grid.final(metric)
        resampled = scores[drawn].reshape(resamples, -1)
        one, other = grid.score_halves(metric, sides)
        pairs = np.concatenate([one, other]), np.concatenate([other, one])
        gains, lows = _gains(*pairs, grid.shape)
        mean_of_one = float(pairs[1].mean())
        for place, draws in enumerate(range(1, scores.size + 1)):
            mean, deviation = expected_maximum(scores.ravel(), draws)
            low, high = interval(expected_maximum(resampled, draws)[0])
            possible = PERCENT - mean_of_one if draws > 1 else 0.0
            rows.append(
                {
                    "metric": metric,
                    "drawn": draws,
                    "expected": float(mean),
                    "ci_low": low,
                    "ci_high": high,
                    "sd": float(deviation),
                    "held_out": mean_of_one + gains[place],
                    "gain": gains[place],
                    "gain_low": lows[place],
                    "gain_high": possible,
                    "runs": scores.size,
                }
            )
    return pd.DataFrame(rows)


def _gains(chosen_by: Floats, scored_by: Floats, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """[runs] what the best of 1 to all runs gains over one run, and the lower ends of intervals.

    The variance is that of a jackknife over initializations plus that of one over data orders. The
    interaction is in both, so the lower ends are rather too low. There are no upper ends: grids
    without one of the rare runs that fail would put them far too low.

    Args:
        chosen_by: [splits, runs] scores that select; for each initialization all data orders.
        scored_by: [splits, runs] scores of the same runs by other examples.
        shape: Numbers of initializations and data orders.
    """
    draws = range(1, chosen_by.shape[1] + 1)

    def gain(runs: Integers) -> Floats:
        one, other = chosen_by[:, runs], scored_by[:, runs]
        apart = other - other[:, :1]  # so that runs that are the same gain 0, without rounding
        found = expected_of_chosen(one, apart, draws) - apart.mean()
        found[0] = 0.0  # of one run, as above
        return found

    runs = np.arange(chosen_by.shape[1]).reshape(shape)
    variances = []
    for axis, count in enumerate(shape):
        without = [gain(np.delete(runs, place, axis).ravel()) for place in range(count)]
        variances.append((count - 1) * np.var(without, axis=0))
    gains = gain(runs.ravel())
    free = [count - 1 for count in shape]
    halves = [
        critical_value(LEVEL, *zip(parts, free, strict=True)) * math.sqrt(sum(parts))
        for parts in zip(*variances, strict=True)
    ]
    return gains, gains - np.array(halves)


def _stopping(grid: Grid, rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for metric in grid.task.metrics:
        scores = grid.scores[metric]
        epochs, final = scores.shape[-1], grid.final(metric)
        for epoch in range(1, epochs):
            early = scores[..., epoch - 1]
            rho, p = predictive(early, final, rng)
            done = stop(early.ravel(), final.ravel(), rng)
            rows.append(
                {
                    "metric": metric,
                    "epoch": epoch,
                    "spearman": rho,
                    "p_value": p,
                    **done,
                    "saved": done["stopped"] * (epochs - epoch) / epochs,
                    "runs": final.size,
                }
            )
    return pd.DataFrame(rows, columns=[n for n in declared.EARLY_STOPPING.names if n != "q_value"])


def _corrected(rows: pd.DataFrame) -> pd.DataFrame:
    """Add false discovery rates over all tests of the task."""
    return rows.assign(q_value=benjamini_hochberg(rows["p_value"]))
