"""How well probes parse by attention, after Table 3 of Clark et al. (2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import seaborn as sns

from darksecrets.beyond.syntax import probe_tables
from darksecrets.core.plotting import kit

NAMES = {
    probe_tables.ATTENTION_AND_WORDS: "Attention and words",
    probe_tables.ATTENTION: "Attention",
    probe_tables.DISTANCES_AND_WORDS: "Distances and words",
    probe_tables.DISTANCES: "Distances",
    probe_tables.OFFSET: "Best fixed offset",
    probe_tables.NEXT: "Next word",
}
"""Probes from the top, and what the figure calls them."""
_COLOURS = {name: kit.MARK if "Attention" in name else kit.BAND for name in NAMES.values()}
_LOOKS = {
    "random": kit.dot(kit.INK, "x", markeredgewidth=0.9),
    "shuffled": kit.dot(kit.INK, "|", 8.0, markeredgewidth=1.2),
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the attachment scores of all probes, and of the controls of those of attention."""
    table = kit.pick(sources.table(probe_tables.ATTENTION_PROBES), state="pretrained")
    table = table.assign(name=table["probe"].map(NAMES))
    for name in NAMES:
        kit.pick(table, probe=name)

    def scores(axes: kit.Axes, _: str) -> None:
        bars = {"x": "uas", "y": "name", "hue": "name", "palette": _COLOURS, "saturation": 1}
        order = list(NAMES.values())
        sns.barplot(table, order=order, errorbar=None, width=0.7, legend=False, ax=axes, **bars)
        look = kit.dot(kit.INK, size=2.5)
        places: dict[str, Any] = {"at": "probe", "places": NAMES}
        kit.intervals(axes, table, "uas", {"": look}, ends=("uas_low", "uas_high"), **places)
        for name, mark in _LOOKS.items():
            kit.intervals(axes, table, name, {"": mark}, **places)
        for row in table.to_dict("records"):
            end = row["uas"] if np.isnan(row["uas_high"]) else row["uas_high"]
            place = list(NAMES).index(row["probe"])
            axes.text(end + 0.015, place, f"{row['uas']:.2f}", va="center")
        axes.set_xlim(0, 1.12)
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])

    names = "random weights", "words of the trees exchanged"
    legend = dict(zip(names, _LOOKS.values(), strict=True))
    panels = [[kit.Panel(scores, x="Share of heads of words found (UAS)", height=1.2, fixed=True)]]
    headline = "Probes that parse by attention"
    return kit.page(sources, headline, kit.Grid([""], panels), legend=legend)
