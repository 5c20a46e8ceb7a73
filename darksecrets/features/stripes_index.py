"""Which features have stripes in which task: an index to the figures of stripes (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from darksecrets.data.metrics import PERCENT
from darksecrets.features.figure7 import FEATURES
from darksecrets.features.tables import ATTENTION_CHANGES, ATTENTION_LEVELS, GREATEST
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import DIFFERENCE, MOST
from darksecrets.plotting.style import (
    COLUMN,
    INK,
    PAGE,
    SMALL,
    UNKNOWN,
    blocks,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.ticker import Locator
    from numpy.typing import NDArray

LEVELS = ("task", "state", "measure", "layer", "feature", "weight", "weight_low", "weight_high")
CHANGES = ("task", "layer", "feature", "over_control", "over_control_low", "over_control_high")
_DARK = 0.6  # text is white beyond this share of the colour scale
_NAMES = 0.35  # inches that the names of features take from every panel
_LONG = 5  # names with more letters are written upwards


@dataclass(frozen=True)
class Part:
    """One half of the figure; arrays are [feature, task], NaN where a task has no such token.

    Attributes:
        title: What it shows.
        values: What the colours show.
        texts: What is written into the cells.
        sure: Which cells differ from what is expected by chance; they are bold.
        limit: Value of the darkest colours.
        scale: Label of the colour bar.
        ticks: Places of its ticks.
        written: What is written at a tick.
    """

    title: str
    values: NDArray[np.float64]
    texts: NDArray[np.str_]
    sure: NDArray[np.bool_]
    limit: float
    scale: str
    ticks: Locator
    written: FuncFormatter


def stripes_index(
    levels: pd.DataFrame, changes: pd.DataFrame, tasks: Sequence[str], run_label: str
) -> Figure:
    """Draw how strong the stripes of every feature are in every task, and how they change.

    Left is the attention after fine-tuning relative to that of random tokens, on a logarithmic
    scale; right is its change by fine-tuning, minus that of random tokens. Both are means over the
    heads of the encoder. Bold numbers differ from their control.

    Args:
        levels: ``attention_levels.csv``.
        changes: ``attention_changes.csv``; may be empty.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    check_columns(levels, [*LEVELS, "control"], "attention_levels.csv")
    check_columns(changes, [*CHANGES, "q_value"], "attention_changes.csv")
    parts = [_strength(levels, tasks), _change(changes, tasks)]
    groups, beside = blocks(len(tasks), MOST)
    with style():
        width = COLUMN if beside <= 2 else PAGE
        figure = new_figure(width, 1.75 * groups + (1.1 if beside <= 2 else 0.75))
        slots = figure.add_gridspec(groups + 1, 2, height_ratios=[1.75] * groups + [0.06])
        for side, part in enumerate(parts):
            for group in range(groups):
                some = slice(group * beside, (group + 1) * beside)
                axes = figure.add_subplot(slots[group, side], label=f"{side} {group}")
                mesh = _draw(axes, part, some, tasks[some])
                axes.set_title("" if group else wrapped(part.title, width / 2 - _NAMES))
                axes.set_yticklabels([] if side else FEATURES)
            bar = figure.add_subplot(slots[groups, side], label=f"colour bar {side}")
            label = wrapped(part.scale, width / 2 - _NAMES)
            drawn = colour_bar(figure, mesh, label, cax=bar, orientation="horizontal")
            drawn.locator, drawn.formatter = part.ticks, part.written
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    levels = sources.table(ATTENTION_LEVELS)
    changes = sources.table(ATTENTION_CHANGES, "changes")
    return stripes_index(levels, changes, sources.tasks, sources.label)


