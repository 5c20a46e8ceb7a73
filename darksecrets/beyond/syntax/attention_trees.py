"""How much trees from attention are like gold trees, beside chains (after Htut et al. 2019)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.syntax.tables import ATTENTION_TREES, DEPENDENT_TO_HEAD, HEAD_TO_DEPENDENT
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM
from darksecrets.core.stats import LEVEL

_DOT = kit.dot(kit.MARK, size=2.0, markeredgecolor=kit.MARK, markeredgewidth=0.5, zorder=3)
_LOOKS = {DEPENDENT_TO_HEAD: _DOT, HEAD_TO_DEPENDENT: {**_DOT, "color": "white"}}
_NAMES = {"dependents → heads": DEPENDENT_TO_HEAD, "heads → dependents": HEAD_TO_DEPENDENT}
"""What attends to what, in the legend and above the heatmaps."""
_SCORES = {"Without direction (UUAS)": "uuas", "With direction (UAS)": "uas"}
_CHAINS = {
    "uuas": {"chain": kit.line(kit.BASELINE, width=1.2, zorder=2)},
    "uas": {
        "right_chain": kit.line(kit.BASELINE, dash="--", width=1.2, zorder=2),
        "left_chain": kit.line(kit.BASELINE, dash=":", width=1.2, zorder=2),
    },
}
"""Chains beside each score, and their lines."""
_BEST = kit.dot("none", size=6.0, markeredgecolor=kit.INK, zorder=4)
_SPREAD = 0.7
"""Width of the dots of a layer."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the scores of all heads by layer, beside chains and random weights; and heatmaps.

    Each head has a dot for every direction; those of random weights are a range for each layer.
    Dots on heatmaps are on heads that exceed the chain.
    """
    table = sources.table(ATTENTION_TREES)
    trained, random = kit.pick(table, state="pretrained"), table[table["state"] == RANDOM]
    layers, chains = int(trained["layer"].max()), [n for each in _CHAINS.values() for n in each]
    highest = float(table[[*_SCORES.values(), *chains]].max().max())
    spread = _SPREAD * ((trained["head"] - 0.5) / int(trained["head"].max()) - 0.5)
    trained = trained.assign(place=trained["layer"] + spread)

    def by_layer(axes: kit.Axes, name: str) -> None:
        score = _SCORES[name]
        ranges = random.groupby("layer")[score].agg(["min", "max"])
        height = ranges["max"] - ranges["min"]
        axes.bar(ranges.index, height, 0.8, ranges["min"], color=kit.BAND, zorder=1)
        for direction, look in _LOOKS.items():
            own = trained[trained["direction"] == direction]
            axes.plot(own["place"], own[score], **look)
        for chain, look in _CHAINS[score].items():
            axes.axhline(float(trained[chain].iloc[0]), **look)
        best = trained[trained["selected"]]
        axes.plot(best["place"], best[score], **_BEST)
        ends = best[f"{score}_low"], best[f"{score}_high"]
        axes.vlines(best["place"], *ends, color=kit.INK, linewidth=0.8)
        axes.set(xlim=(0.4, layers + 0.6), ylim=(0, min(1.0, 1.1 * highest)))
        axes.set_xticks(kit.ticks(layers, 6))

    def heads(axes: kit.Axes, name: str) -> kit.QuadMesh:
        rows = kit.pick(trained, direction=_NAMES[name])
        top = max(float(trained[["uuas", "chain"]].max().max()), 0.01)
        mesh = kit.matrix(axes, kit.grid(rows, "uuas"), kit.WEIGHT, top, 0)
        exceeds = (rows["q_value"] < LEVEL) & (rows["over_chain"] > 0)
        kit.mark(axes, kit.grid(rows.assign(exceeds=exceeds), "exceeds") > 0, markersize=3)
        return mesh

    chain = float(trained["chain"].iloc[0])
    bar = kit.Bar("UUAS", {chain: kit.line(kit.BASELINE, width=2)})
    above = kit.Panel(by_layer, x="Layer", y="Share of gold arcs", height=1.3, share="columns")
    below = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.2, share="columns", bar=bar)
    legend: dict[str, Any] = {name: _LOOKS[direction] for name, direction in _NAMES.items()}
    legend |= {"best head": _BEST, "heads of random weights": kit.BAND}
    names = "chain of neighbours", "right chain", "left chain"
    looks = (look for each in _CHAINS.values() for look in each.values())
    legend |= dict(zip(names, looks, strict=True))
    headline = "How like gold trees are those from attention"
    grids = kit.Grid(list(_SCORES), above), kit.Grid(list(_NAMES), below)
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)
