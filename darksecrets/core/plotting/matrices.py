"""Grids of heads and other tables of cells, darker = greater (Figures 5 to 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns

from darksecrets.core.plotting.attention_map import PALE
from darksecrets.core.plotting.colours import MARK, UNKNOWN
from darksecrets.core.plotting.style import ticks
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure, SubFigure

DOT: Mapping[str, Any] = {
    "color": MARK,
    "marker": "o",
    "markersize": 2.5,
    "linestyle": "none",
    "markeredgecolor": "white",
    "markeredgewidth": 0.3,
}
"""What marks a head."""


def grid(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """Values of a model's heads, a row per layer and a column per head; means over seeds.

    Raises:
        InputError: There are no rows, or a layer or head is missing.
    """
    wide = cells(rows, value, "layer", "head")
    layers, heads = list(wide.index), list(wide.columns)
    complete = all(numbers == list(range(1, len(numbers) + 1)) for numbers in (layers, heads))
    if wide.empty or not complete or wide.isna().to_numpy().any():
        raise InputError(
            f"The table of `{value}` has layers {layers} and heads {heads}"
            f" with {int(wide.notna().to_numpy().sum())} values; expected one value for every head"
            " of every layer, counted from 1. Make the table again."
        )
    return wide


def cells(rows: pd.DataFrame, value: str, index: str, columns: str) -> pd.DataFrame:
    """The mean of a column for every pair of two others; NaN where there is none."""
    rows = rows.assign(**{value: rows[value].astype(float)})
    return rows.pivot_table(index=index, columns=columns, values=value, aggfunc="mean")


def matrix(
    axes: Axes,
    values: pd.DataFrame,
    cmap: str | Colormap,
    high: float,
    low: float | None = None,
    *,
    texts: npt.NDArray[np.str_] | None = None,
    bold: npt.NDArray[np.bool_] | None = None,
    labels: int = 6,
) -> QuadMesh:
    """Draw a cell for every value, the first row at the top; cells without a value are grey.

    Row `n` is around n - 0.5, as `seaborn.heatmap` draws it.

    Args:
        axes: Where to draw.
        values: What to draw, with names of rows and columns. Numbers of layers and heads are
            written as far as there is room.
        cmap: Colour map.
        high: Value of its end.
        low: Value of its start; without one, the scale is centred on 0.
        texts: What is written into the cells.
        bold: Which of it is bold.
        labels: Number of layers and heads up to which all are written.
    """
    array = values.to_numpy(dtype=np.float64)
    missing = np.isnan(array)
    sns.heatmap(
        array,
        vmin=-high if low is None else low,
        vmax=high,
        cmap=cmap,
        mask=missing,
        annot=texts,
        fmt="",
        annot_kws={"fontsize": "medium"},
        linewidths=0.25,
        cbar=False,
        xticklabels=False,
        yticklabels=False,
        ax=axes,
    )
    if bold is not None:
        for text, strong in zip(axes.texts, bold[~missing], strict=True):
            text.set_fontweight("bold" if strong else "normal")
    axes.set_facecolor(UNKNOWN)
    for axis, names in ((axes.xaxis, values.columns), (axes.yaxis, values.index)):
        numbers = pd.api.types.is_numeric_dtype(names)
        written = ticks(len(names), labels) if numbers else range(1, len(names) + 1)
        axis.set_ticks([n - 0.5 for n in written], labels=[str(names[n - 1]) for n in written])
    axes.tick_params(length=0, rotation=0)
    mesh: QuadMesh = axes.collections[-1]  # type: ignore[assignment]
    return mesh


def mark(
    axes: Axes,
    flags: npt.ArrayLike,
    across: float = 0.5,
    **look: Any,  # noqa: ANN401 - see `Line2D`
) -> None:
    """Put a dot, or another mark, on some cells of a matrix.

    Args:
        axes: Where the matrix is.
        flags: [rows, columns] which cells.
        across: Where in the cell, from 0 (left) to 1.
        look: Properties of the marks, other than those of `DOT`.
    """
    rows, columns = np.nonzero(np.asarray(flags))
    axes.plot(columns + across, rows + 0.5, **{**DOT, **look})


def scale(
    figure: Figure | SubFigure,
    mesh: ScalarMappable,
    label: str = "",
    marks: Mapping[float, Mapping[str, Any]] | None = None,
    **where: Any,  # noqa: ANN401 - see `Figure.colorbar`
) -> Colorbar:
    """Draw the colour bar of a matrix, without outline.

    Args:
        figure: Where to draw.
        mesh: What has its colours.
        label: Meaning of the colours.
        marks: Values that are marked on it, with the look of their lines.
        where: Further arguments of `matplotlib.figure.Figure.colorbar`, such as ``ax``.
    """
    if "ax" in where:
        where = {"pad": 0.015, "aspect": 15, **where}
    bar: Colorbar = figure.colorbar(mesh, **where)
    bar.set_label(label)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(length=0)
    bar.ax.set_label("colour bar")
    for value, look in (marks or {}).items():
        (bar.ax.axvline if bar.orientation == "horizontal" else bar.ax.axhline)(value, **look)
    return bar


def largest(*tables: pd.DataFrame) -> float:
    """The largest absolute value of some matrices, for a shared scale; never 0."""
    return max([1e-6, *(float(table.abs().max().max()) for table in tables if table.size)])


LEAST_DIFFERENCE = 0.01
"""Scales of differences between weights reach at least as far, or rounding would look like more."""


def end_of_weights(uniform: float, *tables: pd.DataFrame) -> float:
    """The end of a scale of weights that begins at 0: at least `PALE` times uniform attention.

    Args:
        uniform: Weight under uniform attention.
        tables: Matrices of weights.
    """
    return max(largest(*tables), PALE * uniform)


def end_of_differences(*tables: pd.DataFrame) -> float:
    """The end of a scale of differences between weights, see `LEAST_DIFFERENCE`."""
    return max(largest(*tables), LEAST_DIFFERENCE)
