"""Shares stacked: a bar for every task and state, a colour for every kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.container import BarContainer

from darksecrets.core.plotting.colours import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.86
"""Height of a bar, where 1 is the distance of two."""
_LUMINANCE = 0.2126, 0.7152, 0.0722  # of red, green and blue
_LUMINOUS = 0.45  # text on colours below this luminance is white


def shares(
    axes: Axes,
    rows: pd.DataFrame,
    value: str,
    by: str,
    colours: Mapping[str, str],
    places: Mapping[tuple[str, str], int],
    written: float = 2.0,
) -> None:
    """Draw stacked bars, means over seeds; the last kind is at the left.

    Args:
        axes: Where to draw.
        rows: Columns ``task``, ``state`` and those of values and kinds.
        value: Column of the shares.
        by: Column of the kinds.
        colours: Colour of every kind; others are not drawn.
        places: Where the bar of every task and state is, from the top.
        written: The smallest share whose percentage is written into its bar.
    """
    means = rows[rows[by].isin(list(colours))].groupby(["task", "state", by])[value].mean()
    bars = means.reset_index()
    keys = zip(bars["task"], bars["state"], strict=True)
    at = pd.Series([places.get(key) for key in keys], dtype="float64")
    bars = bars.assign(place=at).dropna(subset="place")
    sns.histplot(
        bars,
        y="place",
        hue=by,
        weights=value,
        multiple="stack",
        shrink=_BAR,
        discrete=True,
        palette=dict(colours),
        hue_order=list(colours),
        alpha=1,
        linewidth=0,
        legend=False,
        ax=axes,
    )
    for container in axes.containers:
        if isinstance(container, BarContainer):
            dark = np.dot(container.patches[0].get_facecolor()[:3], _LUMINANCE) < _LUMINOUS
            sizes = [bar.get_width() for bar in container.patches]
            texts = [f"{100 * size:.0f}" if size >= written else "" for size in sizes]
            axes.bar_label(container, texts, label_type="center", color="white" if dark else INK)
    axes.set(xlim=(0, 1))
    axes.set_xticks([0, 0.5, 1], labels=["0", "50%", "100%"])
    _name_bars(axes, places)


def _name_bars(axes: Axes, places: Mapping[tuple[str, str], int]) -> None:
    """Write the state beside every bar, and the task above its first."""
    starts = {task: place for (task, _), place in reversed(list(places.items()))}
    names = {place: state for (_, state), place in places.items()}
    names |= {place - 1: task for task, place in starts.items()}
    axes.set_yticks(list(names), list(names.values()))
    axes.set(ylim=(max(names) + 0.7, -1.7), ylabel="")
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in starts else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
