"""Numbers of whole models on the page: small tables, by task and seed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.run.series import MEAN, Tables
from darksecrets.run.shown import ModelNumbers, plain

_DIGITS = 5
"""Significant digits on the page, which shows three."""


def content(
    models: Sequence[ModelNumbers],
    tables: Tables,
    metrics: Mapping[str, Sequence[str]],
    figures: Mapping[str, Collection[str]],
) -> list[dict[str, Any]]:
    """Every small table of the run, those of a task in the order of the declarations.

    Args:
        models: The declarations.
        tables: The run's tables by name; of those that it lacks, nothing is shown.
        metrics: Metrics of every task of the run, the main one first.
        figures: Tables that each figure shows; figures are paths beside the page.
    """
    found: list[dict[str, Any]] = []
    for task, (metric, *_) in metrics.items():
        for shown in models:
            drawn = [path for path, read in figures.items() if shown.table.name in read]
            for seed, frame in _by_seed(shown, tables, task):
                for kind, rows in _by_kind(shown, _chosen(shown, frame, metric)):
                    small = _small(shown, kind, rows)
                    found.append({"task": task, "seed": seed, **small, "figures": drawn})
    return found


def cards(
    content: Sequence[Mapping[str, Any]], models: Sequence[ModelNumbers]
) -> dict[tuple[str, str], set[str]]:
    """Tables that each card shows, by its task and its name.

    Args:
        content: What `content` returned.
        models: The declarations.
    """
    tables: dict[str, set[str]] = {}
    for shown in models:
        of = tables.setdefault(shown.group, set())
        of |= {each.name for each in (shown.table, shown.over_seeds) if each}
    return {(small["task"], small["group"]): tables[small["group"]] for small in content}


def _by_seed(shown: ModelNumbers, tables: Tables, task: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """A task's rows by seed, and their means; without a seed, all rows."""
    frame = _of_task(tables.get(shown.table.name), task)
    means = _of_task(tables.get(shown.over_seeds.name) if shown.over_seeds else None, task)
    if "seed" not in shown.table.names or "seed" in shown.rows:
        yield "", frame
        return
    seeds = sorted(frame["seed"].unique()) if len(frame) else []
    if len(means) and len(seeds) == 1:
        # The mean over one seed has its numbers, and those that compare models of the same seed.
        yield str(seeds[0]), means
        return
    for seed in seeds:
        yield str(seed), frame[frame["seed"] == seed]
    yield MEAN, means


def _of_task(frame: pd.DataFrame | None, task: str) -> pd.DataFrame:
    return pd.DataFrame() if frame is None else frame[frame["task"] == task]


def _chosen(shown: ModelNumbers, frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows that are shown: of the main metric, and as the declaration says."""
    if "metric" in frame and "metric" not in (*shown.rows, shown.across, *shown.where):
        frame = frame[frame["metric"] == metric]
    for column, values in shown.where.items():
        if column in frame:
            frame = frame[frame[column].isin(values if isinstance(values, tuple) else [values])]
    if shown.last and len(frame):
        frame = frame[frame[shown.last] == frame[shown.last].max()]
    return frame


def _by_kind(shown: ModelNumbers, frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    if not shown.kind or frame.empty:
        if len(frame):
            yield "", frame
        return
    for kind, rows in frame.groupby(shown.kind, sort=False):
        yield str(kind), rows


def _small(shown: ModelNumbers, kind: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A small table as the page needs it: names, and cells of a value with its interval."""
    labels = [tuple(_word(shown, part) for part in row) for row in _keys(frame, shown.rows)]
    columns = _columns(shown, frame)
    cells: dict[tuple[Any, ...], list[float | None]] = {}
    for label, row in zip(labels, frame.to_dict("records"), strict=True):
        for value in shown.values:
            numbers = [_number(row[name]) for name in (value, *shown.ends(value))]
            across = row[shown.across] if shown.across else value
            cells[label, across] = numbers[:1] if None in numbers else numbers
    rows = list(dict.fromkeys(labels))
    # What all rows are about is said once, above the table.
    same = [k for k, name in enumerate(shown.rows) if _is_same(shown, frame, name)]
    parts = [k for k in range(len(shown.rows)) if k not in same]
    return {
        "group": shown.group,
        "name": shown.name.format(kind=_word(shown, kind)),
        "about": [rows[0][k] for k in same],
        "meaning": shown.meaning,
        "labels": [_word(shown, shown.rows[k]) for k in parts],
        "rows": [[label[k] for k in parts] for label in rows],
        "columns": list(columns.values()),
        "cells": [[cells.get((label, name), [None]) for name in columns] for label in rows],
        "marks": _marks(shown, frame),
    }


def _is_same(shown: ModelNumbers, frame: pd.DataFrame, name: str) -> bool:
    """Whether a column of text, one of several that rows are named by, says the same of all."""
    several, text = len(shown.rows) > 1, shown.column(name).kind == "text"
    return several and text and frame[name].nunique() == 1


def _keys(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(frame[name] for name in names), strict=True)


def _columns(shown: ModelNumbers, frame: pd.DataFrame) -> dict[Any, dict[str, str]]:
    """The columns by what they are about: a value of another column, or a column of the table."""
    if shown.across:
        return {name: {"name": _word(shown, name)} for name in frame[shown.across].unique()}
    return {
        name: {"name": _word(shown, name), "meaning": _meaning(shown, name)}
        for name in shown.values
    }


def _meaning(shown: ModelNumbers, name: str) -> str:
    """What a column is, in the words of the table's declaration."""
    column = shown.column(name)
    return plain(f"{column.meaning} ({column.unit})" if column.unit else column.meaning)


def _word(shown: ModelNumbers, name: object) -> str:
    """What a value, or a column, is called; empty if there is none."""
    if name is pd.NA:
        return ""
    if isinstance(name, float):
        return f"{name:g}".replace("-", "−")
    return shown.words.get(str(name), str(name).replace("_", " "))


def _number(value: Any) -> float | None:  # noqa: ANN401 - a number of a table, or none
    """A number as short as the page needs it; None if there is none."""
    number = np.nan if value is pd.NA else float(value)
    return float(f"{number:.{_DIGITS}g}") if np.isfinite(number) else None


def _marks(shown: ModelNumbers, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Row and column of the places with a name, for those that are nodes of the map."""
    if not shown.marks:
        return []
    columns = frame[shown.across].drop_duplicates().to_numpy(dtype=np.float64)
    rows = frame[shown.rows[0]].drop_duplicates().to_numpy(dtype=np.float64)
    found = []
    for (x, y), name in shown.marks.items():
        column, row = np.flatnonzero(np.isclose(columns, x)), np.flatnonzero(np.isclose(rows, y))
        if len(column) and len(row):
            found.append({"name": name, "row": int(row[0]), "column": int(column[0])})
    return found
