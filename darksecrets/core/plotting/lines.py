"""Lines against the layer or another number: the shape of most figures that compare kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn as sns

from darksecrets.core.plotting.colours import INK
from darksecrets.core.plotting.style import ticks
from darksecrets.core.words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Looks = Mapping[Any, Mapping[str, Any]]
"""Properties of the line or marks of every kind, as `matplotlib.lines.Line2D` calls them."""


ENDS_OF_BAND = ("least", "greatest")
"""Ends of the bands of `average_over_tasks`."""


def lines(
    axes: Axes,
    rows: pd.DataFrame,
    x: str,
    y: str,
    looks: Looks,
    *,
    by: str = "",
    ends: tuple[str, str] | None = None,
    alpha: float = 0.2,
) -> None:
    """Draw a line for every kind: means over its rows at each place, such as those of seeds.

    Args:
        axes: Where to draw.
        rows: What to draw.
        x: Column of the places; layers are numbered.
        y: Column of the values.
        looks: Look of every kind, in drawing order; other kinds are not drawn.
        by: Column of the kinds; without one, all rows are one line.
        ends: Columns of the ends of an interval, which is drawn as a band.
        alpha: Opacity of bands.
    """
    kinds = [kind for kind in looks if not by or (rows[by] == kind).any()]
    for kind in kinds if ends else []:
        own = rows[rows[by] == kind] if by else rows
        means = own.groupby(x)[list(ends or ())].mean()
        low, high = means.to_numpy(dtype=float).T
        colour = looks[kind]["color"]
        axes.fill_between(means.index, low, high, color=colour, alpha=alpha, linewidth=0)
    if not kinds or rows.empty:
        return
    hue = {"hue": by, "hue_order": kinds, "palette": dict.fromkeys(kinds, INK)} if by else {}
    sns.lineplot(rows, x=x, y=y, errorbar=None, legend=False, ax=axes, **hue)
    for kind, line in zip(kinds, axes.lines[-len(kinds) :], strict=True):
        look = looks[kind]
        line.set(**{"label": kind, "markeredgecolor": look["color"], **look})
    if x == "layer":
        axes.set_xticks(ticks(int(rows[x].max()), 6))


def average_over_tasks(
    table: pd.DataFrame, value: str, keys: Sequence[str], ends: Sequence[str] = ()
) -> pd.DataFrame:
    """Means over tasks of means over seeds, for lines with bands.

    Args:
        table: Rows of several tasks, or of one.
        value: Column of the values.
        keys: Columns that tell lines and places apart.
        ends: Columns of the ends of an interval, which is the band of a single task.

    Returns:
        The keys; ``mean``; ``least`` and ``greatest``, of the tasks or of the interval.
    """
    if ends and table["task"].nunique() == 1:
        names = dict(zip((value, *ends), ("mean", *ENDS_OF_BAND), strict=True))
        means = table.groupby(list(keys))[list(names)].mean()
        return means.rename(columns=names).reset_index()
    by_task = table.groupby([*keys, "task"])[value].mean()
    summary = by_task.groupby(list(keys)).agg(mean="mean", least="min", greatest="max")
    return summary.reset_index()


def means_in_words(tasks: Sequence[str], *over: str, intervals: bool = False) -> str:
    """What is said of lines and bands that `average_over_tasks` gives.

    Args:
        tasks: Tasks of the figure.
        over: What else means are over.
        intervals: Whether a single task has intervals.
    """
    several = len(tasks) > 1
    names = [*over, "tasks"] if several else over
    said = [f"Mean over {listed(names)}."] if names else []
    if several:
        said.append("Bands: smallest to largest value of a task.")
    elif intervals:
        said.append("Bands: 95% intervals.")
    return " ".join(said)


def line(
    colour: str,
    marker: str = "",
    dash: str = "-",
    width: float = 1.0,
    **more: Any,  # noqa: ANN401 - see `Line2D`
) -> dict[str, Any]:
    """The look of a line.

    Args:
        colour: Its colour.
        marker: The marker of its points.
        dash: Its style.
        width: Its width in points.
        more: Further properties, as `matplotlib.lines.Line2D` calls them.
    """
    return {"color": colour, "marker": marker, "linestyle": dash, "linewidth": width, **more}


def dot(
    colour: str,
    marker: str = "o",
    size: float = 4.0,
    **more: Any,  # noqa: ANN401 - see `Line2D`
) -> dict[str, Any]:
    """The look of dots.

    Args:
        colour: Their colour.
        marker: Their shape.
        size: Their size in points.
        more: Further properties, as `matplotlib.lines.Line2D` calls them.
    """
    return {"color": colour, "marker": marker, "markersize": size, "linestyle": "none", **more}


def hollow(look: Mapping[str, Any]) -> dict[str, Any]:
    """The same look with hollow markers."""
    return {**look, "markerfacecolor": "white"}
