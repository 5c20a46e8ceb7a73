"""The score of every task with layers restored: alone, from below, from above (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import STATE, title
from darksecrets.landscape.tables import FROM, LAYER, RESTORED, RESTORED_MEANS, UP_TO
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import limits, panel, panel_figure
from darksecrets.plotting.style import BASELINE, INK, SCORE, SMALL
from darksecrets.run.numbers import written
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    UP_TO: {"color": "#0072B2", "marker": "^"},
    LAYER: {"color": INK, "marker": "o"},
    FROM: {"color": "#D55E00", "marker": "v"},
}
_WORDS = {
    UP_TO: "1…k: embeddings and layers up to this one",
    LAYER: "k: this layer alone",
    FROM: "k…: this layer and all above",
}
_SHORT = {UP_TO: "1…k", LAYER: "k", FROM: "k…"}
_DARK = 0.6  # text is white above this share of the colour scale


def restored_layers(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw three columns of layers per task, beside them the differences to the fine-tuned model.

    As in Figure 9: layer 1 at the top, darker = greater score, one scale per task, an orange line
    for the model with nothing restored. Differences have intervals, and are filled if significant.

    Args:
        table: `restored_means.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.
    """
    chosen = (table["state"] == STATE) & (table["direction"] == RESTORED)
    kinds = table["kind"].isin(list(_LOOKS))
    rows = table[chosen & kinds]
    rows = rows.assign(
        layer=np.where(rows["kind"] == UP_TO, rows["last_layer"], rows["first_layer"])
    )
    tables = {
        task: rows[(rows["task"] == task) & (rows["metric"] == metric)]
        for task, metric in tasks.items()
    }
    layers = int(rows["layer"].max())
    return panel_figure(
        *(tables, _panel, _legend, run_label), height=lambda _: 0.75 + 0.15 * max(layers, 4)
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tasks = {task: sources.main_metrics[task] for task in sources.tasks}
    return restored_layers(sources.table(RESTORED_MEANS), tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    wide = rows.pivot(index="layer", columns="kind", values="score").sort_index()[list(_LOOKS)]
    values, baseline = wide.to_numpy(dtype=np.float64), float(rows["baseline"].mean())
    low, high = limits(values, baseline)
    look: dict[str, Any] = {"title": title(rows), "what": "layers", "ratio": 1.1, "labels": 12}
    axes, beside, _ = panel(figure, slot, task, values, cmap=SCORE, vmin=low, vmax=high, **look)
    axes.set(xlabel="Restored", xticks=range(1, len(_LOOKS) + 1))
    axes.set_xticklabels([_SHORT[kind] for kind in _LOOKS])
    for (layer, column), value in np.ndenumerate(values):
        colour = "white" if value > low + _DARK * (high - low) else INK
        place = {"ha": "center", "va": "center", "fontsize": SMALL}
        axes.text(column + 1, layer + 1, f"{value:.0f}", color=colour, **place)  # type: ignore[arg-type]
    beside.set(label=f"{task} intervals", ylim=axes.get_ylim())
    _differences(beside, rows, baseline)


def _differences(axes: Axes, rows: pd.DataFrame, baseline: float) -> None:
    """Draw every difference to the fine-tuned model, with its interval."""
    axes.axvline(0, color=BASELINE, linewidth=2, zorder=0)
    axes.set_title(f"none: {written(baseline, '.1f')}", fontsize=SMALL, color=INK)
    for place, (kind, look) in zip((-0.25, 0, 0.25), _LOOKS.items(), strict=True):
        own = rows[rows["kind"] == kind]
        heights = own["layer"] + place
        axes.hlines(heights, own["ci_low"], own["ci_high"], color=look["color"], linewidth=0.6)
        sure = own["q_value"] < LEVEL
        for fill, chosen in (("white", ~sure), (look["color"], sure)):
            points = own.loc[chosen, "delta"], heights[chosen]
            edge: dict[str, Any] = {"markersize": 2.4, "markeredgewidth": 0.4, "linestyle": "none"}
            axes.plot(*points, markerfacecolor=fill, **look, **edge)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.set(xlabel="Difference", yticks=[])
    axes.tick_params(labelsize=SMALL)


def _legend(figure: Figure, beside: int) -> None:
    entries: dict[str, Any] = {
        _WORDS[kind]: Line2D([], [], linestyle="none", markersize=3, **look)
        for kind, look in _LOOKS.items()
    }
    entries["nothing restored"] = Line2D([], [], color=BASELINE, linewidth=2)
    entries["greater score"] = Patch(color=mpl.colormaps[SCORE](0.9))
    columns = 1 if beside <= 2 else 3
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "handlelength": 1.2}
    figure.legend(list(entries.values()), list(entries), **place)
