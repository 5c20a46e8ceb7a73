"""Scores, confusions and calibration of the pattern classifier (section 4.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.patterns import quality
from darksecrets.patterns.tables import CLASSIFIERS, NETWORK, PATTERN_CV, PATTERN_PREDICTIONS
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

_METRICS = {"weighted_f1": "Weighted F1", "macro_f1": "Macro F1"}
_COLOURS = "#009E73", "#E69F00", GREY  # of the classifiers
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100


def pattern_quality(predictions: pd.DataFrame, scores: pd.DataFrame, run_label: str) -> Figure:
    """Draw scores with intervals, the network's confusions, and its calibration.

    Args:
        predictions: Of the cross-validation; the network's are drawn.
        scores: Columns ``maps_of``, ``classifier``, ``metric``, ``score``, ``ci_low``, ``ci_high``.
        run_label: The run in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    columns = ["classifier", "left_out", "label", "predicted", "example"]
    check_columns(predictions, columns, "pattern_predictions.csv")
    columns = ["maps_of", "classifier", "metric", "score", "ci_low", "ci_high"]
    check_columns(scores, columns, "pattern_cv.csv")
    network = quality.of_network(predictions)
    parts = list(scores["maps_of"].unique())
    heights = [0.4 * len(parts) + 0.65, 2.3]
    with style():
        figure = new_figure(PAGE, sum(heights))
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
        panels = above.subplots(1, len(_METRICS), sharey=True)
        for axes, metric in zip(panels, _METRICS, strict=True):
            _scores(axes, scores[scores["metric"] == metric], metric)
        panels[0].set_yticks(range(len(parts)), labels=[_name(part) for part in parts])
        handles, names = panels[0].get_legend_handles_labels()
        above.legend(handles, names, loc="outside upper center", ncols=len(names))
        left, right = below.subplots(1, 2, width_ratios=[1.35, 1])
        _confusion(left, network)
        _calibration(right, network, scores)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    predictions, scores = sources.table(PATTERN_PREDICTIONS), sources.table(PATTERN_CV, "scores")
    return pattern_quality(predictions, scores, sources.label)


def _name(maps_of: str) -> str:
    """The maps that scores are about, in two lines."""
    if maps_of == quality.ALL:
        return "all maps"
    model = maps_of.removeprefix(quality.unseen(""))
    if model != maps_of:
        return f"{model},\nlearned from others only"
    return f"{maps_of},\nlearned from all"


def _scores(axes: Axes, scores: pd.DataFrame, metric: str) -> None:
    axes.set_label(metric)
    rows = {name: row for row, name in enumerate(scores["maps_of"].unique())}
    for place, classifier in enumerate(CLASSIFIERS):
        known = scores[scores["classifier"] == classifier]
        for one in known.to_dict("records"):
            score, low, high = one["score"], one["ci_low"], one["ci_high"]
            y, colour = rows[one["maps_of"]] + 0.27 * (place - 1), _COLOURS[place]
            axes.plot([low, high], [y, y], color=colour)
            axes.plot(
                score, y, "o", color=colour, label=None if rows[one["maps_of"]] else classifier
            )
            axes.annotate(
                f"{score:.1f}",
                *(((high, y), (3, 0)) if high < 50 else ((low, y), (-3, 0))),
                textcoords="offset points",
                ha="left" if high < 50 else "right",
                va="center",
                fontsize=SMALL,
            )
    for row in range(1, len(rows)):
        axes.axhline(row - 0.5, color=GREY, linewidth=0.3)
    axes.axvline(_PAPER, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    axes.text(_PAPER, -0.56, "paper", ha="center", va="bottom", fontsize=SMALL)
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.5, -0.5), xlabel=f"{_METRICS[metric]} × 100")
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


def _calibration(axes: Axes, network: pd.DataFrame, scores: pd.DataFrame) -> None:
    axes.set_label("calibration")
    numbers, sums, hits = (part[0] for part in quality.bins(network, np.ones((1, len(network)))))
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
    rows = (scores["metric"] == "calibration_error") & (scores["maps_of"] == quality.ALL)
    error = scores[rows & (scores["classifier"] == NETWORK)]
    axes.set(
        xlim=(0, 1.02),
        ylim=(0, 1.02),
        aspect="equal",
        xlabel="Probability of the class",
        ylabel="Share classified right",
        xticks=[0, 0.5, 1],
        yticks=[0, 0.5, 1],
        title=f"Calibration error {error['score'].iloc[0]:.1f}%",
    )
