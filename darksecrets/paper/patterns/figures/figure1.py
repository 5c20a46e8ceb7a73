"""Figure 1: a typical self-attention map of every pattern, with its tokens (section 4.1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import STATE_NAMES
from darksecrets.paper.patterns.maps import typical
from darksecrets.paper.patterns.tables import TYPICAL_MAPS


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw one map per pattern, in one row as in the paper; their sources are in the small print.

    The scale of a map ends where `kit.darkest` says, so that uniform attention is pale.
    """
    table = sources.table(TYPICAL_MAPS)
    maps = typical.read(table, sources.file("maps"))
    rows = {str(row["label"]).capitalize(): row for row in table.to_dict("records")}
    weights = dict(zip(rows, maps, strict=True))

    def typical_map(axes: kit.Axes, name: str) -> None:
        tokens = rows[name]["tokens"].split()
        kit.draw_map(axes, weights[name], tokens, kit.darkest(weights[name]), letters=10)

    panel = kit.Panel(typical_map, x=None, height=1.55, fixed=True)
    names = {"Vertical+diagonal": "Vertical +\ndiagonal", "Heterogeneous": "Hetero-\ngeneous"}
    grids = kit.Grid(list(rows), panel, title=lambda name: names.get(name, name))
    sentence = "; ".join(f"{name.lower()}: {_origin(row)}" for name, row in rows.items())
    return kit.page(
        sources,
        "One map of each pattern, the one that is classified most certainly",
        grids,
        width=kit.PAGE,
        what="Tokens of a row attend to those of its columns; darker is more, uniform is pale.",
        note=f" · {sentence}",
    )


def _origin(row: Mapping[Hashable, object]) -> str:
    """Where a map is from, as far as it is known."""
    state = STATE_NAMES.get(str(row["state"]), "")
    words = [str(row["model"]), str(row["task"] or ""), state]
    if row["layer"]:
        words.append(f"layer {row['layer']} head {row['head']}")
    return ", ".join(filter(None, words))
