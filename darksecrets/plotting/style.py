"""Style and output of all figures: fonts, widths, colours and files.

Figures fit the paper's page (EMNLP 2019, two columns). They are plain `matplotlib.figure.Figure`
objects without pyplot: nothing is shown, and nothing has to be closed.
"""

from __future__ import annotations

import logging
import math
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from darksecrets import __version__
from darksecrets.plotting.colours import PATTERNS as PATTERNS
from darksecrets.plotting.colours import STATES as STATES
from darksecrets.plotting.user_text import FONT, as_written
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

COLUMN = 3.03
"""Width of one column of the paper, in inches."""
PAGE = 6.3
"""Width of both columns, in inches."""
DPI = 300
_PLACES = 6  # decimals of positions, as shares of the figure
SMALL = 6.0
"""Size of the small print, in points. Figures are drawn at the width that they are meant for, so no
text may be smaller."""

SIMILARITY = "Blues_r"
"""Colour map of the paper for similarities between 0 and 1: darker = greater difference."""
WEIGHT = "YlOrRd"
"""Colour map of the paper for attention weights per head: darker = more attention."""
MAP = "Reds"
"""Colour map of the paper for one self-attention map: darker = more attention."""
SCORE = "Blues"
"""Colour map for task scores: darker = greater score, as in the paper."""
CHANGE = "PuOr"
"""Colour-blind-safe colour map for differences around 0: orange below, purple above."""

INK = "#333333"
BASELINE = "#E69F00"
"""Colour of the intact model's score, next to those with heads disabled: the paper's orange."""
HELPED, HURT = "#542788", "#B35806"
"""Colours of scores above and below the intact model's: the ends of `CHANGE`."""
MARK = "#0072B2"
"""Colour of dots on heads, and of words that a figure points at."""
GREY = "#6E6E6E"
UNKNOWN = "0.85"  # cells of heatmaps without a value
BAND = "#D9D9D9"

_RC: dict[str, Any] = {
    # DejaVu Sans ships with matplotlib: the same figure on every machine. A browser that lacks it
    # draws the text of an SVG in Verdana, which has almost the same widths.
    "font.family": "sans-serif",
    "font.sans-serif": [FONT, "Verdana"],
    "font.size": 7,
    "text.parse_math": False,  # names may have dollar signs
    "axes.titlesize": 7,
    "axes.titlepad": 3,
    "axes.labelsize": 6.5,
    "axes.labelpad": 2,
    "axes.linewidth": 0.5,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 1.8,
    "ytick.major.size": 1.8,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.pad": 1.5,
    "ytick.major.pad": 1.5,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 2.5,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.hspace": 0.02,
    "figure.constrained_layout.wspace": 0.02,
    "pdf.fonttype": 42,  # TrueType: publishers refuse matplotlib's default Type 3
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "svg.hashsalt": "darksecrets",  # the same ids, hence the same file, on every run
}


def style() -> AbstractContextManager[None]:
    """Context manager with the project's style, for drawing or writing a figure."""
    return mpl.rc_context(_RC)  # type: ignore[arg-type]  # the stubs want literal keys


