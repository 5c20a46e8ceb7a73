"""The score of every task with layers reset: alone, from below, from above (Hao et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from darksecrets.beyond.landscape.tables import FROM, LAYER, RESET_MEANS, UP_TO
from darksecrets.core.data.metrics import titles
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.panels import LEGEND, rows_of, scale_of

_LOOKS = {
    UP_TO: kit.dot(kit.BLUE, "^", 2.6, markeredgewidth=0.4),
    LAYER: kit.dot(kit.INK, "o", 2.6, markeredgewidth=0.4),
    FROM: kit.dot(kit.VERMILLION, "v", 2.6, markeredgewidth=0.4),
}
_WORDS = {
    UP_TO: "1…k: embeddings and layers up to this one",
    LAYER: "k: this layer alone",
    FROM: "k…: this layer and all above",
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw three columns of layers per task, beside them the differences to the fine-tuned model.

    As in Figure 9: layer 1 at the top, darker = greater score, one scale per task, an orange line
    for the model with nothing reset. Differences have intervals, and are filled if significant.
    """
    metrics = sources.main_metrics
    table = kit.pick(sources.table(RESET_MEANS), kind=_LOOKS)
    last = table["kind"] == UP_TO
    table["layer"] = table["last_layer"].where(last, table["first_layer"]).astype(int)
    table["sure"] = table["q_value"] < LEVEL

    def layers(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        values = kit.cells(rows, "score", "layer", "kind")[list(_LOOKS)]
        low, high = scale_of(values, rows.drop(columns="q_value"))
        names = [_WORDS[kind].split(":")[0] for kind in _LOOKS]
        texts = np.vectorize("{:.0f}".format)(values)
        values = values.set_axis(names, axis=1)
        kit.matrix(axes, values, kit.SCORE, high, low, texts=texts, labels=12)

    def differences(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        axes.axvline(0, color=kit.BASELINE, linewidth=2, zorder=1)
        names = dict.fromkeys(sorted(rows["layer"].unique()), "")
        look: dict[str, Any] = {
            "at": "layer",
            "places": names,
            "ends": ("ci_low", "ci_high"),
            "sure": "sure",
        }
        kit.intervals(axes, rows, "delta", _LOOKS, by="kind", spread=["kind"], **look)
        axes.set_title(f"none: {written(rows['baseline'].mean(), '.1f')}")
        axes.locator_params(axis="x", nbins=3)

    height = 0.4 + 0.13 * max(int(table["layer"].max()), 4)
    panels = [
        kit.Panel(layers, "layers", x="Reset", y="Layer", height=height, width=1.1),
        kit.Panel(differences, "intervals", x="Difference"),
    ]
    legend = {_WORDS[kind]: look for kind, look in _LOOKS.items()}
    legend |= {"nothing reset": LEGEND["intact model"], "greater score": LEGEND["greater score"]}
    headline = "Score with layers reset to pre-trained weights"
    return kit.page(sources, headline, [panels], most=4, title=titles(metrics), legend=legend)
