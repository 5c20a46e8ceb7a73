"""Figure 3, supplement: how far heads exceed each control, beside random weights (section 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.framenet.tables import (
    CONTROLS,
    CONTROLS_OF_HEADS,
    DIRECTIONS,
    DISTANCE,
    HEADS,
    KEY,
    PLACE,
    PRODUCT,
    QUERY,
    SUM,
)

NAMES = {
    DISTANCE: "same distance",
    KEY: "same word,\nno link",
    PLACE: "same places",
    SUM: "sum of effects",
    PRODUCT: "product of effects",
    QUERY: "other words\nattended to",
}
"""Titles of the controls."""
_DIRECTIONS = {name: name.replace("_to_", " →\n") for name in DIRECTIONS}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the difference of every head to each control, in both directions.

    Colours begin at 0: what a head lacks compared with a control says nothing of links. Dots mark
    heads that exceed all of them. The headline counts them, with random weights beside.
    """
    table, controls = sources.table(HEADS), sources.table(CONTROLS_OF_HEADS)
    own = controls[controls["state"] != RANDOM]
    end = max(float(own["difference"].max()), kit.LEAST_DIFFERENCE)

    def heads(axes: kit.Axes, control: str, direction: str) -> kit.QuadMesh | None:
        rows = own[(own["control"] == control) & (own["direction"] == direction)]
        if rows["difference"].isna().any():
            kit.say(axes, "none")
            return None
        mesh = kit.matrix(axes, kit.grid(rows, "difference"), kit.WEIGHT, end, 0)
        marked = table[(table["state"] != RANDOM) & (table["direction"] == direction)]
        kit.mark(axes, kit.grid(marked, "exceeds_controls") > 0, markersize=3)
        return mesh

    bar = kit.Bar("Weight along links minus that of the control", below=True)
    look: dict[str, Any] = {"height": 1.25, "bar": bar}
    panels = [
        [kit.Panel(heads, of=(name,), y=f"{label}\nLayer", x=x, **look)]
        for (name, label), x in zip(_DIRECTIONS.items(), ("", "Head"), strict=True)
    ]
    grid = kit.Grid(list(CONTROLS), panels, title=lambda name: NAMES[name])
    legend = {"exceeds all controls": kit.dot(kit.MARK, size=3.0)}
    what = "Palest: no more than the control, or less."
    return kit.page(sources, _headline(table), grid, legend=legend, width=kit.PAGE, what=what)


def _headline(table: pd.DataFrame) -> str:
    """How many heads exceed all controls in either direction, and how many untrained ones do."""
    is_random = table["state"] == RANDOM
    found, heads = count_exceeding_heads(table[~is_random])
    by_chance, others = count_exceeding_heads(table[is_random])
    verb = "exceeds" if found == 1 else "exceed"
    said = f"{found or 'None'} of {heads} heads {verb} all controls in one direction"
    return f"{said}, untrained {by_chance or 'none'} of {others}" if others else said


def count_exceeding_heads(rows: pd.DataFrame) -> tuple[int, int]:
    """Heads that exceed all controls in one direction or both, and all heads."""
    if rows.empty:
        return 0, 0
    flags = rows.groupby(["layer", "head"])["exceeds_controls"].any()
    return int(np.count_nonzero(flags)), len(flags)
