"""A grid of fine-tunings and its tables: components of variance, the best of n, early stopping.

A threshold that half of the runs choose stops bad runs early; it is tried on the other half.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.seeds import declared
from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.maxima import expected_maximum, expected_of_chosen
from darksecrets.core.stats.resampling import halves, interval
from darksecrets.core.stats.seeds import critical_value
from darksecrets.core.stats.two_way import components
from darksecrets.core.stats.units import count_units
from darksecrets.paper.finetuning.tables import (
    BASELINE_PREDICTIONS,
    LEARNING_CURVES,
    predictions,
)


@dataclass(frozen=True)
class Grid:
    """What the fine-tunings of one task gave.

    Attributes:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        predictions: [runs, examples]; for each initialization all data orders.
        scores: By metric, [initializations, orders, epochs] scores on all examples, × 100.
    """

    task: Task
    inits: Sequence[int]
    orders: Sequence[int]
    labels: Values
    units: Integers
    predictions: Values
    scores: Mapping[str, Floats]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of initializations and data orders."""
        return len(self.inits), len(self.orders)

    def final(self, metric: str) -> Floats:
        """[initializations, orders] scores of the final models."""
        return self.scores[metric][..., -1]

    def score_halves(self, metric: str, sides: Integers) -> tuple[Floats, Floats]:
        """[splits, runs] final scores on both halves of the examples, × 100.

        Args:
            metric: The metric.
            sides: [splits, examples] 1 for one half, 0 for the other.
        """
        score = METRICS[metric].weighted(self.predictions, self.labels)
        return PERCENT * score(sides), PERCENT * score(1 - sides)


def read(
    task: Task,
    inits: Sequence[int],
    orders: Sequence[int],
    files: Sequence[tuple[Path, Path]],
    baselines: Path,
) -> Grid:
    """Read the predictions and learning curves of all fine-tunings.

    Args:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        files: Predictions and curve of each run, in the order of `predictions` above.
        baselines: Table `BASELINE_PREDICTIONS`, which numbers the texts of the examples.

    Raises:
        InputError: Runs are of different examples or different numbers of epochs.
    """
    declared = predictions(task.num_labels)
    parts = [declared.read(path, ["idx", "label", "prediction"]) for path, _ in files]
    texts = BASELINE_PREDICTIONS.read(baselines).drop_duplicates("idx")
    kind = np.float64 if task.is_regression else np.int64
    paths = [path for path, _ in files]
    for path, part in zip([*paths, baselines], [*parts, texts], strict=True):
        if part["idx"].tolist() != parts[0]["idx"].tolist():
            raise InputError(
                f"{path}: these predictions are of other examples than those in {paths[0]}. "
                "Remove both files and run again."
            )
    curves = [_curve(path, task) for _, path in files]
    if len({curve.shape for curve in curves}) > 1:
        found = ", ".join(sorted({str(curve.shape[-1]) for curve in curves}))
        raise InputError(
            f"{task.name}: the learning curves of the seeds have different numbers of epochs "
            f"({found}). Remove the folder seed_grid of the run, and run again."
        )
    scores = np.stack(curves).reshape(len(inits), len(orders), *curves[0].shape)
    return Grid(
        task,
        inits,
        orders,
        labels=parts[0]["label"].to_numpy(dtype=kind),
        units=texts["text"].to_numpy(),
        predictions=np.stack([part["prediction"].to_numpy(dtype=kind) for part in parts]),
        scores={metric: scores[:, :, number] for number, metric in enumerate(task.metrics)},
    )


def _curve(path: Path, task: Task) -> Floats:
    """[metrics, epochs] scores on the validation split."""
    table = LEARNING_CURVES.read(path)
    rows = table[table["split"] == "validation"].sort_values("epoch")
    return np.stack(
        [rows.loc[rows["quantity"] == name, "value"].to_numpy(np.float64) for name in task.metrics]
    )


