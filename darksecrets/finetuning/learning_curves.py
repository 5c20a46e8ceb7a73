"""Learning curves of the fine-tuned models behind Table 1 (section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.data.metrics import METRICS
from darksecrets.finetuning.tables import BASELINES, LEARNING_CURVES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    INK,
    STATES,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    width_for,
    wrapped,
)
from darksecrets.run.errors import InputError

_MAJORITY: dict[str, Any] = {"color": INK, "linewidth": 0.8, "linestyle": "--"}
_COLUMNS = ["task", "state", "seed", "epoch", "split", "quantity", "value"]


def learning_curves(
    table: pd.DataFrame, tasks: Mapping[str, str], run_label: str, *, baselines: pd.DataFrame
) -> Figure:
    """Draw training loss above the validation score over epochs, for every task.

    One colour per state, one thin line per seed and, with several seeds, their mean as a thick
    line. A dashed line is the score of a model that always predicts the most frequent label.

    Args:
        table: Columns ``task``, ``state``, ``seed``, ``epoch``, ``split`` (`train`,
            `validation`), ``quantity`` (`loss` or a metric) and ``value``.
        tasks: The tasks to draw, in this order, with their main metric.
        run_label: The run, its model and its data in a few words, for the small print.
        baselines: The table `BASELINES`. A task whose majority has no score gets no line.

    Raises:
        InputError: When columns, or the curves of a task, are missing.
    """
    check_columns(table, _COLUMNS, "learning_curves.csv")
    check_columns(baselines, ["task", "baseline", "metric", "score"], "baselines.csv")
    rows, columns = blocks(len(tasks))
    with style():
        figure = new_figure(width_for(columns), 2.3 * rows + 0.4)
        slots = figure.add_gridspec(2 * rows, columns)
        for index, (task, metric) in enumerate(tasks.items()):
            row, column = 2 * (index // columns), index % columns
            loss = figure.add_subplot(slots[row, column], label=f"{task} loss")
            score = figure.add_subplot(
                slots[row + 1, column], sharex=loss, label=f"{task} {metric}"
            )
            _curves(loss, _select(table, task, "train", "loss"))
            _curves(score, _select(table, task, "validation", metric), marker="o")
            _majority(score, baselines, task, metric)
            loss.set(
                title=wrapped(task, figure.get_figwidth() / columns),
                ylabel="Training loss" if column == 0 else "",
            )
            loss.set_ylim(bottom=0)
            loss.set_xlim(left=0)
            loss.set_xlabel("")
            loss.tick_params(labelbottom=False)
            score.set(xlabel="Epoch", ylabel=f"Validation {METRICS[metric].title}")
            score.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        states = [state for state in STATES if state in set(table["state"])]
        lines = [Line2D([], [], color=STATES[state]) for state in states]
        lines.append(Line2D([], [], **_MAJORITY))
        names = [*states, "most frequent label"]
        figure.legend(lines, names, loc="outside upper center", ncols=2 if columns < 3 else 3)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return learning_curves(
        sources.table(LEARNING_CURVES),
        sources.main_metrics,
        sources.label,
        baselines=sources.table(BASELINES, "baselines"),
    )


def _select(table: pd.DataFrame, task: str, split: str, quantity: str) -> pd.DataFrame:
    rows = table[
        (table["task"] == task) & (table["split"] == split) & (table["quantity"] == quantity)
    ]
    if rows.empty:
        raise InputError(
            f"The table learning_curves.csv has no {split} {quantity} of {task}."
            " Make the table again."
        )
    return rows


def _majority(axes: Axes, baselines: pd.DataFrame, task: str, metric: str) -> None:
    """Draw the score of the most frequent label on the validation set."""
    chosen = (baselines["task"] == task) & (baselines["baseline"] == "majority")
    for score in baselines.loc[chosen & (baselines["metric"] == metric), "score"].dropna():
        axes.axhline(score, label="majority", zorder=1, **_MAJORITY)


def _curves(axes: Axes, rows: pd.DataFrame, marker: str | None = None) -> None:
    """Draw a thin line per state and seed, and a thick one for the mean of several seeds."""
    draw = partial(
        sns.lineplot,
        data=rows,
        x="epoch",
        y="value",
        hue="state",
        palette=STATES,
        legend=False,
        ax=axes,
    )
    several = rows["seed"].nunique() > 1
    thin = {"linewidth": 0.5, "alpha": 0.5} if several else {"marker": marker}
    draw(units="seed", estimator=None, markeredgewidth=0, **thin)
    if several:
        draw(errorbar=None, marker=marker, markeredgewidth=0)
