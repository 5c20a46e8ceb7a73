"""Which claims about what heads attend to hold by each measure of attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.claims.answers import Answer
from darksecrets.claims.page import number
from darksecrets.claims.tables import CLAIMS_BY_MEASURE, CONTRADICTED
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    INK,
    PAGE,
    SMALL,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.columns import MEASURE, MEASURES
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS: Mapping[str, tuple[str, str]] = {
    Answer.YES: ("✓", "#9ECAE1"),
    Answer.NO: ("✗", "#F5B27A"),
    Answer.OPEN: ("?", "#EDEDED"),
}
"""Sign and colour of every answer."""
NAMES = {"effective": "effective attention"}
_TEXT, _CELL, _ROW = 2.5, 1.25, 0.29  # inches


def claims_by_measure(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw a row for every claim and a column for every measure, with sign and number.

    Args:
        table: The table ``claims_by_measure.csv``.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: Columns are missing, or there are no claims.
    """
    check_columns(table, CLAIMS_BY_MEASURE.names, "claims_by_measure.csv")
    if table.empty:
        raise InputError("claims_by_measure.csv has no claims. Make the table again.")
    measures = [name for name in MEASURES if (table[MEASURE.name] == name).any()]
    claims = list(table.groupby(["paper", "id"], sort=False))
    with style():
        figure = new_figure(PAGE, 0.75 + _ROW * len(claims))
        axes = figure.add_subplot(label="claims")
        for row, (_, rows) in enumerate(claims):
            _claim(axes, row, rows)
            for _, one in rows.iterrows():
                _cell(axes, row, measures.index(one[MEASURE.name]), dict(one))
        for column, name in enumerate(measures):
            text = NAMES.get(name, name)
            axes.text(column * _CELL + _CELL / 2, -0.7, text, ha="center", va="center")
        axes.set(xlim=(-_TEXT, _CELL * len(measures)), ylim=(len(claims) - 0.4, -1.1))
        axes.set_axis_off()
        signs = "   ".join(f"{sign} {answer}" for answer, (sign, _) in LOOKS.items())
        label_run(figure, f"{signs}   bold: contradicted · {run_label}")
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return claims_by_measure(sources.table(CLAIMS_BY_MEASURE), sources.label)


def _claim(axes: Axes, row: int, rows: pd.DataFrame) -> None:
    """Number and words of a claim, bold if measures contradict each other."""
    one = rows.iloc[0]
    weight = "bold" if one["agreement"] == CONTRADICTED else "normal"
    look: dict[str, Any] = {"fontsize": SMALL, "va": "center", "color": INK, "weight": weight}
    axes.text(-_TEXT, row, one["id"], **look)
    said = f"{one['claim']} ({one['unit']})" if one["unit"] else one["claim"]
    axes.text(-_TEXT + 0.22, row, wrapped(said, 1.2 * (_TEXT - 0.2)), linespacing=1, **look)


def _cell(axes: Axes, row: int, column: int, one: Mapping[Any, Any]) -> None:
    """The answer of one measure: its colour, its sign, and the number that decides."""
    sign, colour = LOOKS[one["here"]]
    left = column * _CELL
    axes.fill_between([left + 0.02, left + _CELL - 0.02], row - 0.45, row + 0.45, color=colour)
    look: dict[str, Any] = {"fontsize": SMALL, "va": "center", "color": INK}
    axes.text(left + 0.1, row, sign, ha="center", **look)
    value, _, ends = number(one).partition(" ")
    axes.text(left + _CELL / 2 + 0.05, row, f"{value}\n{ends}".strip(), ha="center", **look)
