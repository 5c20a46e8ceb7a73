"""Scores, confusions and calibration of the pattern classifier (section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FROM_NORMAL, STATE_NAMES
from darksecrets.paper.patterns import quality, tables
from darksecrets.paper.patterns.classes import DEFINITIONS, STRICT

_LOOKS = {
    tables.SHIPPED: kit.dot(kit.BLUE, size=2.5),
    tables.NETWORK: kit.dot(kit.GREEN, "s", 2.5),
    tables.MAJORITY: kit.dot(kit.GREY, "x", 2.5),
    tables.AGAIN: kit.dot(kit.INK, "|", 6.0),
}
_UNTRAINED = (", random", ", finetuned-from-normal")
"""Ends of the names of encoders without pre-training, see `paper.patterns.labelled_maps`."""
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100
_CONFUSION = "Maps (darker = greater share of the row)"


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw scores with intervals, the classifier's confusions, and its calibration.

    Maps of encoders without pre-training are nearly all heterogeneous and easy to classify: at the
    bottom, they have only the classifier of this run. Confusions and calibration are in the strict
    definition, if there is one, and for maps of encoders that were left out of the training, if
    there are several.
    """
    predictions = sources.table(tables.PATTERN_PREDICTIONS)
    scores = sources.table(tables.PATTERN_CV, "scores")
    definitions = [name for name in DEFINITIONS if name in set(scores["definition"])]
    definition = STRICT if STRICT in definitions else definitions[0]
    left_out = max(set(predictions["left_out"]))  # `model` rather than `example`
    shown = quality.shipped_predictions(predictions, left_out, definition)
    weighted = kit.pick(scores, metric="weighted_f1")
    untrained = weighted["maps_of"].str.endswith(_UNTRAINED)
    weighted = weighted[~untrained | (weighted["classifier"] == tables.SHIPPED)]
    names = weighted["maps_of"].iloc[np.argsort(untrained[weighted.index], kind="stable")]
    places = {name: _name(name) for name in names}
    definition_titles = {f"{name.capitalize()} definition": name for name in definitions}

    def f1(axes: kit.Axes, title: str) -> None:
        rows = weighted[weighted["definition"] == definition_titles[title]]
        where: dict[str, Any] = {"at": "maps_of", "places": places, "by": "classifier"}
        crowded = rows["maps_of"].str.endswith(_UNTRAINED)
        ends = ("ci_low", "ci_high")
        for part, spread in ((rows[~crowded], ["classifier"]), (rows[crowded], [])):
            look: dict[str, Any] = {"ends": ends, "spread": spread, "apart": 0.16}
            kit.intervals(axes, part, "score", _LOOKS, **where, **look)
        for row in kit.pick(rows, classifier=tables.SHIPPED).to_dict("records"):
            number: dict[str, Any] = {"va": "center_baseline", "ha": "right", "color": kit.BLUE}
            axes.text(113, list(places).index(row["maps_of"]), f"{row['score']:.0f}", **number)
        axes.axvline(_PAPER, color=kit.INK, linewidth=0.6, linestyle="--")
        axes.set(xlim=(0, 102))

    def draw_below(axes: kit.Axes, name: str) -> None:
        if name == _CONFUSION:
            _confusion(axes, shown[shown["repetition"] == 1])
        else:
            _calibration(axes, shown)

    error = quality.calibration_error(shown, np.ones((1, len(shown))))[0]
    maps = "maps of encoders left out of the training" if left_out == "model" else "maps left out"
    legend = _LOOKS | {"paper": kit.line(kit.INK, dash="--", width=0.6)}
    look: dict[str, Any] = {"height": 0.4 + 0.25 * len(places), "fixed": True, "share": "columns"}
    above = kit.Grid(list(definition_titles), kit.Panel(f1, x="Weighted F1 × 100", **look))
    title = f"{tables.SHIPPED.capitalize()}, {maps}, {definition} definition"
    parts = [_CONFUSION, f"Calibration error {100 * error:.1f}%"]
    under = kit.Grid(parts, kit.Panel(draw_below, height=2.0, x=None, fixed=True), headline=title)
    headline = "How well patterns are classified: weighted F1, confusions and calibration"
    return kit.page(sources, headline, above, under, legend=legend, width=kit.PAGE)


def _name(maps_of: str) -> str:
    """What is written beside the scores of some maps."""
    if maps_of == quality.ALL:
        return "all maps"
    short = maps_of.replace(FROM_NORMAL, STATE_NAMES[FROM_NORMAL])
    return short if short.startswith(quality.unseen("")) else f"known {short}"


def _confusion(axes: kit.Axes, predictions: pd.DataFrame) -> None:
    counts = quality.confusion(predictions)
    totals = counts.sum(axis=1, keepdims=True)
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    table = pd.DataFrame(rates, index=list(kit.PATTERNS), columns=list(kit.PATTERNS))
    kit.matrix(axes, table, kit.SCORE, 1, 0, texts=np.vectorize("{:.0f}".format)(counts))
    axes.set(xlabel="Classified", ylabel="Labelled")
    names = [name.replace("+", "+\n") for name in kit.PATTERNS]
    axes.set_yticks(axes.get_yticks(), names)
    axes.set_xticks(axes.get_xticks(), names, rotation=45, ha="right", rotation_mode="anchor")


def _calibration(axes: kit.Axes, predictions: pd.DataFrame) -> None:
    once = np.ones((1, len(predictions)))
    numbers, sums, hits = (part[0] for part in quality.bins(predictions, once))
    some = numbers > 0
    certain, right = (part[some] / numbers[some] for part in (sums, hits))
    axes.plot([0, 1], [0, 1], color=kit.GREY, linewidth=0.5)
    axes.plot(certain, right, color=kit.GREEN)
    sizes = 60 * numbers[some] / numbers.max()
    axes.scatter(certain, right, sizes, color=kit.GREEN, linewidth=0, clip_on=False)
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    axes.set(xlabel="Probability of the class", ylabel="Share classified right")
    axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], labels=["0", "0.5", "1"])
