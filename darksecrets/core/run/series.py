"""Measures of heads as arrays, from the tables of a run and the lists of `<section>/shown.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL, PRETRAINED, RANDOM

Tables = Mapping[str, pd.DataFrame]

MEAN = "mean"
"""In place of a seed: the mean over seeds."""
NO_TASK = ""
"""In place of a task, for tables without tasks."""
CHOSEN = "chosen"
"""A column that series have if `Shown.chosen` says so: the number of what was chosen."""
_ORDER = (PRETRAINED, FINETUNED, FROM_NORMAL, RANDOM)


class Model(NamedTuple):
    """A model whose heads are measured: its state and seed; `MEAN`, or None without a seed."""

    state: str
    seed: int | str | None


@dataclass(frozen=True)
class Series:
    """A measure of every head of all models and tasks of a run.

    Attributes:
        shown: The declaration.
        kind: Its kind, if the declaration has several; empty for the main metric of every task.
        columns: Names of the table's columns: value, interval, controls and so on.
        tasks: Tasks; `NO_TASK` alone if the table has none.
        models: Models, see `Model`.
        values: [task, model, column, layer, head]; NaN where the table has no row.
        kinds: Kind of every task, where it depends on the task (the main metric).
        choices: What was chosen for a head, in words, by the number in the column `CHOSEN`.
    """

    shown: Shown
    kind: str
    columns: tuple[str, ...]
    tasks: tuple[str, ...]
    models: tuple[Model, ...]
    values: Floats
    kinds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Identity of the series in the page's address."""
        shown = self.shown
        fixed = map(str, shown.fixed.values())
        return ".".join(filter(None, (shown.table.name, shown.value, *fixed, self.kind)))

    @property
    def name(self) -> str:
        """What people read."""
        text = self.shown.name
        if not self.shown.kind:
            return text
        if not self.kind:
            return text.partition(":")[0]
        kind = self.shown.words.get(self.kind, self.kind)
        return text.format(kind=kind.removeprefix("the "))

    def of(self, task: str, model: Model, column: str) -> Floats | None:
        """[layer, head] one column of a model; None if there is none."""
        where = task if task in self.tasks else NO_TASK
        if where not in self.tasks or model not in self.models or column not in self.columns:
            return None
        place = self.tasks.index(where), self.models.index(model), self.columns.index(column)
        return self.values[place]

    def has(self, task: str, model: Model) -> bool:
        """Whether a model has a value: tasks may have different seeds."""
        values = self.of(task, model, self.shown.value)
        return values is not None and not bool(np.isnan(values).all())


def shape_of(tables: Tables) -> tuple[int, int]:
    """Numbers of layers and of heads per layer, from the tables.

    Args:
        tables: Tables with rows of heads, by name.
    """
    shapes = [
        (int(frame["layer"].max()), int(frame["head"].max()))
        for frame in tables.values()
        if {"layer", "head"} <= set(frame.columns) and len(frame)
    ]
    return max(layers for layers, _ in shapes), max(heads for _, heads in shapes)


def find_series(
    shown: Shown, tables: Tables, metrics: Mapping[str, Sequence[str]], shape: tuple[int, int]
) -> list[Series]:
    """All series of a measure, one for each of its kinds; none if the run lacks its table.

    Args:
        shown: The measure.
        tables: The run's tables by name.
        metrics: Metrics of every task of the run, the main one first.
        shape: Numbers of layers and of heads per layer.
    """
    frame = tables.get(shown.table.name)
    if frame is None or frame.empty:
        return []
    frame = _add_means(shown, frame, tables, shape)
    for column, values in shown.where.items():
        frame = frame[frame[column].isin(values if isinstance(values, tuple) else [values])]
    if frame.empty:
        return []
    if not shown.kind:
        return [_series(shown, "", frame, metrics, shape)]
    frame = _name_kinds(shown, frame)
    declared = shown.column(shown.kind).values or tuple(frame[shown.kind].unique())
    chosen = shown.where.get(shown.kind)
    order = chosen if isinstance(chosen, tuple) else declared
    found = set(frame[shown.kind])
    kinds = [kind for kind in order if kind in found]
    parts = [
        _series(shown, kind, frame[frame[shown.kind] == kind], metrics, shape) for kind in kinds
    ]
    if shown.kind == "metric":
        return [_main_metric_rows(shown, frame, metrics, shape), *(parts if len(kinds) > 1 else ())]
    return parts


def _name_kinds(shown: Shown, frame: pd.DataFrame) -> pd.DataFrame:
    """The table with kinds that people can read, and keys can have: of numbers, their digits."""
    if shown.column(shown.kind).kind == "text":
        return frame
    ordered = frame.sort_values(shown.kind, kind="stable")
    return ordered.assign(**{shown.kind: ordered[shown.kind].map("{:g}".format)})


def _add_means(
    shown: Shown, frame: pd.DataFrame, tables: Tables, shape: tuple[int, int]
) -> pd.DataFrame:
    """The table with rows of the mean over seeds, from `over_seeds` if the run has it."""
    frame = _located(frame, shape)
    means = tables.get(shown.over_seeds.name) if shown.over_seeds else None
    if means is None or means.empty:  # with one seed, it has no rows
        return frame
    means = _located(means[means["kind"] == "head"].drop(columns="kind"), shape)
    return pd.concat([frame, means.assign(seed=MEAN)], ignore_index=True)


