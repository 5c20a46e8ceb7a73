"""Scores, confusions and calibration of the pattern classifier (section 4.1)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

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
_UNTRAINED = (", random", ", finetuned-from-normal")
"""Ends of the names of encoders without pre-training, see `darksecrets.patterns.annotations`."""
_PAPER = 86  # F1 of the paper's classifier on its own annotated maps, × 100
_STEP = 0.16  # between the classifiers of a row
_ROW, _LOW = 0.34, 0.14  # inches: of a row with all classifiers, and with one


@dataclass(frozen=True)
class _Line:
    """A row of the scores.

    Attributes:
        maps_of: The maps that scores are about.
        place: The middle of the row, in inches from the top.
        classifiers: Which are drawn.
    """

    maps_of: str
    place: float
    classifiers: tuple[str, ...] = CLASSIFIERS

    @property
    def name(self) -> str:
        """What is written beside the row."""
        if self.maps_of == quality.ALL:
            return "all maps"
        short = self.maps_of.replace("finetuned-from-normal", "from normal")
        return short if short.startswith(quality.unseen("")) else f"known {short}"


def pattern_quality(predictions: pd.DataFrame, scores: pd.DataFrame, run_label: str) -> Figure:
    """Draw scores with intervals, the classifier's confusions, and its calibration.

    Maps of encoders without pre-training are nearly all heterogeneous and easy to classify: at the
    bottom, they have narrow rows with only the classifier of this run. Confusions and calibration
    are in the strict reading, if there is one, and for maps of encoders that were left out of the
    training, if there are several.

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
    rows, height = _rows(list(scores["maps_of"].unique()))
    heights = [height + 0.75, 2.2]
    with style():
        figure = new_figure(PAGE, sum(heights))
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
        panels = above.subplots(1, len(readings), sharey=True, squeeze=False)[0]
        weighted = scores[scores["metric"] == "weighted_f1"]
        for axes, name in zip(panels, readings, strict=True):
            _scores(axes, weighted[weighted["reading"] == name], rows, height)
            axes.set_label(name)
            axes.set_xlabel(f"Weighted F1 × 100, {name} reading")
        panels[0].set_yticks([row.place for row in rows], labels=[row.name for row in rows])
        handles = [Line2D([], [], **_look(name), label=name) for name in _LOOKS]
        above.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        left, right = below.subplots(1, 2, width_ratios=[1.35, 1])
        _confusion(left, shown[shown["repetition"] == 1])
        _calibration(right, shown)
        what = (
            "maps of encoders left out of the training" if left_out == "model" else "maps left out"
        )
        title = f"{SHIPPED.capitalize()}, {what}, {reading} reading"
        below.suptitle(title, x=0.01, ha="left", fontsize=7)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    predictions, scores = sources.table(PATTERN_PREDICTIONS), sources.table(PATTERN_CV, "scores")
    return pattern_quality(predictions, scores, sources.label)


def _rows(parts: Sequence[str]) -> tuple[list[_Line], float]:
    """The rows of the scores from the top, encoders without pre-training last; their height."""
    untrained = [part for part in parts if part.endswith(_UNTRAINED)]
    rows, end = [], 0.0
    for part in parts:
        if part not in untrained:
            rows.append(_Line(part, end + _ROW / 2))
            end += _ROW
    for part in untrained:
        rows.append(_Line(part, end + _LOW / 2, (SHIPPED,)))
        end += _LOW
    return rows, end


def _look(classifier: str) -> dict[str, Any]:
    colour, marker = _LOOKS[classifier]
    size = 6 if classifier == AGAIN else 2.5
    return {"color": colour, "marker": marker, "markersize": size, "linestyle": "none"}


def _scores(axes: Axes, scores: pd.DataFrame, rows: Sequence[_Line], height: float) -> None:
    """Draw the scores of every classifier, and write that of the classifier of this run."""
    for number, classifier in enumerate(_LOOKS):
        mine = [row for row in rows if classifier in row.classifiers]
        known = scores[scores["classifier"] == classifier].set_index("maps_of")
        known = known.reindex([row.maps_of for row in mine])
        shift = _ROW * _STEP * (number - (len(_LOOKS) - 1) / 2)
        y = [row.place + shift * (len(row.classifiers) > 1) for row in mine]
        look = _look(classifier)
        axes.hlines(y, known["ci_low"], known["ci_high"], color=look["color"], linewidth=0.7)
        axes.plot(known["score"], y, clip_on=False, label=classifier, **look)
        if classifier == SHIPPED:
            for row, score in zip(mine, known["score"], strict=True):
                where = {"va": "center_baseline", "ha": "right", "fontsize": SMALL}
                axes.text(110, row.place, f"{score:.0f}", color=look["color"], **where)  # type: ignore[arg-type]
    for row, following in itertools.pairwise(rows):
        edge = (
            (row.place + following.place) / 2 if len(row.classifiers) == 1 else row.place + _ROW / 2
        )
        axes.axhline(edge, color="0.8", linewidth=0.3)
    axes.axvline(_PAPER, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))
    axes.text(_PAPER, -0.02, "paper", ha="center", va="bottom", fontsize=SMALL)
    axes.set(xlim=(0, 100), ylim=(height, 0))
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
        title=f"Calibration error {error:.1f}%",
    )
    axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], labels=["0", "0.5", "1"])
