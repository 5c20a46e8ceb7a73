"""How alike the attention of two heads is: mean distances by kind of pairs (section 5).

After section 6 of Clark et al. (2019).
"""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.redundancy import tables
from darksecrets.core.plotting import kit

_STATES = ("pretrained", "finetuned")
"""States that are drawn first; others follow."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw mean distances of the heads of every task's models, with those of all seeds."""
    table = sources.table(tables.REDUNDANCY)
    longest = float(table[["distance", "ci_high"]].max().max())
    others = sorted(set(table["state"]) - set(_STATES))
    states = [state for state in (*_STATES, *others) if state in set(table["state"])]
    looks = {state: kit.dot(kit.STATES.get(state, kit.GREY), ".", 2.5) for state in states}

    def distances(axes: kit.Axes, task: str) -> None:
        where: dict[str, Any] = {"at": "pairs", "places": {name: name for name in tables.PAIRS}}
        where |= {"by": "state", "spread": ["state"], "ends": ("ci_low", "ci_high")}
        kit.intervals(axes, kit.pick(table, task=task), "distance", looks, **where)
        axes.set_xlim(0, 1.05 * longest)

    panel = kit.Panel(distances, "distances", x="Distance", height=1.1, share="columns")
    return kit.page(sources, "How alike heads attend: mean distances in nats", panel, legend=looks)
