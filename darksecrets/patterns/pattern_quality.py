"""Scores, confusions and calibration of the pattern classifier (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.patterns import quality
from darksecrets.patterns.classes import READINGS, STRICT
from darksecrets.patterns.tables import (
    AGAIN,
    CLASSIFIERS,
    PATTERN_CV,
    PATTERN_PREDICTIONS,
    SHIPPED,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    GREY,
    INK,
    PAGE,
    PATTERNS,
    SMALL,
    STATES,
    check_columns,
    label_run,
    new_figure,
    style,
)

_LOOKS = dict(
    zip(
        CLASSIFIERS,
        (("#0072B2", "o"), ("#009E73", "s"), ("#E69F00", "^"), (GREY, "x"), (INK, "|")),
        strict=True,
    )
)
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100
_STEP = 0.16  # between the classifiers of a row


def pattern_quality(predictions: pd.DataFrame, scores: pd.DataFrame, run_label: str) -> Figure:
    """Draw scores with intervals, the classifier's confusions, and its calibration.

    Confusions and calibration are in the strict reading, if there is one, and for maps of encoders
    that were left out of the training, if there are several.

    Args:
        predictions: The table `PATTERN_PREDICTIONS`.
        scores: The table `PATTERN_CV`; weighted F1 is drawn, and the calibration error printed.
        run_label: The run in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    columns = ["classifier", "left_out", "reading", "repetition", "label", "predicted", "example"]
    check_columns(predictions, columns, "pattern_predictions.csv")
    columns = ["maps_of", "reading", "classifier", "metric", "score", "ci_low", "ci_high"]
    check_columns(scores, columns, "pattern_cv.csv")
    readings = [name for name in READINGS if name in set(scores["reading"])]
    reading = STRICT if STRICT in readings else readings[0]
    left_out = max(set(predictions["left_out"]))  # `model` rather than `example`
    shown = quality.shipped_predictions(predictions, left_out, reading)
    parts = list(scores["maps_of"].unique())
    heights = [0.25 * len(parts) + 0.75, 2.4]
    with style():
        figure = new_figure(PAGE, sum(heights))
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
        panels = above.subplots(1, len(readings), sharey=True, squeeze=False)[0]
        weighted = scores[scores["metric"] == "weighted_f1"]
        for axes, name in zip(panels, readings, strict=True):
            _scores(axes, weighted[weighted["reading"] == name], parts, name)
        panels[0].set_yticks(range(len(parts)), labels=[_name(part) for part in parts])
        handles, names = panels[0].get_legend_handles_labels()
        above.legend(handles, names, loc="outside upper center", ncols=len(names))
        left, right = below.subplots(1, 2, width_ratios=[1.35, 1])
        _confusion(left, shown[shown["repetition"] == 1])
        _calibration(right, shown)
        what = (
            "maps of encoders left out of the training" if left_out == "model" else "maps left out"
        )
        below.suptitle(f"{SHIPPED.capitalize()}, {what}, {reading} reading", x=0.01, ha="left")
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    predictions, scores = sources.table(PATTERN_PREDICTIONS), sources.table(PATTERN_CV, "scores")
    return pattern_quality(predictions, scores, sources.label)


def _name(maps_of: str) -> str:
    """The maps that scores are about."""
    if maps_of == quality.ALL:
        return "all maps"
    return maps_of if maps_of.startswith(quality.unseen("")) else f"known {maps_of}"


def _scores(axes: Axes, scores: pd.DataFrame, parts: Sequence[str], reading: str) -> None:
    axes.set_label(reading)
    for place, (classifier, (colour, marker)) in enumerate(_LOOKS.items()):
        known = scores[scores["classifier"] == classifier].set_index("maps_of").reindex(list(parts))
        y = np.arange(len(parts)) + _STEP * (place - (len(_LOOKS) - 1) / 2)
        axes.hlines(y, known["ci_low"], known["ci_high"], color=colour, linewidth=0.7)
        size = 6 if classifier == AGAIN else 2.5
        axes.plot(
            *(known["score"], y, marker),
            linestyle="none",
            label=classifier,
            markersize=size,
            color=colour,
        )
        if classifier == SHIPPED:
            for score, height in zip(known["score"], y, strict=True):
                axes.annotate(
                    *(f"{score:.0f}", (1, height)),
                    textcoords="data",
                    va="center",
                    fontsize=SMALL,
                    color=colour,
                )
    for row in range(1, len(parts)):
        axes.axhline(row - 0.5, color=GREY, linewidth=0.3)
    axes.axvline(_PAPER, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    axes.text(_PAPER, -0.56, "paper", ha="center", va="bottom", fontsize=SMALL)
    axes.set(xlim=(0, 100), ylim=(len(parts) - 0.5, -0.5))
    axes.set_xlabel(f"Weighted F1 × 100, {reading} reading")
    axes.tick_params(axis="y", length=0)


def _confusion(axes: Axes, network: pd.DataFrame) -> None:
    axes.set_label("confusion")
    counts = quality.confusion(network)
    totals = counts.sum(axis=1, keepdims=True)
    rates = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    axes.imshow(rates, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        colour = "white" if rates[row, column] > 0.6 else INK
        axes.text(column, row, f"{count:.0f}", ha="center", va="center", fontsize=6, color=colour)
    names = [name.replace("+", "+\n") for name in PATTERNS]
    axes.set_xticks(
        range(len(names)), labels=list(PATTERNS), rotation=45, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(names)), labels=names)
    axes.set(
        xlabel="Classified", ylabel="Labelled", title="Maps (darker = greater share of the row)"
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _calibration(axes: Axes, network: pd.DataFrame) -> None:
    axes.set_label("calibration")
    once = np.ones((1, len(network)))
    numbers, sums, hits = (part[0] for part in quality.bins(network, once))
    error = 100 * quality.calibration_error(network, once)[0]
    some = numbers > 0
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.5)
    axes.plot(sums[some] / numbers[some], hits[some] / numbers[some], color=STATES["finetuned"])
    axes.scatter(
        sums[some] / numbers[some],
        hits[some] / numbers[some],
        60 * numbers[some] / numbers.max(),
        color=STATES["finetuned"],
        linewidth=0,
        clip_on=False,
    )
    axes.set(
        xlim=(0, 1.02),
        ylim=(0, 1.02),
        aspect="equal",
        xlabel="Probability of the class",
        ylabel="Share classified right",
        xticks=[0, 0.5, 1],
        yticks=[0, 0.5, 1],
        title=f"Calibration error {error:.1f}%",
    )
