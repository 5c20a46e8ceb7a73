"""Does the interval of the best head's gain cover the truth, and is it as narrow as it can be?

    python benchmarks/best_gain.py [--draws 400] [--splits 200] [--examples 100 400]

Sweeps are drawn from a known truth: no head matters, one does, some do, many help or hurt, the
effects of all are correlated; likewise for layers. The interval of every sweep is compared with
the mean true gain of the heads that its halves chose, and its width with the spread of the estimate
around it. The percentiles over halves, which the interval replaced, stand beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from adversarial import sweeps

from darksecrets.ablation.scores import weighted
from darksecrets.stats.resampling import halves, interval
from darksecrets.stats.selection import best_gain

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.int64]

METRICS = {
    "accuracy": sweeps.CLASSES,
    "f1": sweeps.CLASSES,
    "pearson": sweeps.REGRESSION,
}
EFFECT = {sweeps.CLASSES: 0.25, sweeps.REGRESSION: 0.12}
HEADS, LAYERS = np.arange(1, 145), np.arange(145, 157)  # numbers of their sets
NORMAL = 3.92  # width of a 95 % interval in standard deviations


def truths(effect: float) -> Iterator[tuple[str, float, dict[int, float], Sets]]:
    """Name, common variance, effects of sets, and the sets among which the best is looked for."""
    yield "no head matters", 0.0, {}, HEADS
    yield "no head matters, all change alike", 0.5, {}, HEADS
    yield "one head helps", 0.0, {7: effect}, HEADS
    yield "one head helps a little", 0.0, {7: effect / 3}, HEADS
    yield "five heads help", 0.0, dict.fromkeys(range(3, 8), effect), HEADS
    yield "many help or hurt", 0.0, {k: effect * (k % 13 - 6) / 6 for k in HEADS}, HEADS
    yield "no layer matters", 0.0, {}, LAYERS
    yield "one layer helps", 0.0, {147: effect}, LAYERS


def percentiles(ones: Floats, others: Floats) -> Floats:
    """The interval that was used before: percentiles of the gains over all halves."""
    gains = []
    for choosing, scoring in ((ones, others), (others, ones)):
        best = choosing == choosing.max(axis=1, keepdims=True)
        gains.append((best * scoring).sum(axis=1) / best.sum(axis=1))
    return interval(np.concatenate(gains))


def trial(known: sweeps.Known, metric: str, sets: Sets, splits: int, seed: int) -> list[float]:
    """One sweep: estimate and interval, its truth, and the interval of percentiles."""
    score, rng = weighted(known.result, metric), np.random.default_rng(seed)
    masks = list(halves(splits, len(known.result.idx), rng))
    scores = (np.concatenate([score(m == value) for m in masks]) for value in (1, 0))
    ones, others = (of[:, sets] - of[:, :1] for of in scores)
    gain = best_gain(ones, others)
    truth = float(gain.chosen @ known.true[metric][sets])
    return [gain.mean, gain.low, gain.high, truth, *percentiles(ones, others)]


def simulate(metric: str, examples: int, draws: int, splits: int) -> Iterator[dict[str, Any]]:
    """A row per truth: bias and coverage, widths over the spread, how often a gain is found."""
    task = METRICS[metric]
    for number, (name, common, effects, sets) in enumerate(truths(EFFECT[task])):
        rng, shape = np.random.default_rng(number), sweeps.Shape(examples, common=common)
        drawn = (sweeps.sweep(task, rng, shape, effects) for _ in range(draws))
        rows = [trial(known, metric, sets, splits, seed) for seed, known in enumerate(drawn)]
        mean, low, high, truth, low_before, high_before = 100 * np.array(rows).T
        spread = (mean - truth).std()
        yield {
            "metric": metric,
            "examples": examples,
            "truth": name,
            "true gain": truth.mean(),
            "bias": (mean - truth).mean(),
            "spread": spread,
            "covers %": 100 * ((low <= truth) & (truth <= high)).mean(),
            "width / spread": (high - low).mean() / NORMAL / spread,
            "above 0 %": 100 * (low > 0).mean(),
            "percentiles: covers %": 100 * ((low_before <= truth) & (truth <= high_before)).mean(),
            "percentiles: width / spread": (high_before - low_before).mean() / NORMAL / spread,
            "percentiles: above 0 %": 100 * (low_before > 0).mean(),
        }


def table(metrics: Sequence[str], examples: Sequence[int], draws: int, splits: int) -> pd.DataFrame:
    """All simulations."""
    rows = [
        row
        for metric in metrics
        for count in examples
        for row in simulate(metric, count, draws, splits)
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Read the command line, run everything, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--examples", type=int, nargs="+", default=[100, 400])
    options = parser.parse_args()
    found = table([*METRICS], options.examples, options.draws, options.splits)
    notes = (
        f"{options.draws} sweeps of 144 heads and 12 layers per row, "
        f"{options.splits} splits into halves; points are x 100. *true gain*: mean true gain of "
        "the heads that the halves choose. *spread*: standard deviation of the estimate around it. "
        "*covers*: how often the 95 % interval does. *width / spread*: width of the interval over "
        "3.92 spreads, the narrowest normal one. *above 0*: share of the intervals above 0, at "
        "most 2.5 % where no head or layer matters. *percentiles*: the same of the percentiles "
        "over halves, the interval used before. The Monte-Carlo error of 95 % is "
        f"{100 * np.sqrt(0.05 * 0.95 / options.draws):.1f}."
    )
    rounded = found.round({name: 2 for name in found.columns if found[name].dtype == np.float64})
    write_results("best_gain", "The interval of the best head's gain", rounded, describe(), notes)


if __name__ == "__main__":
    main()
