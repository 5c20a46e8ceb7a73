"""Which importance can be trusted: agreement with disabling heads and MLPs (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.importance.tables import IMPORTANCE_AGREEMENT, LOSS, MLPS, ORDER, SCORE
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, INK, MARK, check_columns, wrapped
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    LOSS: {"color": MARK, "marker": "o"},
    SCORE: {"color": "#D55E00", "marker": "^", "markerfacecolor": "white"},
    ORDER: {"color": GREY, "marker": "s"},
}
_NAMES = {
    LOSS: "loss of the same examples",
    SCORE: "score on the validation set",
    ORDER: "itself, examples in another order",
}
_APART = 0.26  # rows between two references of one definition
_PLACE = ["part", "mode", "definition"]
_COLUMNS = ["task", *_PLACE, "reference", "spearman", "ci_low", "ci_high"]


def importance_agreement(table: pd.DataFrame, tasks: list[str], run_label: str) -> Figure:
    """Draw, per task, the rank correlation of each definition with each reference.

    Dots and intervals are averaged over seeds.

    Args:
        table: `importance_agreement.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    check_columns(table, _COLUMNS, "importance_agreement.csv")
    tables = {task: table[table["task"] == task] for task in tasks}
    if missing := [task for task, rows in tables.items() if rows.empty]:
        raise InputError(
            f"The table importance_agreement.csv has no rows for {', '.join(missing)}. Make the "
            "table again."
        )
    rows = len(table[_PLACE].drop_duplicates())
    return panel_figure(*(tables, _panel, _legend, run_label), height=lambda _: 0.4 + 0.16 * rows)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return importance_agreement(sources.table(IMPORTANCE_AGREEMENT), sources.tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    axes = figure.add_subplot(slot, label=task)
    axes.axvline(0, color=INK, linewidth=0.5)
    places = rows[_PLACE].drop_duplicates().itertuples(index=False, name=None)
    numbers = {place: -number for number, place in enumerate(places)}
    means = rows.groupby([*_PLACE, "reference"], sort=False)[_COLUMNS[-3:]].mean()
    for row in means.reset_index().to_dict("records"):
        _dot(axes, numbers[tuple(row[name] for name in _PLACE)], row)
    named = [f"{name} ({'MLPs' if part == MLPS else mode})" for part, mode, name in numbers]
    axes.set_yticks(list(numbers.values()), named if slot.is_first_col() else [""] * len(named))
    axes.set_ylim(min(numbers.values()) - 0.6, 0.6)
    axes.set_xlim(-1, 1)
    axes.set_title(wrapped(task, 1.5))
    if slot.is_last_row():
        axes.set_xlabel("Rank correlation")


def _dot(axes: Axes, place: int, row: Mapping[Any, Any]) -> None:
    height = place - _APART * (list(_LOOKS).index(row["reference"]) - 1)
    look = _LOOKS[row["reference"]]
    axes.plot([row["ci_low"], row["ci_high"]], [height] * 2, color=look["color"], linewidth=0.8)
    axes.plot([row["spearman"]], [height], linestyle="none", **look)


def _legend(figure: Figure, columns: int) -> None:
    handles = [Line2D([], [], linestyle="none", **look) for look in _LOOKS.values()]
    figure.legend(
        handles,
        [_NAMES[name] for name in _LOOKS],
        loc="outside upper center",
        ncols=1 if columns == 1 else 3,
        title="Do heads, or MLPs, rank as by what disabling them does to the …",
        title_fontsize=6,
        alignment="left",
    )
