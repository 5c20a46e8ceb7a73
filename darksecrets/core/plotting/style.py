"""Style and output of all figures: fonts, widths, colours and files.

Figures fit the paper's page (EMNLP 2019, two columns). They are plain `matplotlib.figure.Figure`
objects without pyplot: nothing is shown, and nothing has to be closed.
"""

from __future__ import annotations

import logging
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from darksecrets.core.plotting.colours import GREY, INK
from darksecrets.core.plotting.user_text import FONT, as_written, drawable
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.core.run.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Entry = Mapping[str, Any] | str | Artist

COLUMN = 3.03
"""Width of one column of the paper, in inches."""
PAGE = 6.3
"""Width of both columns, in inches."""
DPI = 300
_PLACES = 6  # decimals of positions, as shares of the figure
_EM = 0.57  # width of a letter relative to its size: DejaVu Sans on average
_HANDLE = 26.0  # points that a legend's entry takes beside its name
SIZE = 7.0
"""Size of text, in points. Figures are drawn at the width that they are meant for."""
HEADLINE, TITLE = 9.0, 8.0
"""Sizes of a figure's headline and of the titles of its panels, in points."""
_INSIDE = 0.98  # share of a figure's width that a headline may take
_SPACING = 1.3  # height of a line of text relative to its size
_LEGEND_SPACING = 1.4
_PAD = 0.06  # inches above the headline and below the legend

_NOT_OF_FIGURES = (
    "backend",
    "interactive",
    "toolbar",
    "webagg.",
    "tk.",
    "timezone",
    "date.epoch",
    "docstring.",
    "savefig.directory",
    "figure.raise_window",
    "figure.max_open_warning",
)
"""Settings of matplotlib that change no figure, but how it shows one; they stay the user's."""

