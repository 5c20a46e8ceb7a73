"""Heads during fine-tuning: what their maps are at every snapshot, a line per layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import MaxNLocator, NullLocator

from darksecrets.ablation.panels import STATE
from darksecrets.arrays import Floats
from darksecrets.landscape.trajectory_tables import HEAD_TRAJECTORIES, LAYER_HALFWAY
from darksecrets.plotting import kit

ROWS: Mapping[str, str] = {
    "cosine_to_start": "Cosine\nto start",
    "cosine_to_end": "Cosine\nto end",
    "progress": "Progress",
    "entropy": "Entropy\n(nats)",
    "sharpness": "Largest\nweight",
    "special": "[CLS] and\n[SEP]",
    "same_pattern": "Pattern as\nat start (%)",
}
"""Rows of panels from the top, by column of the table, with the label of their axis."""

_PARTS = 4  # between marks of the axis of steps
_HALF: dict[str, Any] = {"marker": "o", "markersize": 3.4, "markeredgecolor": "white"}
_HALF |= {"markeredgewidth": 0.5, "linestyle": "none"}
_WEIGHTS: dict[str, Any] = kit.line(kit.BASELINE, width=1.2)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a column of panels per task: means over the heads of each layer against the step.

    Lines are means over heads and seeds of the fine-tuned models, darker = higher layer. Steps have
    a square-root scale, as snapshots are denser at the beginning. On the progress, a dot marks half
    of each layer's way, and the orange line half of the way of all weights.
    """
    rows = kit.pick(sources.table(HEAD_TRAJECTORIES), state=STATE, task=sources.tasks)
    rows["special"] = rows["first"] + rows["separators"]
    halves = kit.pick(sources.table(LAYER_HALFWAY, "halfway"), state=STATE)
    colours = kit.of_layers(int(rows["layer"].max()))
    looks = {layer: {"color": colour} for layer, colour in colours.items()}
    edges = np.arange(len(colours) + 1) + 0.5
    of_colours = kit.ScalarMappable(
        BoundaryNorm(edges, len(colours)), ListedColormap(list(colours.values()))
    )

    def panel(axes: kit.Axes, task: str, column: str) -> kit.ScalarMappable:
        own, halfway = rows[rows["task"] == task], halves[halves["task"] == task]
        last = int(own["step"].max())
        kit.lines(axes, own, "step", column, looks, by="layer")
        if column == "progress":
            weights = float(halfway["weights_halfway"].mean()) / 100 * last
            axes.axvline(weights, zorder=0, **_WEIGHTS)
            for layer, share in zip(halfway["layer"], halfway["halfway"], strict=True):
                axes.plot(share / 100 * last, 0.5, color=colours[layer], **_HALF)
            low, high = axes.get_ylim()
            axes.set_ylim(min(-0.1, low), max(1.1, high))
        axes.set_xscale("function", functions=(_root, np.square))
        axes.set_xlim(0, last)
        marks = sorted({round(last * (part / _PARTS) ** 2) for part in range(_PARTS + 1)})
        axes.set_xticks(marks, [f"{step:,}" for step in marks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(MaxNLocator(3))
        return of_colours

    bar = kit.Bar("Layer", below=True, finish=lambda bar: bar.set_ticks(kit.ticks(len(colours))))
    panels = kit.rows(panel, ROWS, "Step", height=0.65, bar=bar, share="")
    legend = {
        "half of a layer's way": {"color": kit.INK, **_HALF},
        "half of the way of all weights": _WEIGHTS,
    }
    headline = "Heads during fine-tuning, means over layers"
    return kit.page(sources, headline, panels, most=5, legend=legend)


def _root(steps: npt.ArrayLike) -> Floats:
    """Square roots; limits of axes may be below 0."""
    return np.sqrt(np.maximum(steps, 0))
