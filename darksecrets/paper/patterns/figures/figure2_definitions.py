"""Figure 2, supplement: shares by both definitions, and how far they may be off."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import partial
from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.patterns.classes import LENIENT, STRICT
from darksecrets.paper.patterns.findings import HETEROGENEOUS, heterogeneous_shares, percentages
from darksecrets.paper.patterns.tables import PATTERN_SHARES

STATE = "finetuned"
_NAMES: dict[str, str] = {STRICT: "the paper's definition", LENIENT: "lenient definition"}
_PUBLISHED = kit.dot(kit.INK, "|", 6.0)
_ROW = 0.36  # inches for each task
_APART = 0.24  # of the dots of a task


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the shares of the fine-tuned models under both definitions, with 95% intervals.

    A panel per pattern has a row per task with a dot for each definition; the paper's is filled.
    Shares and ends of intervals are means over seeds. A run of the paper also shows the shares that
    the follow-up reports.
    """
    table = sources.table(PATTERN_SHARES)
    published = next(map(pd.read_csv, sources.paths("published")), None)
    places = {task: sources.marked(task) for task in sources.tasks}
    looks: dict[str, Any] = {name: kit.dot(kit.BLUE, "o", 2.8) for name in _NAMES.values()}
    looks[_NAMES[LENIENT]] = kit.hollow(looks[_NAMES[LENIENT]])
    tuned = kit.pick(table, state=STATE, task=sources.tasks)
    by, numbers = ["task", "definition", "pattern"], ["share", "ci_low", "ci_high"]
    shares = tuned.groupby(by, sort=False)[numbers].mean().reset_index()
    shares["kind"] = shares["definition"].map(_NAMES)

    def dots(axes: kit.Axes, pattern: str) -> None:
        rows = shares[shares["pattern"] == pattern]
        where: dict[str, Any] = {"at": "task", "places": places, "by": "kind", "spread": ["kind"]}
        kit.intervals(axes, rows, "share", looks, ends=("ci_low", "ci_high"), apart=_APART, **where)
        if published is not None:
            known = published[(published["model"] == STATE) & (published["pattern"] == pattern)]
            known = known[known["task"].isin(sources.tasks)]
            kit.intervals(axes, known, "share", {"published": _PUBLISHED}, at="task", places=places)
        end = max(0.2, math.ceil(5 * rows["ci_high"].max() - 1e-9) / 5)
        axes.set(xlim=(-0.03 * end, 1.03 * end), xlabel="%")
        axes.set_xticks([0, end / 2, end], [f"{100 * mark:.0f}" for mark in (0, end / 2, end)])
        axes.grid(axis="x", color=kit.FAINT, linewidth=0.25)
        axes.set_axisbelow(True)

    look: dict[str, Any] = {"height": 0.2 + _ROW * len(places), "fixed": True, "share": "columns"}
    grid = kit.Grid(
        list(kit.PATTERNS),
        kit.Panel(dots, x=None, **look),
        title=lambda name: name.replace("+", "+\n"),
    )
    legend: dict[str, Any] = dict(looks)
    if published is not None:
        legend["published (follow-up)"] = _PUBLISHED
    return kit.page(
        sources,
        sources.headline(partial(_headline, table)),
        grid,
        legend=legend,
        width=kit.PAGE,
        what="Shares of the maps of fine-tuned models; 95% intervals are as wide as the network's "
        f"errors on encoders that it had not seen. {_random(table)}",
    )


def _headline(table: pd.DataFrame, tasks: Collection[str]) -> str:
    """How many maps are heterogeneous after fine-tuning, under either definition."""
    strict, lenient = (
        percentages(heterogeneous_shares(table, definition, STATE, tasks))
        for definition in (STRICT, LENIENT)
    )
    whose = "the maps" if len(tasks) == 1 else "a task's maps"
    return f"By the paper's definition {strict} of {whose} are heterogeneous, {lenient} leniently"


def _random(table: pd.DataFrame) -> str:
    """A sentence about random weights; nothing if the run has none."""
    rows = table[(table["state"] == RANDOM) & (table["definition"] == STRICT)]
    rows = rows[rows["pattern"] == HETEROGENEOUS]
    if rows.empty:
        return ""
    share = 100 * rows["share"].mean()
    return f"With random weights {share:.0f}% are heterogeneous by the paper's definition."
