"""Which importance can be trusted: agreement with disabling heads and MLPs (section 4.6)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.importance.tables import EXAMPLES, IMPORTANCE_AGREEMENT, LOSS, MLPS, SCORE
from darksecrets.core.plotting import kit

_LOOKS = {
    LOSS: kit.dot(kit.MARK, size=2.5),
    SCORE: kit.dot(kit.VERMILLION, "^", size=2.5, markerfacecolor="white"),
    EXAMPLES: kit.dot(kit.GREEN, "D", size=2),
}
_NAMES = {
    LOSS: "loss of the same examples",
    SCORE: "score on the validation set",
    EXAMPLES: "itself, on other examples",
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw, per task, the rank correlation of each definition with each reference.

    Dots and intervals are averaged over seeds.
    """
    table = sources.table(IMPORTANCE_AGREEMENT)
    of = table["mode"].where(table["part"] != MLPS, "MLPs")
    table["name"] = table["definition"] + " (" + of + ")"
    places = {name: name for name in table["name"]}

    def agreement(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task).groupby(["name", "reference"], sort=False)
        means = rows[["spearman", "ci_low", "ci_high"]].mean().reset_index()
        axes.axvline(0, color=kit.INK, linewidth=0.5)
        look: dict[str, Any] = {
            "at": "name",
            "places": places,
            "by": "reference",
            "spread": ["reference"],
        }
        kit.intervals(axes, means, "spearman", _LOOKS, ends=("ci_low", "ci_high"), **look)
        axes.set_xlim(-1, 1)

    look: dict[str, Any] = {"height": 0.15 + 0.16 * len(places), "fixed": True, "share": "columns"}
    panels = kit.Panel(agreement, x="Rank correlation", **look)
    headline = "Do heads, or MLPs, rank as by what disabling them does to the …"
    legend = {_NAMES[name]: look for name, look in _LOOKS.items()}
    return kit.page(sources, headline, panels, most=4, legend=legend)
