"""Which heads follow which syntactic relations, after Table 1 of Clark et al. (2019)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.syntax import tables
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM

_MOST = 20
"""Labels that are drawn, the most frequent ones."""
_ARROWS = {tables.DEPENDENT_TO_HEAD: "→", tables.HEAD_TO_DEPENDENT: "←"}
_DOT = kit.dot(kit.MARK, markeredgecolor=kit.MARK, markeredgewidth=0.8)
_LOOKS = {
    tables.YES: _DOT,
    tables.OPEN: {**_DOT, "color": "white"},
    tables.NO: {**_DOT, "color": kit.INK, "markeredgecolor": kit.INK},
}
_NAMES = {
    tables.YES: "best head: exceeds all controls",
    tables.OPEN: "the same, without one for parts of speech",
    tables.NO: "best head: does not",
}
_OFFSET = kit.dot(kit.BASELINE, "|", 8.0, markeredgewidth=1.6)
_CHANCE = kit.dot(kit.GREY, "x", 3.5, markeredgewidth=0.8)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the best head of every label beside the best offset, and where syntactic heads are."""
    table = sources.table(tables.SYNTACTIC_HEADS)
    trained, random = (table[table["state"] == state] for state in ("pretrained", RANDOM))
    best = kit.pick(trained, selected=True).drop_duplicates("label").head(_MOST)
    by_chance = random[random["selected"]].drop_duplicates("label")
    places = {
        row["label"]: f"{row['label']} {row['layer']}–{row['head']} {_ARROWS[row['direction']]}"
        for row in best.to_dict("records")
    }

    def labels(axes: kit.Axes, _: str) -> None:
        ends = ("accuracy_low", "accuracy_high")
        where: dict[str, Any] = {"at": "label", "places": places}
        kit.intervals(axes, best, "accuracy", _LOOKS, by="syntactic", ends=ends, **where)
        kit.intervals(axes, best, "at_offset", {"": _OFFSET}, **where)
        kit.intervals(axes, by_chance, "accuracy", {"": _CHANCE}, **where)
        axes.set_xlim(-0.02, 1.02)
        if best["label"].iloc[0] == tables.ALL and len(best) > 1:
            axes.axhline(0.5, color=kit.GREY, linewidth=0.5)

    def heads(axes: kit.Axes, _: str) -> kit.QuadMesh:
        most = trained.groupby(["layer", "head"])[["over_offset"]].max().reset_index()
        values = kit.grid(most, "over_offset").clip(lower=0)
        mesh = kit.matrix(axes, values, kit.WEIGHT, max(kit.largest(values), 0.01), 0)
        found = {
            verdict: kit.grid(trained.assign(own=trained["syntactic"] == verdict), "own") > 0
            for verdict in (tables.OPEN, tables.YES)
        }
        kit.mark(axes, found[tables.OPEN] & ~found[tables.YES], **_LOOKS[tables.OPEN])
        kit.mark(axes, found[tables.YES], **_LOOKS[tables.YES])
        return mesh

    shown = [verdict for verdict in _NAMES if verdict in set(best["syntactic"])]
    legend = {_NAMES[verdict]: _LOOKS[verdict] for verdict in shown}
    legend |= {"best offset": _OFFSET, "best head of random weights": _CHANCE}
    above = kit.Panel(labels, x="Share of heads found", height=0.16 * len(best) + 0.3, fixed=True)
    bar = kit.Bar("over the best offset")
    below = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.35, bar=bar)
    under = kit.Grid(["Heads: most over the best offset, any relation"], below)
    grids, headline = (kit.Grid([""], above), under), "Heads that follow syntactic relations"
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)
