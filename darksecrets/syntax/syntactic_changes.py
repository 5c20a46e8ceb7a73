"""What fine-tuning changes for the heads that find most of a relation (after Htut et al. 2019)."""

from __future__ import annotations

from typing import Any

from darksecrets.plotting import kit
from darksecrets.stats import LEVEL
from darksecrets.syntax.tables import ALL, SYNTACTIC_CHANGES

_MOST = 12
"""Labels that are drawn, the most frequent ones."""
_DOT = kit.dot(kit.MARK, size=3.5, zorder=3)
_OTHERS = kit.dot(kit.BASELINE, "|", 6.0, markeredgewidth=1.4, zorder=3)
_NEW = kit.dot(kit.INK, "x", 5.5, zorder=3)
_NAMED = ["direction", "layer", "head"]


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the change of every label's best head, with its interval: a panel per task.

    Every label has a dot for each seed, filled if the change is significant.
    """
    table = kit.pick(sources.table(SYNTACTIC_CHANGES), state="finetuned")
    labels = list(dict.fromkeys(table["label"]))[:_MOST]
    places = {label: "all relations" if label == ALL else label for label in labels}
    best = table[[f"best_{name}" for name in _NAMED]].set_axis(_NAMED, axis=1)
    new = table["best_change"].where((table[_NAMED] != best).any(axis=1))
    table = table.assign(new=new, sure=table["q_value"] < LEVEL)

    def changes(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task)
        axes.axvline(0, color=kit.INK, linewidth=0.6, linestyle=":")
        where: dict[str, Any] = {"at": "label", "places": places, "spread": ["seed"], "apart": 0.2}
        kit.intervals(axes, rows, "change_of_others", {"": _OTHERS}, **where)
        ends = ("change_low", "change_high")
        kit.intervals(axes, rows, "change", {"": _DOT}, ends=ends, sure="sure", **where)
        kit.intervals(axes, rows, "new", {"": _NEW}, **where)

    legend = {
        "same head, significant": _DOT,
        "same head": kit.hollow(_DOT),
        "same head, unrelated words": _OTHERS,
        "new best head": _NEW,
    }
    look: dict[str, Any] = {"height": 0.25 + 0.15 * len(labels), "fixed": True, "share": "columns"}
    panels = kit.Panel(changes, x="Change of the share found", **look)
    headline = "How fine-tuning changes syntactic heads"
    return kit.page(sources, headline, panels, most=3, legend=legend)
