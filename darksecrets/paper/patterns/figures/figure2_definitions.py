"""Figure 2, supplement: both classifiers, both definitions, and how far the shares may be off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run import numbers
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.patterns.classes import CNN, FEATURES, LENIENT, STRICT
from darksecrets.paper.patterns.findings import HETEROGENEOUS
from darksecrets.paper.patterns.shares import OTHERS
from darksecrets.paper.patterns.tables import CLASSIFIER_AGREEMENT, PATTERN_SHARES

STATE = "finetuned"
NAMES = {CNN: "network", FEATURES: "features"}
"""What figures call the classifiers."""
_COLOURS = {CNN: kit.BLUE, FEATURES: kit.VERMILLION}
_MARKERS = {CNN: "o", FEATURES: "s"}
_DEFINITIONS: dict[str, str] = {STRICT: "the paper's definition", LENIENT: "lenient"}
_PUBLISHED = kit.dot(kit.INK, "|", 6.0)
_ROW = 0.36  # inches for each task
_APART = 0.19  # of dots of a task


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the corrected shares of the fine-tuned models, and how far both classifiers agree.

    A panel per pattern has a row per task with a dot for each classifier and definition, and its
    95% interval; filled dots are of the paper's definition. The last panel has Cohen's kappa of the
    classifiers. Shares, kappa and ends of intervals are means over seeds. A run of the paper also
    shows the shares that the follow-up reports.
    """
    table = sources.table(PATTERN_SHARES)
    agreement = sources.table(CLASSIFIER_AGREEMENT, "agreement")
    published = next(map(pd.read_csv, sources.paths("published")), None)
    places = {task: sources.marked(task) for task in sources.tasks}
    looks = {
        _name(classifier, definition): kit.dot(_COLOURS[classifier], _MARKERS[classifier], 2.8)
        for definition in _DEFINITIONS
        for classifier in _COLOURS
    }
    for classifier in _COLOURS:
        name = _name(classifier, LENIENT)
        looks[name] = kit.hollow(looks[name])
    tuned = kit.pick(table, state=STATE, task=sources.tasks)
    shares = _mean_over_seeds(tuned, ["classifier", "definition", "pattern"], "corrected")
    shares["kind"] = [*map(_name, shares["classifier"], shares["definition"])]
    tuned_agreement = kit.pick(agreement, state=STATE, task=sources.tasks)
    kappas = _mean_over_seeds(tuned_agreement, ["definition"], "kappa")

    def dots(axes: kit.Axes, pattern: str) -> None:
        rows = shares[shares["pattern"] == pattern]
        _draw_rows(axes, rows, "corrected", looks, "kind", places)
        if published is not None:
            known = published[(published["model"] == STATE) & (published["pattern"] == pattern)]
            known = known[known["task"].isin(sources.tasks)]
            kit.intervals(axes, known, "share", {"published": _PUBLISHED}, at="task", places=places)
        end = max(0.2, math.ceil(5 * rows["high"].max() - 1e-9) / 5)
        axes.set(xlim=(-0.03 * end, 1.03 * end), xlabel="%")
        axes.set_xticks([0, end / 2, end], [f"{100 * mark:.0f}" for mark in (0, end / 2, end)])

    def kappa(axes: kit.Axes, _: str) -> None:
        kinds: dict[str, Any] = {
            definition: kit.dot(kit.INK, "D", 2.8, markeredgewidth=0.6)
            for definition in _DEFINITIONS
        }
        kinds[LENIENT] = kit.hollow(kinds[LENIENT])
        _draw_rows(axes, kappas, "kappa", kinds, "definition", places)
        axes.set(xlim=(min(0.0, kappas["low"].min()) - 0.03, 1.03))
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xlabel("kappa")

    def panel(axes: kit.Axes, name: str) -> None:
        (kappa if name == _KAPPA else dots)(axes, name)

    columns = [*kit.PATTERNS, _KAPPA]
    look: dict[str, Any] = {"height": 0.2 + _ROW * len(places), "fixed": True, "share": "columns"}
    grid = kit.Grid(
        columns,
        kit.Panel(panel, x=None, **look),
        title=lambda name: _TITLE_OF_KAPPA if name == _KAPPA else name.replace("+", "+\n"),
    )
    legend: dict[str, Any] = dict(looks)
    if published is not None:
        legend["published (follow-up)"] = _PUBLISHED
    return kit.page(
        sources,
        sources.headline(
            lambda tasks: _headline(
                *(each[each["task"].isin(tasks)] for each in (kappas, tuned_agreement))
            )
        ),
        grid,
        legend=legend,
        width=kit.PAGE,
        what=f"Shares of the maps of fine-tuned models with 95% intervals. {_random(table)}",
        note=f". {_whose(tuned)}",
    )


_KAPPA = "kappa"
_TITLE_OF_KAPPA = "agreement of\nclassifiers"


def _name(classifier: str, definition: str) -> str:
    return f"{NAMES[classifier]}, {_DEFINITIONS[definition]}"


def _mean_over_seeds(rows: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Means of a number and of the ends of its interval, ``low`` and ``high``."""
    ends = {"kappa": ("ci_low", "ci_high")}.get(value, (f"{value}_low", f"{value}_high"))
    means = rows.groupby(["task", *by], sort=False)[[value, *ends]].mean().reset_index()
    return means.rename(columns=dict(zip(ends, ("low", "high"), strict=True)))


def _draw_rows(
    axes: kit.Axes,
    rows: pd.DataFrame,
    value: str,
    looks: Mapping[str, Mapping[str, Any]],
    by: str,
    places: Mapping[str, str],
) -> None:
    where: dict[str, Any] = {"at": "task", "places": places, "by": by, "spread": [by]}
    kit.intervals(axes, rows, value, looks, ends=("low", "high"), apart=_APART, **where)
    axes.grid(axis="x", color=kit.FAINT, linewidth=0.25)
    axes.set_axisbelow(True)


def _headline(kappas: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """How far the classifiers agree under the paper's definition."""
    shares = agreement[agreement["definition"] == STRICT]["agreement"]
    said = f"Network and features give {100 * shares.mean():.0f}% of maps the same pattern"
    found = kappas[kappas["definition"] == STRICT]["kappa"].dropna()
    if found.empty:
        return said
    low, high = (numbers.written(end, ".2f") for end in (found.min(), found.max()))
    reach = low if low == high else f"{low} to {high}"
    return f"{said}, kappa {reach}"


def _random(table: pd.DataFrame) -> str:
    """A sentence about random weights; nothing if the run has none."""
    rows = table[(table["state"] == RANDOM) & (table["definition"] == STRICT)]
    rows = rows[rows["pattern"] == HETEROGENEOUS]
    if rows.empty:
        return ""
    means = rows.groupby("classifier")["share"].mean()
    said = " and ".join(f"{100 * means[name]:.0f}% ({NAMES[name]})" for name in NAMES)
    return f"With random weights {said} are heterogeneous under the paper's definition."


def _whose(table: pd.DataFrame) -> str:
    """Say whether maps of the encoder were labelled, so that its shares are corrected."""
    names = [str(name) for name in table["confusions_of"].unique()]
    known = [name for name in names if name != OTHERS]
    if known:
        return f"Shares are corrected by labelled maps of {', '.join(known)}"
    return "No maps of this encoder were labelled: its shares are not corrected"