def _located(frame: pd.DataFrame, shape: tuple[int, int]) -> pd.DataFrame:
    """The rows of heads, with all columns that locate them: task, state, seed and layer."""
    missing: dict[str, Any] = {}
    frame = frame.dropna(subset=[name for name in ("layer", "head") if name in frame])
    if "task" not in frame:
        missing["task"] = NO_TASK
    if "state" not in frame:
        missing["state"] = FINETUNED
    if "layer" not in frame:
        missing["layer"] = shape[0]
    seeds = frame["seed"] if "seed" in frame else [None] * len(frame)
    missing["seed"] = pd.Series(
        [None if pd.isna(seed) else int(seed) for seed in seeds], index=frame.index, dtype=object
    )
    return frame.assign(**missing)


def _columns(shown: Shown, frame: pd.DataFrame) -> tuple[str, ...]:
    """Columns of a series, those that the page can use."""
    named = [shown.value, *shown.ends(shown.value), *(c.name for c in shown.controls)]
    named += [*shown.beside, shown.test, shown.over, *shown.ends(shown.over), CHOSEN]
    return tuple(name for name in named if name and name in frame)


def _series(
    shown: Shown,
    kind: str,
    frame: pd.DataFrame,
    metrics: Mapping[str, Sequence[str]],
    shape: tuple[int, int],
) -> Series:
    """The rows of one kind, as an array."""
    frame, choices = _chosen(shown, frame)
    if shown.tested:
        complete = [frame[name].isin(values) for name, values in shown.tested.items()]
        frame = frame.assign(**{shown.test: frame[shown.test].where(np.all(complete, axis=0))})
    columns = _columns(shown, frame)
    tasks = tuple(task for task in (*metrics, NO_TASK) if task in set(frame["task"]))
    models = _models(frame)
    values = np.full((len(tasks), len(models), len(columns), *shape), np.nan)
    known = frame[frame["task"].isin(tasks)]
    places = (
        known["task"].map({task: i for i, task in enumerate(tasks)}).to_numpy(),
        [models.index(Model(*pair)) for pair in zip(known["state"], known["seed"], strict=True)],
    )
    heads = known["layer"].to_numpy(np.int64) - 1, known["head"].to_numpy(np.int64) - 1
    for i, column in enumerate(columns):
        values[*places, i, *heads] = known[column].to_numpy(np.float64, na_value=np.nan)
    return Series(shown, kind, columns, tasks, models, values, choices=choices)


def _chosen(shown: Shown, frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row for every head, if several are to be chosen from; and what was chosen, in words.

    The same is chosen for all seeds of a state.
    """
    if not shown.chosen:
        return frame, ()
    model, place, chosen = ["task", "state"], ["layer", "head"], [*shown.chosen]
    means = frame.groupby([*model, *chosen, *place], sort=False)[shown.chosen_by].mean()
    rest = means - means.groupby([*model, *chosen], sort=False).transform("mean")
    best = rest.reset_index().sort_values(shown.chosen_by, kind="stable", ascending=False)
    best = best.drop_duplicates([*model, *place])[[*model, *place, *chosen]]
    found = frame.merge(best, on=list(best.columns))
    words = found[chosen].astype(str).apply(lambda column: column.replace(dict(shown.words)))
    numbers, choices = pd.factorize(words.agg(", ".join, axis=1), sort=True)
    return found.assign(**{CHOSEN: numbers}), tuple(choices)


def _models(frame: pd.DataFrame) -> tuple[Model, ...]:
    """Models of a table in a fixed order, the mean after its seeds."""
    pairs = {Model(*pair) for pair in zip(frame["state"], frame["seed"], strict=True)}

    def place(model: Model) -> tuple[int, bool, int]:
        number = model.seed if isinstance(model.seed, int) else -1
        return _ORDER.index(model.state), model.seed == MEAN, number

    return tuple(sorted(pairs, key=place))


def _main_metric_rows(
    shown: Shown, frame: pd.DataFrame, metrics: Mapping[str, Sequence[str]], shape: tuple[int, int]
) -> Series:
    """The rows of every task's main metric."""
    main = {task: names[0] for task, names in metrics.items() if names}
    rows = frame[frame["metric"] == frame["task"].map(main)]
    series = _series(shown, "", rows, metrics, shape)
    return Series(shown, "", series.columns, series.tasks, series.models, series.values, main)


def average(series: Series, task: str, state: str) -> dict[str, Floats]:
    """Columns of a state's mean over seeds, [layer, head] each.

    Of the mean that a table gives, if there is one. Otherwise means of the values and controls,
    without interval; and the largest p-value of the seeds.

    Args:
        series: The measure.
        task: The task.
        state: The state.
    """
    filled = [model for model in series.models if model.state == state and series.has(task, model)]
    given = Model(state, MEAN)
    models = [given] if given in filled else filled
    found: dict[str, Floats] = {}
    ends = {*series.shown.ends(series.shown.value), *series.shown.ends(series.shown.over)}
    for column in series.columns:
        stacked = [series.of(task, model, column) for model in models]
        known = [values for values in stacked if values is not None]
        if not known or (column in ends and len(known) > 1):
            continue
        pick = np.max if column == series.shown.test else np.mean
        found[column] = pick(known, axis=0)
    return found
