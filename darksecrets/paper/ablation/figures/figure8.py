"""Figure 8: the score of every task with one head disabled at a time (section 4.6)."""

from __future__ import annotations

from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.paper.ablation.findings import describe_needed_heads
from darksecrets.paper.ablation.panels import (
    MARK_LEGEND,
    mark_significant,
    note_on_marks,
    panel_rows,
    reach_of,
)
from darksecrets.paper.ablation.tables import HEAD_ABLATION


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a grid of heads per task and metric: the score, in colours around the intact model's.

    Layer 1 is at the top, as in the paper. Seeds are averaged. Triangles mark significant
    differences to the intact model, and every scale is at least as wide as the noise
    (`panels.reach_of`).
    """
    table = sources.table(HEAD_ABLATION)
    tables, note = panel_rows(sources, table), note_on_marks(table)
    titles = {
        f"{name}: {written(float(rows['baseline'].mean()), '.1f')}": name
        for name, rows in tables.items()
    }

    def heads(axes: kit.Axes, title: str) -> None:
        rows = tables[titles[title]]
        values, baseline = kit.grid(rows, "score"), float(rows["baseline"].mean())
        reach = reach_of(values, rows)
        mesh = kit.matrix(axes, values, kit.CHANGE, baseline + reach, baseline - reach)
        mark_significant(axes, rows)
        bar = kit.scale(axes.figure, mesh, ax=axes)
        bar.ax.set_ylim(top=min(baseline + reach, PERCENT))
        bar.ax.locator_params(nbins=4)

    panel = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.25)
    return kit.page(
        sources,
        sources.headline(
            lambda tasks: describe_needed_heads(
                table, {task: sources.main_metrics[task] for task in tasks}
            )
        ),
        kit.Grid(list(titles), panel, most=3 if len(titles) < 7 else 5),
        legend=MARK_LEGEND,
        what="White: the intact model's score, which follows each name. Purple: higher. Each panel "
        "has its own scale.",
        width=kit.PAGE,
        note=note,
    )
