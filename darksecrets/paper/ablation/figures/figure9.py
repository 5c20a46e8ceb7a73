"""Figure 9: the score of every task with one layer disabled at a time (section 4.6)."""

from __future__ import annotations

from typing import Any

from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.findings import describe_needed_layers
from darksecrets.paper.ablation.panels import note_on_marks, panel_rows
from darksecrets.paper.ablation.tables import LAYER_ABLATION

_DOT = {"": kit.dot(kit.INK, size=2.6, markeredgewidth=0.5)}
_INTACT = kit.line(kit.BASELINE, width=2)
_LEGEND = {
    "intact model": _INTACT,
    "significant": _DOT[""],
    "not significant": kit.hollow(_DOT[""]),
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the score without each layer, with the interval of its difference, per task and metric.

    Layer 1 is at the top, and an orange line is the intact model, as in the paper. Each seed has a
    dot, filled if its difference is significant; the numbers are means over seeds.
    """
    table = sources.table(LAYER_ABLATION)
    note = note_on_marks(table)
    tables = panel_rows(sources, table.assign(sure=table["q_value"] < LEVEL))

    def layers(axes: kit.Axes, name: str) -> None:
        rows = tables[name]
        ends = {end: rows["baseline"] + rows[f"ci_{end}"] for end in ("low", "high")}
        numbers = rows.groupby("layer")["score"].mean()
        axes.axvline(rows["baseline"].mean(), zorder=1, **_INTACT)
        look: dict[str, Any] = {"at": "layer", "spread": ["seed"], "sure": "sure"}
        places = {layer: f"{layer}" for layer in numbers.index}
        kit.intervals(
            axes, rows.assign(**ends), "score", _DOT, ends=("low", "high"), places=places, **look
        )
        place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "clip_on": False}
        for row, number in enumerate(numbers):
            text = written(number, ".1f")
            axes.text(1.03, row, text, va="center_baseline", ha="left", **place)
        axes.locator_params(axis="x", nbins=3)

    seeds = ", a line per seed" if table["seed"].nunique() > 1 else ""
    height = 0.35 + 0.115 * max(table["layer"].nunique(), 3)
    look: dict[str, Any] = {"height": height, "fixed": True, "share": "columns"}
    panel = kit.Panel(layers, "layers", x="Score", y="Layer", **look)
    return kit.page(
        sources,
        sources.headline(
            lambda tasks: describe_needed_layers(
                table, {task: sources.main_metrics[task] for task in tasks}
            )
        ),
        kit.Grid(list(tables), panel, most=3 if len(tables) < 7 else 5),
        legend=_LEGEND,
        what=f"Score without each layer{seeds}, with 95% intervals of the difference to the intact "
        "model. Each panel has its own scale.",
        width=kit.PAGE,
        note=note,
    )
