"""Figure 1: a self-attention map of every pattern, with its tokens (section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import STATE_NAMES
from darksecrets.paper.patterns.maps import typical
from darksecrets.paper.patterns.tables import TYPICAL_MAPS


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw one map per pattern, in one row as in the paper; their sources are in the small print.

    The scale of a map ends where `kit.darkest` says, so that uniform attention is pale.
    """
    table = sources.table(TYPICAL_MAPS)
    maps = typical.read(table["pattern"], sources.file("maps"))
    rows = {str(row["pattern"]).capitalize(): row for row in table.to_dict("records")}
    weights = dict(zip(rows, maps, strict=True))

    def typical_map(axes: kit.Axes, name: str) -> None:
        tokens = rows[name]["tokens"].split(" ")
        kit.draw_map(axes, weights[name], tokens, kit.darkest(weights[name]), letters=10)

    panel = kit.Panel(typical_map, x=None, height=1.55, fixed=True)
    names = {"Vertical+diagonal": "Vertical +\ndiagonal", "Heterogeneous": "Hetero-\ngeneous"}
    grids = kit.Grid(list(rows), panel, title=lambda name: names.get(name, name))
    sentence = "; ".join(f"{name.lower()}: {_origin(row)}" for name, row in rows.items())
    return kit.page(
        sources,
        "One map of each pattern, as the network classifies this run's maps",
        grids,
        width=kit.PAGE,
        what="Tokens of a row attend to those of its columns; darker is more, uniform is pale.",
        note=f" · {sentence}",
        averaged=True,
    )


def _origin(row: Mapping[Any, Any]) -> str:
    """Where a map is from, and how certain its pattern is."""
    model = f"{row['task']}, {STATE_NAMES[row['state']]}"
    if not pd.isna(row["seed"]):
        model += f", seed {row['seed']}"
    return f"{model}, layer {row['layer']}, head {row['head']} ({row['probability']:.0%} certain)"
