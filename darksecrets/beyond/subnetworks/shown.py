"""Figures of subnetworks, and numbers that claims need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import HEADS, MLPS
from darksecrets.beyond.subnetworks import declared
from darksecrets.beyond.subnetworks.declared import (
    BAD,
    GOOD,
    RANDOM,
    RETRAINED,
    SUBNETWORK_AGREEMENT,
    SUBNETWORKS,
)
from darksecrets.core.data.metrics import accuracy_rows, titles
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats.independent import ESTIMATE, blanked, minus
from darksecrets.paper.ablation.panels import CHANCE, INTACT, compare, rows_of

# Scores of subnetworks against the weights that are left (Prasanna et al. 2020, figure 3).

_LOOKS = {
    declared.GOOD: kit.dot(kit.BLUE),
    declared.RANDOM: kit.dot(kit.GREY, "s"),
    declared.BAD: kit.dot(kit.VERMILLION, "v"),
}
_APART = 1.6
"""Points (%) between subnetworks of the same size, so that their intervals can be told apart."""


def draw_subnetwork_scores(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of weights that is left.

    Lines through dots are 95 % intervals of the difference to the whole model, drawn
    around its score. Scores, shares and ends of intervals are averaged over seeds. Filled dots are
    subnetworks as they are, hollow ones those that were trained again.
    """
    table, metrics = sources.table(declared.SUBNETWORK_SCORES), sources.main_metrics

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        compare(axes, rows)
        ends = ("low", "high")
        means = _percent(rows, "subnetwork", "trained")
        hollow = means["trained"] != declared.AS_IT_IS
        places = means["subnetwork"].map(list(_LOOKS).index) - 1 - len(_LOOKS) * hollow
        means = means.assign(percent=means["percent"] + _APART * places, whole=~hollow)
        where: dict[str, Any] = {"at": "percent", "by": "subnetwork", "upright": True}
        kit.intervals(axes, means, "score", _LOOKS, ends=ends, sure="whole", **where)
        axes.set_xlim(100, 0)

    legend: dict[str, Any] = dict(_LOOKS)
    if (table["trained"] != declared.AS_IT_IS).any():
        legend["trained again"] = kit.hollow(kit.dot(kit.INK))
    legend |= {"whole model": INTACT, "most frequent label": CHANCE}
    panel = kit.Panel(scores, x="Weights left (%)", y="Score", height=1.4)
    headline = sources.headline(
        lambda tasks: _good_in_words(pd.concat([rows_of(table, t, metrics[t]) for t in tasks]))
    )
    return kit.page(
        sources, headline, panel, most=4, title=titles(metrics, sources.marked), legend=legend
    )


def _good_in_words(rows: pd.DataFrame) -> str:
    """The scores of good and of random subnetworks as they are, mean over tasks and seeds."""
    rows = rows[rows["trained"] == declared.AS_IT_IS]
    scores, weights = (rows.groupby("subnetwork")[name].mean() for name in ("score", "weights"))
    share = f"{100 * weights[declared.GOOD]:.0f}%"
    said = (
        f"Good subnetworks of {share} of the weights score {written(scores[declared.GOOD], '.0f')}"
    )
    if declared.RANDOM in scores:
        said += f", random ones of their size {written(scores[declared.RANDOM], '.0f')}"
    return said