def new_figure(width: float, height: float) -> Figure:
    """An empty figure with constrained layout, size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def ticks(count: int, most: int = 8) -> list[int]:
    """Numbers to write along an axis of ``count`` layers or heads, counted from 1.

    All of them if there are at most ``most``, else 1 and the multiples of a quarter: 1, 3, 6, 9,
    12 for twelve heads; 1, 6, 12, 18, 24 for twenty-four layers.
    """
    if count <= most:
        return list(range(1, count + 1))
    step = math.ceil(count / 4)
    return [1, *range(step, count + 1, step)]


def grid(table: pd.DataFrame, value: str) -> NDArray[np.float64]:
    """Turn the columns ``layer``, ``head`` (from 1) and ``value`` into an array [layer, head].

    Several rows for a head (seeds) are averaged.

    Raises:
        InputError: There are no rows, or a layer or head is missing.
    """
    wide = table.pivot_table(index="layer", columns="head", values=value, aggfunc="mean")
    layers, heads = [int(n) for n in wide.index], [int(n) for n in wide.columns]
    complete = all(numbers == list(range(1, len(numbers) + 1)) for numbers in (layers, heads))
    if wide.empty or not complete or wide.isna().to_numpy().any():
        raise InputError(
            f"The table of `{value}` has layers {layers} and heads {heads}"
            f" with {int(wide.notna().to_numpy().sum())} values; expected one value for every head"
            " of every layer, counted from 1. Make the table again."
        )
    return wide.to_numpy(dtype=np.float64)


def heatmap(
    axes: Axes,
    values: NDArray[np.float64],
    *,
    cmap: str,
    vmin: float,
    vmax: float,
    labels: int = 8,
) -> QuadMesh:
    """Draw layers × heads as the paper does: layer 1 at the top, head 1 at the left.

    Args:
        axes: Where to draw. Data coordinates are the numbers of heads (x) and layers (y).
        values: Array [layer, head].
        cmap: Name of the colour map.
        vmin: Value at the colour map's start.
        vmax: Value at its end.
        labels: Largest count for which every layer or head is labelled, see `ticks`.
    """
    layers, heads = values.shape
    mesh = axes.pcolormesh(
        np.arange(heads + 1) + 0.5,
        np.arange(layers + 1) + 0.5,
        values,
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        edgecolors="white",
        linewidth=0.25,
    )
    axes.set(xlim=(0.5, heads + 0.5), ylim=(layers + 0.5, 0.5), xlabel="Head", ylabel="Layer")
    axes.set_xticks(ticks(heads, labels))
    axes.set_yticks(ticks(layers, labels))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return mesh


def mark_heads(axes: Axes, marks: NDArray[np.bool_], size: float = 2.0) -> None:
    """Put a dot on some heads of a heatmap.

    Args:
        axes: The heatmap, see `heatmap`.
        marks: Array [layer, head].
        size: Diameter in points.
    """
    layers, heads = np.nonzero(marks)
    look = {"color": MARK, "markersize": size, "markeredgecolor": "white", "markeredgewidth": 0.3}
    axes.plot(heads + 1, layers + 1, "o", linestyle="none", **look)  # type: ignore[arg-type]


def label_run(figure: Figure, text: str) -> None:
    """Print the run and data of a figure at its foot, wrapped to its width."""
    letters = int(figure.get_figwidth() * 72 / (0.58 * SMALL))  # 0.58 em: DejaVu Sans on average
    figure.supxlabel(textwrap.fill(text, letters), x=0.01, ha="left", fontsize=SMALL, color=GREY)


def save(
    figure: Figure, paths: Iterable[Path], *, script: str, title: str, description: str = ""
) -> None:
    """Write a figure in the format that each path's suffix names: pdf, svg or png.

    Text is drawn as it is written, see `darksecrets.plotting.user_text`. The files name the script
    and the run that made them, but no time, so the same table gives the same bytes.

    Args:
        figure: The figure.
        paths: Files to write, each atomically.
        script: The module that draws, such as ``darksecrets.finetuning.figure5``.
        title: What the figure shows, from which run.
        description: The same in detail, for readers who do not see the figure.

    Raises:
        InputError: A suffix is none of the three.
    """
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # logs a line per font table of a PDF
    with style():
        _lay_out(figure)
    for path in paths:
        creator = f"darksecrets {__version__}, {script}"
        metadata = _metadata(path.suffix, creator, title, description)
        with style(), atomic(path) as temporary:
            figure.savefig(temporary, dpi=DPI, metadata=metadata)
            if path.suffix == ".svg":
                _describe(temporary, description)


def _lay_out(figure: Figure) -> None:
    """Lay a figure out once for all formats; matplotlib would do so for each, each differently."""
    as_written(figure)
    figure.set_dpi(DPI)  # on a screen, letters have other widths than in print
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # with any other, even "none", each format is drawn twice
    # The solver's last digits depend on where its variables lie in memory.
    for axes in figure.axes:
        bounds = axes.get_position(original=True).bounds
        axes.set_position(Bbox.from_bounds(*(round(each, _PLACES) for each in bounds)))
    for text in figure.texts:
        across, up = text.get_position()
        text.set_position((round(across, _PLACES), round(up, _PLACES)))


def _metadata(suffix: str, creator: str, title: str, description: str) -> dict[str, str | None]:
    """Metadata under each format's own keys; None omits a format's time stamp."""
    about: dict[str, str | None] = {"Creator": creator, "Title": title}
    match suffix:
        case ".pdf":
            return {**about, "Subject": description or None, "CreationDate": None}
        case ".svg":
            return {**about, "Date": None}
        case ".png":
            return {**about, "Description": description} if description else about
    raise InputError(f"A figure cannot be written as `{suffix}`; use .pdf, .svg or .png.")


def _describe(path: Path, description: str) -> None:
    """Make an SVG an image with a title and a description for screen readers."""
    text = path.read_text(encoding="utf-8")
    text = text.replace("<svg ", '<svg role="img" aria-labelledby="title desc" ', 1)
    described = f'</title>\n <desc id="desc">{escape(description)}</desc>'
    text = text.replace("<title>", '<title id="title">', 1).replace("</title>", described, 1)
    path.write_text(text, encoding="utf-8")


def blocks(count: int, most: int = 4) -> tuple[int, int]:
    """Rows and columns for ``count`` panels, at most ``most`` in a row, evenly filled."""
    rows = math.ceil(count / most)
    return rows, math.ceil(count / rows)


def wrapped(name: str, width: float) -> str:
    """The title of a panel of this width, in inches, broken into lines that fit."""
    letters = max(8, int(width * 72 / (0.62 * _RC["axes.titlesize"])))
    return textwrap.fill(name, letters)


def width_for(columns: int) -> float:
    """Width of a figure with this many panels in a row: a column or the page."""
    return COLUMN if columns <= 2 else PAGE


def colour_bar(
    figure: Figure | SubFigure,
    mappable: ScalarMappable,
    label: str = "",
    **where: Any,  # noqa: ANN401 - see `Figure.colorbar`
) -> Colorbar:
    """A colour bar without outline and tick marks.

    Args:
        figure: Where to draw.
        mappable: The heatmap that the bar belongs to.
        label: Meaning of the colours.
        where: Further arguments of `matplotlib.figure.Figure.colorbar`: axes, orientation, …
    """
    bar = figure.colorbar(mappable, **where)
    if label:
        bar.set_label(label)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(length=0)
    return bar


def check_columns(table: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    """Raise an `InputError` if a table lacks columns that a figure needs."""
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(
            f"The table {name} has the columns {', '.join(map(str, table.columns))};"
            f" missing: {', '.join(missing)}. Make the table again."
        )