_RC: dict[str, Any] = {
    # DejaVu Sans ships with matplotlib: the same figure on every machine. A browser that lacks it
    # draws the text of an SVG in Verdana, which has almost the same widths.
    "font.family": "sans-serif",
    "font.sans-serif": [FONT, "Verdana"],
    "font.size": SIZE,
    "text.parse_math": False,  # names may have dollar signs
    "axes.titlesize": TITLE,
    "axes.titlepad": 3,
    "axes.labelsize": SIZE,
    "figure.titlesize": TITLE,
    "axes.labelpad": 2,
    "axes.linewidth": 0.5,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "xtick.major.size": 1.8,
    "ytick.major.size": 1.8,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.pad": 1.5,
    "ytick.major.pad": 1.5,
    "legend.fontsize": SIZE,
    "legend.columnspacing": 1.0,
    "legend.handlelength": 1.7,
    "legend.labelspacing": 0.3,
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
    """Context manager with the project's style, for drawing or writing a figure.

    What it does not set is as matplotlib ships it: a user's own `matplotlibrc` changes nothing.
    """
    shipped: dict[Any, Any] = {
        key: value
        for key, value in mpl.rcParamsDefault.items()
        if not key.startswith(_NOT_OF_FIGURES)
    }
    return mpl.rc_context(shipped | _RC)


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


def label_run(figure: Figure, text: str) -> None:
    """Print the run and data of a figure at its foot, wrapped to its width."""
    text = wrapped(text, figure.get_figwidth())
    figure.supxlabel(text, x=0.01, ha="left", fontsize=SIZE, color=GREY)


def save(
    figure: Figure, paths: Iterable[Path], *, script: str, title: str, description: str = ""
) -> None:
    """Write a figure in the format that each path's suffix names: pdf, svg or png.

    Text is drawn as it is written, see `core.plotting.user_text`. The files name the script
    and the run that made them, but no time, so the same table gives the same bytes.

    Args:
        figure: The figure.
        paths: Files to write, each atomically.
        script: The module that draws, such as ``darksecrets.paper.finetuning.figures.figure5``.
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


def wrapped(name: str, width: float, size: float = SIZE) -> str:
    """Text in a place of this width, in inches, broken into lines that fit."""
    letters = max(8, int(width * 72 / (_EM * size)))
    return "\n".join(textwrap.fill(line, letters) for line in name.split("\n"))


def width_for(columns: int) -> float:
    """Width of a figure with this many panels in a row: a column or the page."""
    return COLUMN if columns <= 2 else PAGE


@dataclass(frozen=True)
class Header:
    """What stands above a figure.

    Attributes:
        headline: What was found, in a sentence.
        what: What is drawn, in small type.
        looks: Names of lines, marks and colours, with properties of a line or mark, a colour, or an
            artist.
        width: Width of the figure in inches.
    """

    headline: str
    what: str
    looks: Mapping[str, Entry]
    width: float

    @property
    def height(self) -> float:
        """Inches that it takes."""
        return _PAD + self._headline[1] + self._what[1] + self._legend_height

    @property
    def _headline(self) -> tuple[str, float]:
        """The headline as it is written, and its height."""
        text = _filled(self.headline, 72 * _INSIDE * self.width, HEADLINE, "bold")
        return text, _SPACING * HEADLINE / 72 * len(text.splitlines())

    @property
    def _what(self) -> tuple[str, float]:
        text = wrapped(self.what, self.width)
        return text, _SPACING * SIZE / 72 * len(text.splitlines())

    @property
    def _legend_height(self) -> float:
        if not self.looks:
            return 0.0
        rows = math.ceil(len(self.looks) / columns_for(list(self.looks), self.width))
        return (_LEGEND_SPACING * rows + 0.5) * SIZE / 72

    def fill(self, figure: Figure | SubFigure) -> None:
        """Write it to a figure of its height."""
        left = 0.01
        top = 1 - _PAD / 2 / self.height
        headline, taken = self._headline
        look: dict[str, Any] = {"ha": "left", "va": "top"}
        figure.text(left, top, headline, fontsize=HEADLINE, fontweight="bold", **look)
        figure.text(left, top - taken / self.height, self._what[0], color=GREY, **look)
        if self.looks:
            figure.legend(
                [_handle(look) for look in self.looks.values()],
                list(self.looks),
                loc="lower left",
                bbox_to_anchor=(left, 0),
                borderaxespad=0,
                borderpad=0,
                ncols=columns_for(list(self.looks), self.width),
            )


def _filled(text: str, width: float, size: float, weight: str) -> str:
    """Text broken into lines of at most this width, in points; a longer word has its own."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def columns_for(names: Sequence[str], width: float) -> int:
    """The most columns in which a legend's names fit into this width, in inches."""
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        parts = (names[n : n + rows] for n in range(0, len(names), rows))
        if sum(max(map(width_of, part)) + _HANDLE for part in parts) < width * 72:
            return math.ceil(len(names) / rows)
    return 1


@cache
def width_of(text: str, size: float = SIZE, weight: str = "normal") -> float:
    """Width of a text in points, up to the rightmost of its outlines; 0 if none can be seen."""
    font = FontProperties(family=FONT, weight=weight)
    outlines, _ = text_to_path.get_text_path(font, drawable(text))
    rightmost = np.asarray(outlines)[:, 0].max(initial=0)
    return float(rightmost * size / text_to_path.FONT_SCALE)


def _handle(look: Entry) -> Artist:
    """What stands before a name in a legend."""
    if isinstance(look, str):
        return Patch(color=look)
    return look if isinstance(look, Artist) else Line2D([], [], **look)


def say(axes: Axes, text: str) -> None:
    """Fill a panel that has nothing to show with the reason."""
    axes.set_xticks([])
    if not any(each.has_data() for each in axes.get_shared_y_axes().get_siblings(axes)):
        axes.set_yticks([])  # else the panels beside it would lose theirs
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    place: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center"}
    axes.text(0.5, 0.5, text, color=GREY, **place)
