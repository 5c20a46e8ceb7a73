"""Figure 1: a typical self-attention map of every pattern, with its tokens (section 4.1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from darksecrets.core.plotting import kit
from darksecrets.paper.patterns import typical
from darksecrets.paper.patterns.tables import TYPICAL_MAPS


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw one map per pattern. Rows are queries; darker = more attention.

    The scale of each map ends at its L-th greatest weight, as on the labelling page.
    """
    table = sources.table(TYPICAL_MAPS)
    maps = typical.read(table, sources.file("maps"))
    rows = {str(row["label"]).capitalize(): row for row in table.to_dict("records")}
    weights = dict(zip(rows, maps, strict=True))

    def typical_map(axes: kit.Axes, name: str) -> kit.ScalarMappable:
        tokens = rows[name]["tokens"].split()
        kit.draw_map(axes, weights[name], tokens, kit.saturation(weights[name]))
        return kit.ScalarMappable(cmap=kit.MAP)

    bar = kit.Bar("Attention weight (darker = greater)", below=True, finish=kit.name_ends)
    panel = kit.Panel(typical_map, x="attended to", y="attends", height=2.15, bar=bar)
    grids = kit.Grid(list(rows), panel, most=3, title=lambda name: f"{name}\n{_origin(rows[name])}")
    headline = "A typical self-attention map of every pattern"
    return kit.page(sources, headline, grids, width=kit.PAGE)


def _origin(row: Mapping[Hashable, object]) -> str:
    """Where a map is from, as far as it is known."""
    model_words = ", ".join(str(row[name]) for name in ("task", "state") if row[name])
    where = [str(row["model"]), model_words]
    if row["layer"]:
        where.append(f"layer {row['layer']} head {row['head']}")
    return "\n".join(filter(None, where))
