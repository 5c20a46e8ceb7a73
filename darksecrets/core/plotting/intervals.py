"""Scores with their intervals: dots and lines beside the names of what was scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting.colours import FAINT
from darksecrets.core.plotting.lines import Looks, hollow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes


def intervals(
    axes: Axes,
    rows: pd.DataFrame,
    value: str,
    looks: Looks,
    *,
    at: str,
    places: Mapping[Any, str] | None = None,
    by: str = "",
    ends: tuple[str, str] | None = None,
    sure: str = "",
    spread: Sequence[str] = (),
    apart: float = 0.25,
    upright: bool = False,
) -> None:
    """Draw a dot for every row, with its interval, in the line of its name.

    Args:
        axes: Where to draw.
        rows: What to draw, a row for each dot.
        value: Column of the dots.
        looks: Look of the dots of every kind; others are not drawn.
        at: Column of the lines.
        places: What the lines are called, from the top or left; without it, nothing is written,
            and values of ``at`` are the places themselves.
        by: Column of the kinds; without one, all rows are of one kind.
        ends: Columns of the ends of the intervals.
        sure: Column of flags; dots without it are hollow.
        spread: Columns that distinguish rows of the same line, which are then drawn side by side.
        apart: Distance of neighbours on a line, where 1 is that of two lines.
        upright: Whether lines are beside each other, and values go up.
    """
    known = places if places is not None else {place: place for place in rows[at]}
    rows = rows[rows[at].isin(list(known))]
    if by:
        kinds = list(looks)
        rows = rows[rows[by].isin(kinds)].sort_values(
            by, key=lambda names: names.map(kinds.index), kind="stable"
        )
    lines = {name: number for number, name in enumerate(known)} if places is not None else known
    keys = pd.MultiIndex.from_frame(rows[list(spread)]) if spread else pd.Index([0] * len(rows))
    order = list(dict.fromkeys(keys))
    steps = np.array([order.index(key) for key in keys]) - (len(order) - 1) / 2
    rows = rows.assign(place=rows[at].map(lines).astype(float) + apart * steps)
    for kind, look in looks.items():
        own = rows[rows[by] == kind] if by else rows
        for flag, flag_rows in own.groupby(own[sure] if sure else np.ones(len(own), dtype=bool)):
            shown = {**look, "linestyle": "none"} if flag else hollow({**look, "linestyle": "none"})
            if ends is not None:
                draw = axes.vlines if upright else axes.hlines
                low, high = (flag_rows[end] for end in ends)
                draw(flag_rows["place"], low, high, color=_edge(look), linewidth=0.8)
            across, up = flag_rows[value], flag_rows["place"]
            axes.plot(*((up, across) if upright else (across, up)), label=kind, **shown)
    if places is not None:
        _name(axes, list(places.values()), upright=upright)


def _edge(look: Mapping[str, Any]) -> str:
    """Colour of an interval: that of its dot, or of the edge of a hollow one."""
    return str(look.get("markeredgecolor", look["color"]))


def _name(axes: Axes, names: Sequence[str], *, upright: bool) -> None:
    """Write the names of the lines."""
    end = (-0.5, len(names) - 0.5)
    if upright:
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(*end)
    else:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(*end[::-1])
    axes.grid(axis="x" if not upright else "y", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x" if upright else "y", length=0)
    axes.spines["bottom" if upright else "left"].set_visible(False)