MOST_SPLITS = 500
"""Splits of the runs into halves; all of them if there are fewer."""
MOST_PERMUTATIONS = 2000
"""Permutations of the seeds; all of them if there are fewer."""


def stop(early: Floats, final: Floats, rng: np.random.Generator) -> dict[str, float]:
    """Choose thresholds on halves of the runs and try them on the others.

    Returns what the rule does to these, means over splits, by column of the table.

    Args:
        early: [runs] scores when it is decided.
        final: [runs] scores in the end.
        rng: Draws splits if there are many.
    """
    found = [
        # the score part-way of the run that ends best; the least, if several do
        _tried(early[others], final[others], early[half][final[half] == final[half].max()].min())
        for half, others in _splits(len(early), rng)
    ]
    names = ("stopped", "lost", "lost_at_random")
    return dict(zip(names, map(float, np.mean(found, axis=0)), strict=True))


def predictive(early: Floats, final: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Rank correlation of scores part-way and in the end, and its one-sided p-value.

    Rows and columns of ``early`` are permuted as a whole, since runs of one initialization, or one
    data order, are alike even if scores part-way do not predict the final ones.

    Args:
        early: [initializations, orders].
        final: [initializations, orders].
        rng: Draws permutations if there are many.

    Returns:
        Both NaN if either scores are all equal.
    """
    from scipy.stats import rankdata

    if np.ptp(early) == 0 or np.ptp(final) == 0:
        return math.nan, math.nan
    one, other = (
        (ranks - ranks.mean()) / ranks.std()
        for ranks in (rankdata(scores).reshape(scores.shape) for scores in (early, final))
    )
    permuted = [one[rows][:, columns] for rows, columns in _permutations(one.shape, rng)]
    found = np.array([float((each * other).mean()) for each in permuted])
    rho = float((one * other).mean())
    return min(1.0, max(-1.0, rho)), float((found >= rho - 1e-9).mean())


def _tried(early: Floats, final: Floats, threshold: float) -> tuple[float, float, float]:
    """Share of runs stopped, what that costs, and what stopping as many at random costs."""
    left = early >= threshold
    if not left.any():
        left = early == early.max()
    kept, best = int(left.sum()), final.max()
    ordered, runs = np.sort(final), len(final)
    # the greatest of `kept` runs, drawn without replacement, is the i-th smallest of all
    ways = [math.comb(place, kept - 1) for place in range(runs)]
    at_random = float(ordered @ np.array(ways)) / math.comb(runs, kept)
    return 1 - kept / runs, float(best - final[left].max()), max(0.0, float(best - at_random))


def _splits(runs: int, rng: np.random.Generator) -> Iterator[tuple[Integers, Integers]]:
    """Halves of the runs, and the rest."""
    size = runs // 2
    if math.comb(runs, size) <= MOST_SPLITS:
        chosen = [list(half) for half in itertools.combinations(range(runs), size)]
    else:
        chosen = [rng.permutation(runs)[:size].tolist() for _ in range(MOST_SPLITS)]
    for half in chosen:
        others = np.setdiff1d(np.arange(runs), half)
        yield np.array(half), others


def _permutations(
    shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[Integers, Integers]]:
    """Permutations of rows and of columns, that of neither among them."""
    rows, columns = shape
    if math.factorial(rows) * math.factorial(columns) <= MOST_PERMUTATIONS:
        every = itertools.product(
            itertools.permutations(range(rows)), itertools.permutations(range(columns))
        )
        yield from ((np.array(one), np.array(other)) for one, other in every)
        return
    yield np.arange(rows), np.arange(columns)
    for _ in range(MOST_PERMUTATIONS - 1):
        yield rng.permutation(rows), rng.permutation(columns)


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
    drawn_halves = halves(SPLITS, count_units(grid.units), rng)
    sides = np.concatenate([of_units[:, grid.units] for of_units in drawn_halves])
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
        return expected_of_chosen(one, other, draws) - other.mean()

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
