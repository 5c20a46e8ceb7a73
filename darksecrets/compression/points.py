"""What both figures of compressed models share: rows, points, the best of them, the legend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.compression.tables import (
    EIGHT_BITS,
    EMBEDDINGS,
    HEADS,
    HEADS_AND_MLPS,
    LAYERS,
    RANDOM,
    WEIGHTS,
    WHOLE,
)
from darksecrets.data.metrics import METRICS
from darksecrets.plotting.style import GREY, INK, PAGE, check_columns, wrapped
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

LOOKS: dict[str, dict[str, Any]] = {
    WHOLE: {"color": INK, "marker": "*"},
    HEADS: {"color": "#0072B2", "marker": "o"},
    HEADS_AND_MLPS: {"color": "#E69F00", "marker": "^"},
    WEIGHTS: {"color": "#CC79A7", "marker": "D"},
    LAYERS: {"color": "#D55E00", "marker": "v"},
    EMBEDDINGS: {"color": "#009E73", "marker": "s"},
    EIGHT_BITS: {"color": "#56B4E9", "marker": "P"},
}
_NAMES = {WHOLE: "whole model"}
_FRONT: dict[str, Any] = {"color": INK, "linewidth": 0.6, "drawstyle": "steps-post", "zorder": 1}
_PUBLISHED: dict[str, Any] = {
    **{"color": GREY, "marker": "o", "markerfacecolor": "none", "markeredgewidth": 0.5},
    **{"linestyle": "none", "zorder": 1},
}
_RANDOM: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": ":", "zorder": 1}
_VARIANT = ["method", "amount"]
_COLUMNS = [*_VARIANT, "packed_bytes", "retention", "retention_low", "retention_high"]
_STATE = "finetuned"
_MARKER = 4.0  # points


def rows_of(table: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    """Means over seeds of what a task's compressed models retain.

    Args:
        table: The table ``compression``.
        task: The task.
        metric: One of its metrics.

    Returns:
        A row for every method and amount: ``size`` (% of the whole model's bytes, without zeros),
        ``retention`` and its ends; the table's order.

    Raises:
        InputError: Columns or rows are missing.
    """
    check_columns(table, ["task", "state", "seed", "metric", *_COLUMNS], "compression.csv")
    chosen = (table["task"] == task) & (table["state"] == _STATE) & (table["metric"] == metric)
    rows = table[chosen]
    if rows.empty:
        raise InputError(
            f"The table compression.csv has no {metric} of {task}. Make the table again."
        )
    whole = rows[rows["method"] == WHOLE].set_index("seed")["packed_bytes"]
    sized = rows.assign(size=100 * rows["packed_bytes"] / rows["seed"].map(whole))
    numbers = ["size", "retention", "retention_low", "retention_high"]
    return sized.groupby(_VARIANT, sort=False)[numbers].mean().reset_index()


def title(task: str, metric: str) -> str:
    """Title of a panel: the task and its score."""
    return wrapped(f"{task} ({METRICS[metric].title})", PAGE / 4)


def draw_points(
    axes: Axes, rows: pd.DataFrame, x: str, *, filled: bool = True, ends: bool = True
) -> None:
    """Draw what is retained against a cost, a line for the amounts of each method.

    All points are within the limits of the axes; intervals of the cost may end beyond them.

    Args:
        axes: Where to draw.
        rows: From `rows_of`, with the cost.
        x: Its column; with columns of that name and ``_low`` and ``_high``, if it has an interval.
        filled: Whether markers are filled.
        ends: Whether to draw the interval of what is retained.
    """
    for method, look in LOOKS.items():
        part = rows[rows["method"] == method].sort_values("amount")
        if part.empty:
            continue
        style = look if filled else look | {"markerfacecolor": "white"}
        vertical = _around(part, "retention") if ends else None
        axes.errorbar(
            *(part[x], part["retention"]),
            yerr=vertical,
            xerr=_around(part, x) if f"{x}_low" in part else None,
            elinewidth=0.5,
            linewidth=0.6,
            markersize=_MARKER * (1.5 if method == WHOLE else 1),
            markeredgewidth=0.5,
            label=method,
            **style,
        )
    before = 0.0 if axes.get_autoscalex_on() else axes.get_xlim()[1]
    axes.set_xlim(0, max(before, 1.05 * max(100.0, float(rows[x].max()))))


def _around(part: pd.DataFrame, name: str) -> Floats:
    """[2, rows] how far the ends of an interval are from its estimate."""
    below, above = part[name] - part[f"{name}_low"], part[f"{name}_high"] - part[name]
    ends: Floats = np.stack([below.to_numpy(float), above.to_numpy(float)])
    return ends.clip(min=0)


def front(costs: Floats, kept: Floats) -> npt.NDArray[np.int64]:
    """The points that no other one beats: nothing cheaper retains as much.

    Args:
        costs: [points], less is better.
        kept: [points], more is better.

    Returns:
        Their numbers, the cheapest first.
    """
    order = np.lexsort([-kept, costs])
    best = np.maximum.accumulate(kept[order])
    new = np.concatenate([[True], best[1:] > best[:-1]])
    found: npt.NDArray[np.int64] = order[new]
    return found


def draw_rest(axes: Axes, rows: pd.DataFrame, x: str, published: pd.DataFrame, by: str) -> None:
    """Draw the front, what random weights retain, and the published models.

    Args:
        axes: Where the points are; it keeps its limits.
        rows: From `rows_of`, with the cost.
        x: The column of the cost.
        published: The published table.
        by: Its column with the factor by which the cost is divided.
    """
    random = rows.loc[rows["method"] == RANDOM, "retention"]
    own = rows[rows["method"].isin(LOOKS) & rows["retention"].notna()]
    best = own.iloc[front(own[x].to_numpy(float), own["retention"].to_numpy(float))]
    axes.plot(best[x], best["retention"], label="front", **_FRONT)
    if len(random):
        axes.axhline(float(random.iloc[0]), label=RANDOM, **_RANDOM)
    others = published.dropna(subset=[by, "retention"])
    axes.set_ylim(*axes.get_ylim())
    axes.plot(100 / others[by], others["retention"], label="published", markersize=3, **_PUBLISHED)


def legend(more: dict[str, Line2D] | None = None) -> Callable[[Figure, int], None]:
    """A function that adds the legend above the panels.

    Args:
        more: Further entries by name.
    """

    def add(figure: Figure, columns: int) -> None:
        entries = {
            _NAMES.get(name, name): Line2D([], [], linewidth=0.6, markersize=_MARKER, **look)
            for name, look in LOOKS.items()
        }
        entries |= more or {}
        entries |= {"no cheaper model retains more": Line2D([], [], **_FRONT)}
        entries |= {"random weights": Line2D([], [], **_RANDOM)}
        entries |= {"published, other data": Line2D([], [], markersize=3, **_PUBLISHED)}
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper center",
            ncols={1: 2, 2: 3}.get(columns, 5),
            handlelength=1.8,
            columnspacing=1,
        )

    return add
