"""Intervals of scores, and tests of their differences, over examples and seeds (section 4.3)."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import Table
from darksecrets.core.stats import LEVEL, weighted
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.correlation import drop_rounding, is_constant, standardized
from darksecrets.core.stats.permutation import permutation_p, swapped_differences
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.core.stats.weighted import resampled
from darksecrets.paper.finetuning import tables

if TYPE_CHECKING:
    from darksecrets.core.data.coverage import Coverage

COMPARISONS = (
    ("finetuned", "pretrained"),
    ("finetuned", "frozen"),
    ("finetuned", "majority"),
    ("finetuned-from-normal", "finetuned"),
    ("finetuned-from-normal", "pretrained"),
    ("finetuned-from-normal", "majority"),
    ("frozen", "pretrained"),
)
"""Models compared with what: first − second."""


@dataclass(frozen=True)
class Resampling:
    """How scores are resampled.

    Attributes:
        resamples: Number of bootstrap samples, and of random permutations.
        seed: Seed of both.
    """

    resamples: int
    seed: int

    def generator(self, task: str) -> np.random.Generator:
        """Random numbers of a task, independent of those of other tasks."""
        return np.random.default_rng([self.seed, *task.encode()])


@dataclass(frozen=True)
class Outcomes:
    """What every model predicts on the validation split of a task.

    Attributes:
        task: The task, with the metrics to score.
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        predictions: [seeds, examples] by state, and [1, examples] by baseline.
        seeds: [seeds] of fine-tuning.
    """

    task: Task
    labels: Values
    units: Integers
    predictions: Mapping[str, Values]
    seeds: Sequence[int]

    def of(self, seeds: Collection[int]) -> Outcomes:
        """The outcomes of some of the seeds."""
        chosen = [seed for seed in self.seeds if seed in seeds]
        return replace(self, predictions=self.rows_of(chosen, self.predictions), seeds=chosen)

    def rows_of(self, seeds: Collection[int], rows: Mapping[str, Any]) -> dict[str, Any]:
        """Rows of some of the seeds, by state; those of baselines have no seed."""
        kept = [place for place, seed in enumerate(self.seeds) if seed in seeds]
        return {
            name: own if name in tables.BASELINE_NAMES else own[kept] for name, own in rows.items()
        }


def read(task: Task, models: Iterable[Path], baselines: Path) -> Outcomes:
    """Read the predictions on one task.

    Args:
        task: The task.
        models: Tables `tables.predictions`, one for every state and seed.
        baselines: Table `tables.BASELINE_PREDICTIONS`.

    Raises:
        InputError: Tables are of different examples, or states of different seeds.
    """
    declared = tables.predictions(task.num_labels)
    columns = ["task", "state", "seed", "idx", "label", "prediction"]
    parts = {str(path): declared.read(path, columns) for path in models}
    in_order = sorted(parts.values(), key=lambda part: int(part["seed"].iloc[0]))
    by_state = pd.concat(in_order).groupby("state", sort=False)
    seeds = {str(state): sorted(rows["seed"].unique().tolist()) for state, rows in by_state}
    if len({tuple(state_seeds) for state_seeds in seeds.values()}) > 1:
        found = ", ".join(f"{state} {state_seeds}" for state, state_seeds in seeds.items())
        raise InputError(
            f"{task.name}: the states have predictions of different seeds, {found}. "
            "Run again to make those that are missing."
        )
    table = tables.BASELINE_PREDICTIONS.read(baselines)
    parts |= {f"{baselines} ({name})": part for name, part in table.groupby("baseline")}
    first = require_same_examples(parts)
    kind: Any = np.float64 if task.is_regression else np.int64
    predictions = {
        str(name): rows["prediction"].to_numpy(dtype=kind).reshape(-1, len(first))
        for groups in (by_state, table.groupby("baseline"))
        for name, rows in groups
    }
    labels = first["label"].to_numpy(dtype=kind)
    units = table.drop_duplicates("idx")["text"].to_numpy()
    return Outcomes(task, labels, units, predictions, next(iter(seeds.values())))


def require_same_examples(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The first of some tables of predictions, which are all of the same examples.

    Args:
        parts: By the file that they were read from.

    Raises:
        InputError: One is of other examples.
    """
    path_of_first, first = next(iter(parts.items()))
    for path, part in parts.items():
        if part["idx"].tolist() != first["idx"].tolist():
            raise InputError(
                f"{path}: these predictions are of other examples than those in {path_of_first}. "
                "Remove both files and run again."
            )
    return first


def gain_metric(metrics: Sequence[str]) -> str:
    """The metric used for mean differences: accuracy, or the main one of a task without it.

    The paper does not name it; with accuracy, and Pearson's correlation for STS-B, its Table 1
    gives its 35.9 points (F1 for MRPC and QQP would give 48.0).
    """
    return "accuracy" if "accuracy" in metrics else metrics[0]


