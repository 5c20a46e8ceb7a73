"""Score of the heads that learned gates keep, beside as many others (after Voita et al. 2019)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.importance import tables
from darksecrets.core.data.metrics import titles
from darksecrets.core.plotting import kit
from darksecrets.paper.ablation.panels import rows_of

_LOOKS = {
    tables.RANDOM: kit.line(kit.GREY, "s"),
    tables.ABSOLUTE: kit.line(kit.BLUE, "o"),
    tables.LEARNED: kit.line(kit.VERMILLION, "^"),
}
_STYLES: dict[str, dict[str, Any]] = {
    tables.TRAINED_ON: {"linestyle": "-", "linewidth": 0.9},
    tables.FINE_TUNED: {"linestyle": ":", "linewidth": 0.9, "markerfacecolor": "white"},
}
_INTACT = kit.line(kit.INK, width=0.7)
_CHANCE = kit.line(kit.INK, dash="-.", width=0.7)
_APART = 0.6  # per cent of heads, between the intervals of one penalty


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of heads that are kept.

    Bars are 95 % intervals of the difference to the model with all heads, drawn around its score.
    All numbers are averaged over seeds.
    """
    table, metrics = sources.table(tables.LEARNED_GATES), sources.main_metrics

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        by = ["weights", "chosen_by", "penalty"]
        means = rows.groupby(by).mean(numeric_only=True).reset_index()
        for number, (weights, style) in enumerate(_STYLES.items()):
            of_weights = means[means["weights"] == weights]
            baseline = {**_INTACT, "linestyle": style["linestyle"]}
            axes.axhline(of_weights["baseline"].mean(), zorder=1, **baseline)
            for place, (name, look) in enumerate(_LOOKS.items()):
                own = of_weights[of_weights["chosen_by"] == name]
                own = own.assign(percent=100 * own["share"] + (3 * number + place - 2.5) * _APART)
                ends = own["percent"], own["low"], own["high"]
                axes.vlines(*ends, color=look["color"], linewidth=0.6, zorder=2)
                kit.lines(axes, own, "percent", "score", {name: {**look, **style}})
        axes.axhline(rows["chance"].mean(), zorder=1, **_CHANCE)
        learned = means[
            (means["chosen_by"] == tables.LEARNED) & (means["weights"] == tables.TRAINED_ON)
        ]
        below: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "va": "bottom"}
        below |= {"bbox": {"color": "white", "pad": 0.3}, "zorder": 2}
        for row in learned.to_dict("records"):
            name = f"λ {row['penalty']:g}"
            axes.text(100 * row["share"], 0.02, name, ha="center", rotation=90, **below)
        axes.margins(y=0.25)  # room for these
        axes.set_xlim(-3, 103)

    names = "kept at random", "kept by absolute gradient", "kept by learned gates"
    legend = dict(zip(names, _LOOKS.values(), strict=True))
    plain = kit.line(kit.INK, "o", markersize=3)
    legend |= {
        "trained-on weights": plain | _STYLES[tables.TRAINED_ON],
        "fine-tuned weights": plain | _STYLES[tables.FINE_TUNED],
        "all heads": _INTACT,
        "most frequent label": _CHANCE,
    }
    panels = [[kit.Panel(scores, x="Heads kept (%)", y="Score", height=1.5)]]
    headline = "Score of the heads that are kept"
    return kit.page(sources, headline, panels, most=4, title=titles(metrics), legend=legend)