def _percent(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Means over seeds, in percent of the weights."""
    shown = rows.assign(percent=100 * rows["weights"])
    means = shown.groupby(list(by), sort=False)[["percent", "score", "low", "high"]].mean()
    return means.reset_index()


# Heads and MLPs of the good subnetworks of every task (Prasanna et al. 2020, figure 1).


def draw_surviving_parts(sources: kit.Sources) -> kit.Figure:
    """Draw, per task, the share of seeds in which each head and each MLP survives.

    Above each panel is Fleiss' kappa of the heads.
    """
    table = sources.table(SUBNETWORKS)
    agreement = kit.pick(sources.table(SUBNETWORK_AGREEMENT), part=HEADS)
    notes = {row["task"]: _note(row) for row in agreement.to_dict("records")}

    def shares(axes: kit.Axes, task: str, part: str) -> kit.QuadMesh:
        rows = kit.pick(table, task=task, subnetwork=GOOD, part=part)
        values = kit.cells(rows.assign(head=rows["head"].fillna(1)), "kept", "layer", "head")
        mesh = kit.matrix(axes, values, kit.WEIGHT, 1, 0, labels=8)
        if part == MLPS:
            axes.set(xticks=[], yticks=[])
        return mesh

    bar = kit.Bar("Share of seeds")
    panels = [
        kit.Panel(shares, of=(HEADS,), x="Head", y="Layer", height=1.3, width=7, bar=bar),
        kit.Panel(shares, of=(MLPS,), x="MLP"),
    ]

    def kept_in_words(tasks: list[str]) -> str:
        good = kit.pick(table, subnetwork=GOOD, task=tasks)
        kept = 100 * good.groupby("part")["kept"].mean()
        return (
            f"Good subnetworks keep {kept[HEADS]:.0f}% of the heads, {kept[MLPS]:.0f}% of the MLPs"
        )

    def title(task: str) -> str:
        return f"{sources.marked(task)}\n{notes[task]}"

    headline = sources.headline(kept_in_words)
    return kit.page(sources, headline, [panels], most=3, title=title)


def _note(row: Mapping[Any, Any]) -> str:
    """How well the seeds agree, in a line."""
    seeds = int(row["seeds"])
    if seeds == 1:
        return "one seed"
    if np.isnan(row["kappa"]):
        return f"{seeds} seeds, all alike"
    kappa, low, high = (written(row[name], ".2f") for name in ("kappa", "ci_low", "ci_high"))
    return f"{seeds} seeds, κ = {kappa} ({low} to {high})"


_MODEL = ["on", "state", "seed"]


def excess_over_random(scores: pd.DataFrame) -> pd.DataFrame:
    """What subnetworks score more than random ones of their size.

    Args:
        scores: The table ``subnetwork_scores``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``subnetwork``, ``trained``; ``value``, in
        points, with ``low`` and ``high``. The score is accuracy, or the first metric of a task that
        has none. Subnetworks of another size are left out.
    """
    rows = accuracy_rows(scores)
    ends = {"value": "", "low": "_low", "high": "_high"}
    values = {name: rows[f"over_random{end}"] for name, end in ends.items()}
    return rows.assign(**values)[(rows["subnetwork"] != RANDOM) & rows["same_size"]]


def deficit_to_good(scores: pd.DataFrame) -> pd.DataFrame:
    """How far re-trained bad subnetworks are behind good ones.

    Where training fails, both predict the most frequent label, and neither is behind. So there is a
    value only where the good one, by the lower end of its interval, has learned more than that.

    Args:
        scores: The table ``subnetwork_scores``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, in points, with ``low`` and
        ``high``, valid for any dependence. Subnetworks of another size are left out.
    """
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    rows = accuracy_rows(scores)
    again = rows[(rows["trained"] == RETRAINED) & rows["same_size"]].rename(columns=ends)
    again = again.assign(learned=again["baseline"] + again["low"] > again["chance"])
    again = again[[*_MODEL, "subnetwork", *ESTIMATE, "learned"]]
    good, bad = (again[again["subnetwork"] == kind] for kind in (GOOD, BAD))
    behind = minus(good, bad, _MODEL)
    return blanked(behind, ~behind["learned"])[[*_MODEL, *ESTIMATE]]


def agreement_of_heads(agreement: pd.DataFrame) -> pd.DataFrame:
    """Fleiss' kappa of the heads that the seeds of a task keep.

    Args:
        agreement: The table ``subnetwork_agreement``.

    Returns:
        Columns ``on`` (the task); ``value``, with ``low`` and ``high``. Tasks with one seed are
        left out.
    """
    rows = agreement[(agreement["part"] == HEADS) & agreement["kappa"].notna()]
    names = {"task": "on", "kappa": "value", "ci_low": "low", "ci_high": "high"}
    return rows.rename(columns=names)
