"""How redundant heads are: their positions in a plane, and mean distances (section 5).

After Figure 6 of Clark et al. (2019).
"""

from __future__ import annotations

from typing import Any

from darksecrets.features import tables
from darksecrets.plotting import kit

MARKERS = dict(zip(tables.MAIN_TYPES, (">", "<", "^", "P", "s", "D", "o"), strict=True))
"""Marker of a head's main type."""
NAMES = {
    **{name: f"to {name}" for name in tables.MAIN_TYPES},
    **{name: f"to the {name} token" for name in ("next", "previous")},
    tables.BROAD_FOR_LENGTH: "broad",
    tables.NO_TYPE: "no type",
}
"""What the legend calls types: where most of the attention goes."""
DRAWN = ("pretrained", "finetuned")


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the heads of every task's models in a plane, and mean distances below.

    Of the fine-tuned models, the plane is that of the first seed; distances are those of all seeds.
    The marker of a head is its main type. All planes have one scale.
    """
    table, types = sources.table(tables.REDUNDANCY), sources.table(tables.HEAD_TYPES, "types")
    key = ["task", "state", "seed", "layer", "head"]
    positions = sources.table(tables.HEAD_POSITIONS, "positions")
    heads = positions.merge(types.loc[types["main"], [*key, "type"]], on=key, how="left")
    heads = heads.assign(type=heads["type"].fillna(tables.NO_TYPE))
    limit = 1.1 * max(1e-3, float(heads[["x", "y"]].abs().to_numpy().max()))
    longest, last = table[["distance", "ci_high"]].max().max(), int(heads["layer"].max())
    states = sorted(set(table["state"]), key=[*DRAWN, *sorted(set(table["state"]))].index)
    looks = {state: kit.dot(kit.STATES.get(state, kit.GREY), ".", 2.5) for state in states}

    def plane(axes: kit.Axes, task: str, state: str) -> kit.PathCollection:
        rows = kit.pick(heads, task=task, state=state)
        rows = rows[rows["seed"].isna() | (rows["seed"] == rows["seed"].min())]
        look: dict[str, Any] = {"cmap": kit.LAYERS, "vmin": 0.5, "vmax": last + 0.5}
        look |= {"s": 6 if len(rows) < 200 else 3, "edgecolors": kit.INK, "linewidths": 0.15}
        for name, part in rows.groupby("type", sort=False):
            marker = MARKERS[str(name)]
            dots = axes.scatter(part["x"], part["y"], c=part["layer"], marker=marker, **look)
        axes.set(xlim=(-limit, limit), ylim=(-limit, limit), xticks=[], yticks=[], aspect="equal")
        axes.spines[:].set(visible=True, linewidth=0.25)
        axes.set_title(f"stress {rows['stress'].iloc[0]:.2f}")
        return dots

    def distances(axes: kit.Axes, task: str) -> None:
        where: dict[str, Any] = {"at": "pairs", "places": {name: name for name in tables.PAIRS}}
        where |= {"by": "state", "spread": ["state"], "ends": ("ci_low", "ci_high")}
        kit.intervals(axes, kit.pick(table, task=task), "distance", looks, **where)
        axes.set_xlim(0, 1.05 * float(longest))

    bar = kit.Bar("Layer", below=True, finish=lambda bar: bar.set_ticks(kit.ticks(last, 12)))
    panels = kit.rows(plane, DRAWN, "", height=1.0, bar=bar)
    below = kit.Panel(distances, "distances", x="Distance", height=1.1, share="columns")
    shown = [name for name in tables.MAIN_TYPES if name in set(heads["type"])]
    mark = kit.dot("none", size=2.5, markeredgecolor=kit.INK, markeredgewidth=0.5)
    legend: dict[str, Any] = {NAMES[name]: {**mark, "marker": MARKERS[name]} for name in shown}
    headline = "How alike heads are: their positions in a plane, and mean distances in nats"
    return kit.page(sources, headline, [*panels, [below]], legend=legend | looks)
