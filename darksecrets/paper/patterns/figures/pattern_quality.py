"""Scores, confusions and calibration of the classifiers of patterns (section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import FROM_NORMAL, RANDOM
from darksecrets.paper.patterns import tables
from darksecrets.paper.patterns.classes import LENIENT, STRICT
from darksecrets.paper.patterns.network import quality

NAMES = {tables.CNN: "network", tables.FEATURES: "its teacher", tables.AGAIN: "second labelling"}
"""What is compared, as the legend calls it."""
_LOOKS = {
    tables.CNN: kit.dot(kit.BLUE, size=2.8),
    tables.FEATURES: kit.dot(kit.VERMILLION, "s", 2.8),
    tables.AGAIN: kit.dot(kit.INK, "|", 6.0),
}
_TITLES = {STRICT: "The paper's definition", LENIENT: "Lenient definition"}
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100
_LEAST = 50  # × 100: where the axis starts, unless scores are lower
_CONFUSION = "Maps (darker = larger share of the row)"


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw scores with intervals; and the confusions and the calibration of the network.

    Scores are of each pre-trained encoder that was left out of the training, and of all maps, each
    by training on other sentences. Maps of encoders without pre-training are nearly all
    heterogeneous, and easy: they have no row. Confusions and calibration are under the paper's
    definition, of encoders left out, if there are several.
    """
    predictions = sources.table(tables.PATTERN_PREDICTIONS)
    scores = sources.table(tables.PATTERN_CV)
    left_out = max(set(predictions["left_out"]))  # `model` rather than `example`
    shown = quality.predictions_of(tables.CNN, predictions, left_out, STRICT)
    weighted = kit.pick(scores, metric="weighted_f1", classifier=list(_LOOKS))
    places = {name: _name(name) for name in _rows(list(weighted["maps_of"].unique()))}
    weighted = weighted[weighted["maps_of"].isin(list(places))]
    least = min(_LEAST, 10 * np.floor(weighted["ci_low"].min() / 10))
    definitions = {
        title: definition
        for definition, title in _TITLES.items()
        if definition in set(weighted["definition"])
    }

    def f1(axes: kit.Axes, title: str) -> None:
        rows = weighted[weighted["definition"] == definitions[title]]
        look: dict[str, Any] = {"at": "maps_of", "places": places, "by": "classifier"}
        look |= {"ends": ("ci_low", "ci_high"), "spread": ["classifier"], "apart": 0.2}
        kit.intervals(axes, rows, "score", _LOOKS, **look)
        axes.axvline(_PAPER, color=kit.INK, linewidth=0.6, linestyle="--")
        axes.set(xlim=(least, 101))

    def draw_below(axes: kit.Axes, name: str) -> None:
        if name == _CONFUSION:
            _confusion(axes, shown)
        else:
            _calibration(axes, shown)

    error = quality.calibration_error(shown, np.ones((1, len(shown))))[0]
    whose = "encoders" if left_out == tables.MODEL else "sentences"
    legend = {NAMES[name]: look for name, look in _LOOKS.items()}
    legend["the paper's network on its own maps"] = kit.line(kit.INK, dash="--", width=0.6)
    look: dict[str, Any] = {"height": 0.25 + 0.22 * len(places), "fixed": True, "share": "columns"}
    above = kit.Grid(list(definitions), kit.Panel(f1, x="Weighted F1 × 100", **look))
    parts = [_CONFUSION, f"Calibration error {100 * error:.1f}%"]
    under = kit.Grid(
        parts,
        kit.Panel(draw_below, height=1.75, x=None, fixed=True),
        headline=f"Network, {whose} left out, the paper's definition",
    )
    return kit.page(
        sources,
        _headline(weighted),
        above,
        under,
        legend=legend,
        width=kit.PAGE,
        what="Weighted F1 with 95% intervals. Second labelling: the most that can be hoped for.",
    )


def _rows(names: list[str]) -> list[str]:
    """The sets of maps that have a row: pre-trained encoders left out, then all maps."""
    untrained = tuple(f", {state}" for state in (RANDOM, FROM_NORMAL))
    unseen = [
        name
        for name in names
        if name.startswith(quality.unseen("")) and not name.endswith(untrained)
    ]
    return [*unseen, quality.ALL]


def _name(maps_of: str) -> str:
    """What is written beside the scores of some maps."""
    if maps_of == quality.ALL:
        return "all maps"
    return f"{maps_of.removeprefix(quality.unseen(''))}, left out"


def _headline(weighted: pd.DataFrame) -> str:
    """The scores of the network under the paper's definition."""
    rows = kit.pick(weighted, classifier=tables.CNN, definition=STRICT)
    unseen = rows[rows["maps_of"] != quality.ALL]["score"]
    known = float(rows[rows["maps_of"] == quality.ALL]["score"].iloc[0])
    if unseen.empty:
        return f"The network reaches a weighted F1 of {known:.0f}"
    low, high = f"{unseen.min():.0f}", f"{unseen.max():.0f}"
    return f"The network reaches F1 {low} to {high} on encoders left out, {known:.0f} on all"


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