def compare(
    all_outcomes: Sequence[Outcomes], resampling: Resampling
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Mean scores, their differences on every task, and the means of these over the tasks.

    Means over the tasks are of the seeds that all tasks have.

    The p-value of a difference is the larger of two: that of its interval, which covers examples
    and seeds, and that of a paired permutation test over the examples, which also holds if few
    examples differ.

    Args:
        all_outcomes: Predictions of every task.
        resampling: How scores are resampled.

    Returns:
        Rows of `tables.SCORE_MEANS`, `tables.SCORE_DIFFERENCES` and `tables.MEAN_DIFFERENCES`.
    """
    scores = [
        _Scores(outcomes, metric, resampling)
        for outcomes in all_outcomes
        for metric in outcomes.task.metrics
    ]
    means, differences, averaged = [one.mean(name) for one in scores for name in one.values], [], []
    shared = set.intersection(*(set(outcomes.seeds) for outcomes in all_outcomes))
    to_average = [
        one.of(shared) for one in scores if one.metric == gain_metric(one.outcomes.task.metrics)
    ]
    for pair in COMPARISONS:
        compared = [one for one in scores if {*pair} <= set(one.values)]
        sides = dict(zip(("model", "reference"), pair, strict=True))
        differences += [
            {**one.identity, **sides, **one.difference(*pair).row(), "examples": one.examples}
            for one in compared
        ]
        if chosen := [one for one in to_average if {*pair} <= set(one.values)]:
            size = sum(one.examples for one in chosen)
            mean = _mean([one.difference(*pair) for one in chosen]).row()
            averaged.append({**sides, **mean, "tasks": len(chosen), "examples": size})
    return (
        pd.DataFrame(means)[list(tables.SCORE_MEANS.names)],
        _corrected(differences, tables.SCORE_DIFFERENCES),
        _corrected(averaged, tables.MEAN_DIFFERENCES),
    )


def learned(
    all_outcomes: Sequence[Outcomes],
    resampling: Resampling,
    coverages: Mapping[str, Coverage],
) -> pd.DataFrame:
    """Whether the fine-tuned models of every task have learned it, all seeds and each seed.

    This is about the models at hand, so the test is over examples: over two seeds that differ, no
    mean is significant, however well both have learned. Together they have if most of them have.

    Args:
        all_outcomes: Predictions of every task: the fine-tuned models' and the baselines'.
        resampling: How scores are resampled.
        coverages: By task, what the tokenizer leaves of the validation texts.

    Returns:
        Rows of `tables.LEARNED`.
    """
    rows = []
    for outcomes in all_outcomes:
        needed = {name: outcomes.predictions[name] for name in _JUDGED}
        metric = gain_metric(outcomes.task.metrics)
        every = _Scores(replace(outcomes, predictions=needed), metric, resampling)
        together, seeds = _judged(every), outcomes.seeds if len(outcomes.seeds) > 1 else []
        alone = [{**_judged(every.of([seed])), "seed": seed} for seed in seeds]
        if alone:
            together["learned"] &= sum(row["learned"] for row in alone) > len(alone) / 2
        read = coverages[outcomes.task.name]
        shares = {"texts_cut": read.share_cut, "words_unknown": read.share_unknown}
        rows += [{**row, **shares} for row in ({**together, "seed": None}, *alone)]
    return pd.DataFrame(rows).astype({"seed": "Int64"})[list(tables.LEARNED.names)]


_JUDGED = ("finetuned", *tables.BASELINE_NAMES)


def _judged(scores: _Scores) -> dict[str, Any]:
    """Columns of `tables.LEARNED`."""
    found = scores.difference(*_JUDGED[:2]).mean_of_models_at_hand().row()
    own, least, words = (PERCENT * float(scores.values[name].mean()) for name in _JUDGED)
    is_better = found["difference"] > 0 and found["p_value"] < LEVEL
    judged = {"p_value": found["p_value"], "learned": is_better and own >= words}
    return {**scores.identity, "score": own, "majority": least, "bag_of_words": words, **judged}


def _corrected(rows: Sequence[Mapping[str, Any]], declared: Table) -> pd.DataFrame:
    """The rows, with p-values corrected over all of them."""
    table = pd.DataFrame(rows)
    table["q_value"] = benjamini_hochberg(table["p_value"])
    return table[list(declared.names)]


@dataclass(frozen=True)
class _Difference:
    """A difference of two models' scores.

    Attributes:
        values: [seeds].
        of_examples: Variance of the mean over seeds that comes from the examples.
        swapped: [1 + permutations], see `darksecrets.core.stats.permutation.swapped_differences`.
        bounds: The lowest and highest possible difference.
    """

    values: Floats
    of_examples: float
    swapped: Floats
    bounds: tuple[float, float]

    def mean_of_models_at_hand(self) -> _Difference:
        """The mean over the seeds, as if there were no others."""
        return replace(self, values=self.values.mean(keepdims=True))

    def row(self) -> dict[str, Any]:
        """Columns of the tables that hold differences."""
        mean = mean_over_seeds(self.values, self.of_examples)
        low, high = feasible([mean.low, mean.high], *self.bounds)
        return {
            "difference": PERCENT * mean.mean,
            "ci_low": PERCENT * low,
            "ci_high": PERCENT * high,
            "p_value": max(float(mean.p), permutation_p(self.swapped)),
            "seeds": len(self.values),
        }


def _mean(of_tasks: Sequence[_Difference]) -> _Difference:
    """Mean over tasks, whose examples are independent; a seed draws one classifier for all."""
    return _Difference(
        np.mean([one.values for one in of_tasks], axis=0),
        sum(one.of_examples for one in of_tasks) / len(of_tasks) ** 2,
        np.mean([one.swapped for one in of_tasks], axis=0),
        (
            float(np.mean([one.bounds[0] for one in of_tasks])),
            float(np.mean([one.bounds[1] for one in of_tasks])),
        ),
    )


class _Scores:
    """Scores of all models in one metric.

    Attributes:
        values: [seeds] by model.
        drawn: [seeds, resamples] by model, on the same bootstrap samples.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        metric: str,
        resampling: Resampling,
        drawn: Mapping[str, Floats] | None = None,
    ) -> None:
        self.outcomes, self.metric, self.resampling = outcomes, metric, resampling
        #: First model − second, on the same examples and seeds.
        self.difference = functools.cache(self._difference)
        plain, labels = METRICS[metric].plain, outcomes.labels
        self.values = {
            name: np.array([plain(row, labels) for row in rows])
            for name, rows in outcomes.predictions.items()
        }
        self.drawn = self._draw() if drawn is None else drawn

    def _draw(self) -> dict[str, Floats]:
        labels, models = self.outcomes.labels, self.outcomes.predictions
        score = METRICS[self.metric].weighted(np.concatenate(list(models.values())), labels)
        rng = self.resampling.generator(self.outcomes.task.name)
        drawn = resampled(score, self.outcomes.units, self.resampling.resamples, rng)
        ends = np.cumsum([len(rows) for rows in models.values()])[:-1]
        return dict(zip(models, np.split(drawn.T, ends), strict=True))

    def of(self, seeds: Collection[int]) -> _Scores:
        """The scores of some of the seeds, on the same bootstrap samples."""
        if set(seeds) == set(self.outcomes.seeds):
            return self
        drawn = self.outcomes.rows_of(seeds, self.drawn)
        return _Scores(self.outcomes.of(seeds), self.metric, self.resampling, drawn)

    @property
    def identity(self) -> dict[str, str]:
        """Task and metric."""
        return {"task": self.outcomes.task.name, "metric": self.metric}

    @property
    def examples(self) -> int:
        """Number of examples."""
        return len(self.outcomes.labels)

    def mean(self, name: str) -> dict[str, Any]:
        """Row of `tables.SCORE_MEANS` of a model."""
        values = self.values[name]
        mean = mean_over_seeds(values, float(self.drawn[name].mean(axis=0).var(ddof=1)))
        low, high = feasible([mean.low, mean.high], *METRICS[self.metric].bounds)
        return {
            **self.identity,
            "model": name,
            "score": PERCENT * mean.mean,
            "ci_low": PERCENT * low,
            "ci_high": PERCENT * high,
            "sd": PERCENT * values.std(ddof=1) if len(values) > 1 else np.nan,
            "seeds": pd.NA if name in tables.BASELINE_NAMES else len(values),
            "examples": self.examples,
            "constant": float(is_constant(self.outcomes.predictions[name]).mean()),
        }

    def _difference(self, first: str, second: str) -> _Difference:
        models, labels = self.outcomes.predictions, self.outcomes.labels
        shape = (len(self.outcomes.seeds), len(labels))
        sides = (np.broadcast_to(models[name], shape) for name in (first, second))
        rng = self.resampling.generator(self.outcomes.task.name)
        score = exchangeable(self.metric, *sides, labels=labels)
        drawn = {name: self.drawn[name].mean(axis=0) for name in (first, second)}
        return _Difference(
            self.values[first] - self.values[second],
            float((drawn[first] - drawn[second]).var(ddof=1)),
            swapped_differences(score, self.outcomes.units, self.resampling.resamples, rng),
            METRICS[self.metric].bounds_of_differences,
        )


def exchangeable(
    metric: str, first: Values, second: Values, *, labels: Values
) -> weighted.Weighted:
    """Scores of sets that hold two models' predictions, so that weights can swap them.

    Predictions are standardized before they are swapped where the score is a correlation, because
    it does not depend on their scale; ranks are taken once, before.

    Args:
        metric: The score.
        first: [seeds, examples].
        second: [seeds, examples].
        labels: [examples].
    """
    from scipy.stats import rankdata

    gold = np.tile(labels, 2)
    if metric not in ("pearson", "spearman"):
        return METRICS[metric].weighted(np.concatenate([first, second], axis=1), gold)
    sides = [drop_rounding(first), drop_rounding(second)]
    if metric == "spearman":
        sides, gold = [rankdata(side, axis=-1) for side in sides], rankdata(gold)
    return weighted.pearson(np.concatenate([standardized(side) for side in sides], axis=1), gold)
