"""Figure 8: the score of every task with one head disabled at a time (section 4.6)."""

from __future__ import annotations

from darksecrets.core.plotting import kit
from darksecrets.paper.ablation.panels import (
    LEGEND,
    mark_significant,
    note_on_marks,
    panel_rows,
    scale_of,
)
from darksecrets.paper.ablation.tables import HEAD_ABLATION


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a grid of heads per task and metric, the intact model's score on its colour bar.

    As in the paper: layer 1 at the top, darker = greater score, one scale per task, an orange
    line for the intact model. Seeds are averaged. Triangles mark significant differences to the
    intact model, and every scale is at least as wide as the noise (`panels.scale_of`).
    """
    table = sources.table(HEAD_ABLATION)
    tables, note = panel_rows(sources, table), note_on_marks(table)

    def heads(axes: kit.Axes, name: str) -> None:
        rows, values = tables[name], kit.grid(tables[name], "score")
        low, high = scale_of(values, rows)
        mesh = kit.matrix(axes, values, kit.SCORE, high, low)
        mark_significant(axes, rows)
        baseline = float(rows["baseline"].mean())
        marks = {baseline: kit.line(kit.BASELINE, width=2)}
        bar = kit.scale(axes.figure, mesh, marks=marks, ax=axes)
        bar.ax.set_title(f"{baseline:.1f}")
        bar.ax.locator_params(nbins=4)

    panels = [[kit.Panel(heads, "heads", x="Head", y="Layer", height=1.4)]]
    grids = kit.Grid(list(tables), panels, most=4)
    return kit.page(sources, "Score with one head disabled", grids, legend=LEGEND, note=note)
