"""Figure 2: shares of the five patterns per task, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM, STATES_OF_FIGURES
from darksecrets.paper.patterns.classes import LENIENT, STRICT
from darksecrets.paper.patterns.shares import OTHERS
from darksecrets.paper.patterns.tables import PATTERN_SHARES

PAPER_RANGE = (0.32, 0.61)
"""Smallest (MRPC) and largest (QQP) share of heterogeneous maps that the paper's text reports."""
HETEROGENEOUS = list(kit.PATTERNS)[-1]
"""At the left of bars, so that its share, which the paper reports, is easy to read."""
TITLES: dict[str, str] = {
    LENIENT: "Lenient definition: columns of any tokens count",
    STRICT: "Strict definition, the paper's: only columns of special tokens count",
}
PUBLISHED = "Published (follow-up)"
_LOOKS = {
    RANDOM: kit.dot(kit.GREY, "D", 2.8, markeredgewidth=0.6),
    "pretrained": kit.dot(kit.STATES["pretrained"], "s", 2.8, markeredgewidth=0.6),
    "finetuned": kit.dot(kit.STATES["finetuned"], "o", 2.8, markeredgewidth=0.6),
}
"""States, from the top of a task, with the look of their dots."""
_ROW = 0.125  # inches
_BARS = 1.6  # width of the bars relative to 100% of the dots


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the shares of every state under both definitions, a row per task and state.

    At the left, stacked bars of the shares as classified, as in the paper; beside them, a panel per
    pattern with the shares corrected for the classifier's confusions and their 95% intervals. A
    percentage point has the same length in all panels. Markers are filled if the classifier knows
    the encoder, because maps of it were labelled; other shares are not corrected. Shares and
    intervals of several seeds are averaged. A run of the paper also shows the shares that the
    follow-up reports, without random weights, and the paper's range of heterogeneous maps.
    """
    published = next(map(pd.read_csv, sources.paths("published")), None)
    table, tasks = sources.table(PATTERN_SHARES), [*map(sources.marked, sources.tasks)]
    table = table.assign(known=table["confusions_of"] != OTHERS)
    table["task"] = table["task"].map(sources.marked)
    widths = {name: _width(table[table["pattern"] == name]) for name in kit.PATTERNS}
    grids = [
        _grid(rows, tasks, widths, TITLES[definition], paper=published is not None)
        for definition in TITLES
        for rows in [table[table["definition"] == definition]]
        if len(rows)
    ]
    if published is not None:
        rows = published.rename(columns={"model": "state"})
        grids.append(_grid(rows, sources.tasks, {}, PUBLISHED, paper=True))
    point = kit.dot(kit.INK, size=2.8)
    legend: dict[str, Any] = kit.PATTERNS | {"known encoder: corrected": point}
    legend["unknown encoder: not corrected"] = kit.hollow(point)
    headline, whose = "Shares of the patterns of self-attention", f". {_whose(table)}"
    return kit.page(sources, headline, *grids, legend=legend, width=kit.PAGE, note=whose)


def _grid(
    rows: pd.DataFrame, tasks: Sequence[str], widths: dict[str, float], title: str, *, paper: bool
) -> kit.Grid:
    """The bars of a definition, and a panel of dots per pattern in ``widths``, same rows."""
    places = kit.bars_of(tasks, [state for state in _LOOKS if state in set(rows["state"])])
    for task, state in places:
        kit.pick(rows, task=task, state=state)
    rows = rows[rows["task"].isin(list(tasks)) & rows["state"].isin(_LOOKS)]

    def bars(axes: kit.Axes, _: str) -> None:
        kit.shares(axes, rows, "share", "pattern", kit.PATTERNS, places, written=0.1)
        axes.set_title("as classified")
        if paper:
            for end in PAPER_RANGE:
                axes.axvline(end, color=kit.INK, linewidth=0.8, linestyle=(0, (3, 2)))
            low, high = (f"{100 * end:.0f}" for end in PAPER_RANGE)
            axes.set_title(f"dashed: heterogeneous in the paper, {low} to {high}%")

    def dots(axes: kit.Axes, _: str, pattern: str) -> None:
        pattern_rows = rows[rows["pattern"] == pattern]
        model_rows = pattern_rows.groupby(["task", "state", "known"])
        means = model_rows[["corrected", "corrected_low", "corrected_high"]].mean().reset_index()
        means["place"] = [places[key] for key in zip(means["task"], means["state"], strict=True)]
        where: dict[str, Any] = {"at": "place", "by": "state", "sure": "known"}
        ends = ("corrected_low", "corrected_high")
        kit.intervals(axes, means, "corrected", _LOOKS, ends=ends, **where)
        kit.name_bars(axes, places, named=False)
        axes.set(xlim=(-0.03, widths[pattern] + 0.03), title=pattern.replace("+", "+\n"))
        step = 0.5 if widths[pattern] > 0.6 else 0.2 if widths[pattern] < 0.4 else 0.4
        marks = np.arange(0, widths[pattern] + 0.01, step)
        axes.set_xticks(marks, labels=[f"{100 * mark:.0f}" for mark in marks])
        axes.grid(axis="x", color=kit.FAINT, linewidth=0.25)
        axes.set_axisbelow(True)
        if paper and pattern == HETEROGENEOUS:
            axes.axvspan(*PAPER_RANGE, color=kit.GREY, alpha=0.2, linewidth=0)

    height = _ROW * (max(places.values()) + 3)
    look: dict[str, Any] = {"height": height, "fixed": True, "width": _BARS}
    panels = [kit.Panel(bars, "as classified", x="Share of maps", **look)]
    panels += [kit.Panel(dots, of=(name,), x="%", width=width) for name, width in widths.items()]
    return kit.Grid([title], [panels], title=lambda _: "", headline=title)


def _width(rows: pd.DataFrame) -> float:
    """The end of the axis that holds these shares: a multiple of 20%."""
    return float(max(0.2, np.ceil(5 * rows["corrected_high"].max() - 1e-9) / 5))


def _whose(table: pd.DataFrame) -> str:
    """Say of which states' encoders maps were labelled, and which states no task has."""
    names: dict[str, list[str]] = {}
    for state in STATES_OF_FIGURES:
        for name in table["confusions_of"][table["state"] == state].unique():
            names.setdefault(str(name), []).append(state)
    unknown = names.pop(OTHERS, [])
    parts = [f"{', '.join(states)}: maps of {name} were labelled" for name, states in names.items()]
    if unknown:
        parts.append(f"{', '.join(unknown)}: no maps of this encoder were labelled")
    if absent := [state for state in STATES_OF_FIGURES if state not in set(table["state"])]:
        parts.append(f"{', '.join(absent)}: not in this run")
    return "; ".join(parts)
