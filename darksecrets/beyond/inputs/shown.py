"""The figure of inputs that make no sense, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.inputs.declared import CHANGED_INPUTS, CHANGES, HANS, SHUFFLED
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import FINETUNED
from darksecrets.core.stats.independent import ESTIMATE, named

# Which inputs a model does not notice.

_MODEL = kit.dot(kit.MARK, markeredgecolor=kit.MARK)
_WORDS = kit.dot(kit.BASELINE, "D", 4.0)
_CHANCE = kit.dot(kit.GREY, "|", 8.0, markeredgewidth=1.6)
_SURE = kit.hollow(_MODEL)
_ENDS = ("unchanged_low", "unchanged_high")


def draw_changed_inputs(sources: kit.Sources) -> kit.Figure:
    """Draw the share of decisions that every change leaves as they are, per task."""
    table = kit.pick(sources.table(CHANGED_INPUTS), task=sources.tasks)
    shown = [change for change in CHANGES if (table["change"] == change).any()]

    def draw(axes: kit.Axes, task: str) -> None:
        columns = ["unchanged", *_ENDS, "by_chance", "bag_of_words", "confidence_kept"]
        rows = kit.pick(table, task=task).groupby("change", as_index=False)[columns].mean()
        places = {change: change for change in shown}
        where: dict[str, Any] = {"at": "change", "places": places}
        kit.intervals(axes, rows, "by_chance", {"": _CHANCE}, **where)
        kit.intervals(axes, rows, "bag_of_words", {"": _WORDS}, **where)
        sure = rows[rows["confidence_kept"].notna()]
        kit.intervals(axes, sure, "confidence_kept", {"": _SURE}, **where)
        kit.intervals(axes, rows, "unchanged", {"": _MODEL}, ends=_ENDS, **where)
        axes.set_xlim(-0.03, 1.05)

    def describe(tasks: list[str]) -> str:
        rows = kit.pick(table, task=tasks, change=SHUFFLED)
        share, chance = (float(rows.groupby("task")[name].mean().mean()) for name in _BOTH)
        return (
            f"With their words shuffled, {share:.0%} of the decisions stay the same; by chance, "
            f"{chance:.0%} would"
        )

    return kit.page(
        sources,
        sources.headline(describe),
        kit.Panel(
            draw,
            x="Share of decisions, or of confidence, kept",
            height=0.18 * len(shown) + 0.3,
            fixed=True,
        ),
        legend={
            "model": _MODEL,
            "its confidence": _SURE,
            "bag of words": _WORDS,
            "by chance": _CHANCE,
        },
        what="Means over seeds. Lines: mean 95% intervals over examples.",
        most=2,
        width=kit.PAGE,
    )


# Accuracy by heuristic, after Figure 1 of McCoy et al. (2019).

_GROUPS = {
    "entailment": kit.dot(kit.MARK),
    "non-entailment": kit.dot(kit.VERMILLION, "s", 4.0),
}


def draw_hans(sources: kit.Sources) -> kit.Figure:
    """Draw how often models are right where a heuristic is right, and where it is wrong."""
    table = kit.pick(sources.table(HANS), task=sources.tasks)
    places = {name: name.replace("_", " ") for name in table["heuristic"].unique()}

    def draw(axes: kit.Axes, task: str) -> None:
        columns = ["accuracy", "accuracy_low", "accuracy_high", "bag_of_words"]
        key = ["heuristic", "label"]
        rows = kit.pick(table, task=task).groupby(key, as_index=False)[columns].mean()
        where: dict[str, Any] = {"at": "heuristic", "places": places}
        wrong = rows[rows["label"] == "non-entailment"]
        kit.intervals(axes, wrong, "bag_of_words", {"": _WORDS}, **where)
        ends = ("accuracy_low", "accuracy_high")
        kit.intervals(axes, rows, "accuracy", _GROUPS, by="label", ends=ends, **where)
        axes.axvline(0.5, color=kit.GREY, linewidth=0.5)
        axes.set_xlim(-0.03, 1.05)

    def describe(tasks: list[str]) -> str:
        wrong = kit.pick(table, task=tasks, label="non-entailment")
        share = float(wrong.groupby(["task", "heuristic"])["accuracy"].mean().mean())
        return f"Where the heuristics are wrong, {share:.0%} of the answers are right"

    return kit.page(
        sources,
        sources.headline(describe),
        kit.Panel(draw, x="Share of right answers", height=0.2 * len(places) + 0.3, fixed=True),
        legend={
            "heuristic is right": _GROUPS["entailment"],
            "heuristic is wrong": _GROUPS["non-entailment"],
            "bag of words, wrong": _WORDS,
        },
        what="Means over seeds. Lines: mean 95% intervals over examples.",
        most=2,
        width=kit.PAGE,
    )


_BOTH = ("unchanged", "by_chance")


def kept_over_chance(changed_inputs: pd.DataFrame) -> pd.DataFrame:
    """The share of decisions that stay the same, of those that would not by chance.

    Args:
        changed_inputs: The table of that name.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``change``; ``value``, ``low``, ``high``.
    """
    rows = named(changed_inputs, "unchanged")
    rows = rows[rows["by_chance"] < 1]
    over = {name: (rows[name] - rows["by_chance"]) / (1 - rows["by_chance"]) for name in ESTIMATE}
    return rows.assign(**over, on=rows["task"], state=FINETUNED)


def changed(changed_inputs: pd.DataFrame) -> pd.DataFrame:
    """The share of decisions that do not stay the same; see the former."""
    rows = named(changed_inputs, "unchanged")
    ends = {"value": 1 - rows["value"], "low": 1 - rows["high"], "high": 1 - rows["low"]}
    return rows.assign(**ends, on=rows["task"], state=FINETUNED)


def right_against_heuristics(hans: pd.DataFrame) -> pd.DataFrame:
    """The share of right answers where a heuristic is wrong.

    Args:
        hans: The table of that name.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``heuristic``; ``value``, ``low``, ``high``.
    """
    rows = named(hans[hans["label"] == "non-entailment"], "accuracy")
    return rows.assign(on=rows["task"], state=FINETUNED)
