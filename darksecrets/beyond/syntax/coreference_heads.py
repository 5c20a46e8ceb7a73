"""How well heads find antecedents, after Table 2 of Clark et al. (2019)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.syntax import coreference_tables as of
from darksecrets.beyond.syntax.tables import ALL
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM
from darksecrets.core.stats import LEVEL

_BEST = {of.BEST_HEAD: kit.dot(kit.MARK, zorder=4)}
_CHANCE = {of.BEST_HEAD: kit.dot(kit.GREY, "x", 3.5, markeredgewidth=0.8)}
_OTHERS = {
    of.NEAREST: kit.dot("white", "<", 3.5, markeredgecolor=kit.BASELINE, markeredgewidth=0.8),
    of.DISTANCE: kit.dot(kit.BASELINE, "|", 9.0, markeredgewidth=1.6),
    of.HEAD_MATCH: kit.dot("white", "D", 3.5, markeredgecolor=kit.INK, markeredgewidth=0.8),
    of.RULES: kit.dot("white", "s", 3.5, markeredgecolor=kit.INK, markeredgewidth=0.8),
}
"""Methods without a model, and their marks."""
_NAMES = {
    of.NEAREST: "last expression",
    of.DISTANCE: "best fixed distance",
    of.HEAD_MATCH: "same head word",
    of.RULES: "rules",
}
_HEADS = {"All expressions": ALL, "Pronouns": of.PRONOUN}
"""Kinds whose heads are drawn."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the best head beside other methods for each kind of expression, and all heads.

    Dots are on heads that exceed all controls.
    """
    methods = sources.table(of.COREFERENCE_METHODS)
    heads = kit.pick(sources.table(of.COREFERENCE_HEADS, "heads"), state="pretrained")
    trained, random = kit.pick(methods, state="pretrained"), methods[methods["state"] == RANDOM]
    kinds = [kind for kind in (ALL, *of.EXPRESSIONS) if kind in set(trained["kind"])]
    places = {kind: f"{kind.capitalize()}s" for kind in kinds} | {ALL: "All expressions"}

    def compared(axes: kit.Axes, _: str) -> None:
        where: dict[str, Any] = {"at": "kind", "places": places, "by": "method"}
        ends = ("accuracy_low", "accuracy_high")
        kit.intervals(axes, trained, "accuracy", _OTHERS, **where)
        kit.intervals(axes, random, "accuracy", _CHANCE, **where)
        kit.intervals(axes, trained, "accuracy", _BEST, ends=ends, **where)
        axes.set_xlim(-0.02, 1.02)

    def of_kind(axes: kit.Axes, name: str) -> kit.QuadMesh:
        rows = kit.pick(heads, kind=_HEADS[name])
        mesh = kit.matrix(axes, kit.grid(rows, "accuracy"), kit.WEIGHT, 1, 0)
        kit.mark(axes, kit.grid(rows, "p_family") < LEVEL, markersize=3)
        return mesh

    height = 0.2 * len(kinds) + 0.35
    above = kit.Panel(compared, x="Share of right antecedents", height=height, fixed=True)
    bar = kit.Bar("right antecedents")
    below = kit.Panel(of_kind, "heads", x="Head", y="Layer", height=1.3, share="columns", bar=bar)
    names = "best head", "best head, random weights"
    legend = dict(zip(names, (*_BEST.values(), *_CHANCE.values()), strict=True))
    legend |= {_NAMES[method]: look for method, look in _OTHERS.items()}
    shown = [name for name, kind in _HEADS.items() if kind in kinds]
    headline = "Heads that find antecedents"
    grids = kit.Grid([""], above), kit.Grid(shown, below)
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)
