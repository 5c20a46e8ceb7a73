"""What the classifier of patterns confuses, and how sure it may be (section 4.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.figures.style import (
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
from darksecrets.patterns import quality
from darksecrets.patterns.quality import CLASSIFIERS, NETWORK

_METRICS = {"weighted_f1": "Weighted F1", "macro_f1": "Macro F1"}
_COLOURS = "#009E73", "#E69F00", GREY  # of the classifiers
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100


def pattern_quality(predictions: pd.DataFrame, scores: pd.DataFrame, run_label: str) -> Figure:
    """Draw scores with intervals, the network's confusions, and its calibration.

    Args:
        predictions: Of the cross-validation; the network's are drawn.
        scores: Columns ``classifier``, ``metric``, ``pattern``, ``score``, ``ci_low``, ``ci_high``.
        run_label: The run in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    check_columns(
        predictions, ["classifier", "label", "predicted", "example"], "pattern_predictions.csv"
    )
    check_columns(scores, ["classifier", "metric", "score", "ci_low", "ci_high"], "pattern_cv.csv")
    network = quality.of_network(predictions)
    with style():
        figure = new_figure(PAGE, 2.35)
        left, middle, right = figure.subplots(1, 3, width_ratios=[1.1, 1.35, 1])
        _scores(left, scores)
        _confusion(middle, network)
        _calibration(right, network, scores)
        label_run(figure, run_label)
    return figure


def _scores(axes: Axes, scores: pd.DataFrame) -> None:
    axes.set_label("scores")
    for row, metric in enumerate(_METRICS):
        for place, classifier in enumerate(CLASSIFIERS):
            known = (scores["metric"] == metric) & (scores["classifier"] == classifier)
            score, low, high = scores.loc[known, ["score", "ci_low", "ci_high"]].iloc[0]
            y, colour = row + 0.27 * (place - 1), _COLOURS[place]
            axes.plot([low, high], [y, y], color=colour)
            axes.plot(score, y, "o", color=colour, label=None if row else classifier)
            axes.annotate(
                f"{score:.1f}",
                *(((high, y), (3, 0)) if high < 50 else ((low, y), (-3, 0))),
                textcoords="offset points",
                ha="left" if high < 50 else "right",
                va="center",
                fontsize=SMALL,
            )
    axes.axvline(_PAPER, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    axes.text(_PAPER, -0.58, "paper", ha="center", va="bottom", fontsize=SMALL)
    axes.set(xlim=(0, 100), ylim=(len(_METRICS) - 0.5, -0.55), xlabel="F1 × 100, cross-validated")
    axes.set_yticks(range(len(_METRICS)), labels=list(_METRICS.values()))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), handletextpad=0.2, borderaxespad=0)


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
    error = scores[(scores["metric"] == "calibration_error") & (scores["classifier"] == NETWORK)]
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
