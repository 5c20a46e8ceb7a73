"""Which claims about what heads attend to hold by each measure of attention."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap

from darksecrets.claims.answers import Answer
from darksecrets.claims.page import number
from darksecrets.claims.tables import CLAIMS_BY_MEASURE, CONTRADICTED
from darksecrets.plotting import kit
from darksecrets.run.columns import MEASURE, MEASURES

LOOKS: Mapping[str, tuple[str, str]] = {
    Answer.YES: ("✓", kit.PALE_BLUE),
    Answer.NO: ("✗", kit.PALE_ORANGE),
    Answer.OPEN: ("?", kit.PALE_GREY),
    Answer.SET_UP: ("–", "white"),
    Answer.NOT_APPLICABLE: ("–", "white"),
}
"""Sign and colour of every answer."""
NAMES = {"effective": "effective attention"}
_TEXT, _ROW = 2.6, 0.36  # inches


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a row for every claim and a column for every measure, with sign and number."""
    table = sources.table(CLAIMS_BY_MEASURE)
    measures = [name for name in MEASURES if (table[MEASURE.name] == name).any()]
    keys = {key: row for row, key in enumerate(zip(table["paper"], table["id"], strict=True))}
    claims = [kit.pick(table, paper=paper, id=name) for paper, name in keys]
    shape = len(claims), len(measures)
    answers, texts = np.full(shape, np.nan), np.full(shape, "", dtype=object)
    for row, rows in enumerate(claims):
        for one in rows.to_dict("records"):
            place = row, measures.index(one[MEASURE.name])
            answers[place], texts[place] = list(LOOKS).index(one["here"]), _written(one)

    def answer(axes: kit.Axes, _: str) -> None:
        names = [NAMES.get(name, name) for name in measures]
        values = pd.DataFrame(answers, index=list(map(_claim, claims)), columns=names)
        colours = ListedColormap([colour for _, colour in LOOKS.values()])
        kit.matrix(axes, values, colours, len(LOOKS) - 1, 0, texts=texts)
        axes.xaxis.tick_top()
        for label, rows in zip(axes.get_yticklabels(), claims, strict=True):
            strong = rows["agreement"].iloc[0] == CONTRADICTED
            label.set(fontweight="bold" if strong else "normal", linespacing=1, ha="left")
        axes.tick_params(axis="y", pad=_TEXT * 72, length=0)

    panel = kit.Panel(answer, "claims", x=None, height=_ROW * len(claims), fixed=True)
    legend: dict[str, Any] = {
        f"{sign} {name}": colour
        for name, (sign, colour) in LOOKS.items()
        if (table["here"] == name).any()
    }
    headline = "Whether claims hold by each measure of attention (bold: contradicted)"
    return kit.page(sources, headline, kit.Grid([""], panel), legend=legend, width=kit.PAGE)


def _claim(rows: pd.DataFrame) -> str:
    """Number and words of a claim."""
    one = rows.iloc[0]
    said = f"{one['id']}  {one['claim']}" + (f" ({one['unit']})" if one["unit"] else "")
    return kit.wrapped(said, _TEXT)


def _written(one: Mapping[Hashable, Any]) -> str:
    """The answer of one measure: its sign, and the number that decides."""
    value, _, ends = number(one).partition(" ")
    return f"{LOOKS[one['here']][0]} {value}\n{ends}".strip()