def _strength(levels: pd.DataFrame, tasks: Sequence[str]) -> Part:
    """Attention of the fine-tuned encoder, relative to random tokens."""
    chosen = (levels["state"] == "finetuned") & (levels["measure"] == GREATEST)
    rows = levels[chosen & levels["layer"].isna()]
    names = ("weight", "weight_low", "weight_high", "control")
    weight, low, high, control = (_cells(rows, tasks, name) for name in names)
    ratio = weight / np.where(control > 0, control, np.nan)
    powers = np.log2(np.where(ratio > 0, ratio, np.nan))
    return Part(
        title="after fine-tuning, relative to random tokens",
        values=powers,
        texts=_written(ratio, "{:.1f}"),
        sure=(low > control) | (high < control),
        limit=max(1.0, _greatest(powers)),
        scale="Attention ÷ that of random tokens",
        ticks=MaxNLocator(7, integer=True),
        written=FuncFormatter(
            lambda power, _: f"{2**power:g}" if power >= 0 else f"1/{2**-power:g}"
        ),
    )


def _change(changes: pd.DataFrame, tasks: Sequence[str]) -> Part:
    """Change by fine-tuning, minus that of random tokens."""
    rows = changes[changes["layer"].isna()]
    over, low, high, q = (_cells(rows, tasks, name) for name in (*CHANGES[3:], "q_value"))
    half = PERCENT * (high - low) / 2
    noise = float(np.sqrt(np.nanmean(half**2))) if np.isfinite(half).any() else 0.0
    return Part(
        title="change by fine-tuning, over random tokens",
        values=PERCENT * over,
        texts=_written(PERCENT * over, "{:+.1f}"),
        sure=q < LEVEL,
        limit=max(1e-6, noise, _greatest(PERCENT * over)),
        scale="Change of attention × 100, minus that of random tokens",
        ticks=MaxNLocator(5, symmetric=True),
        written=FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")),
    )


def _cells(rows: pd.DataFrame, tasks: Sequence[str], column: str) -> NDArray[np.float64]:
    """[feature, task] values of a column; NaN where the table has none."""
    wide = rows.pivot(index="feature", columns="task", values=column)
    return wide.reindex(index=list(FEATURES), columns=list(tasks)).to_numpy(dtype=np.float64)


def _greatest(values: NDArray[np.float64]) -> float:
    return float(np.nan_to_num(np.abs(values)).max(initial=0))


def _written(values: NDArray[np.float64], form: str) -> NDArray[np.str_]:
    """[feature, task] numbers with real minus signs; empty where there is none."""

    def write(value: float) -> str:
        text = form.format(value).replace("-", "−")
        return text[1:] if text in ("+0.0", "−0.0") else text

    return np.array([["" if np.isnan(value) else write(value) for value in row] for row in values])


def _draw(axes: Axes, part: Part, some: slice, tasks: Sequence[str]) -> QuadMesh:
    """Draw the heatmap of some tasks, with a number in every cell."""
    values = part.values[:, some]
    axes.set_facecolor(UNKNOWN)
    mesh = axes.pcolormesh(
        np.arange(len(tasks) + 1) - 0.5,
        np.arange(len(FEATURES) + 1) - 0.5,
        np.ma.masked_invalid(values),
        cmap=DIFFERENCE,
        vmin=-part.limit,
        vmax=part.limit,
        edgecolors="white",
        linewidth=0.25,
    )
    look: dict[str, Any] = {"fontsize": SMALL, "ha": "center", "va": "center"}
    for row, column in np.ndindex(values.shape):
        dark = abs(values[row, column]) > _DARK * part.limit
        weight = "bold" if part.sure[row, some][column] else "normal"
        text = str(part.texts[row, some][column])
        axes.text(column, row, text, weight=weight, color="white" if dark else INK, **look)
    axes.set(xlim=(-0.5, len(tasks) - 0.5), ylim=(len(FEATURES) - 0.5, -0.5))
    axes.set(xticks=range(len(tasks)), yticks=range(len(FEATURES)))
    upwards = max(map(len, tasks)) > _LONG
    axes.set_xticklabels(tasks, rotation=90 if upwards else 0)
    axes.tick_params(length=0, labelsize=SMALL)
    axes.spines[:].set_visible(False)
    return mesh
