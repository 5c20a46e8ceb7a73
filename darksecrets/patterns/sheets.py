"""Contact sheets: pictures of nine numbered maps each, for labelling without the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.arrays import Singles
from darksecrets.patterns import classes
from darksecrets.patterns.annotation import LabelFile, Row, check_annotator, row
from darksecrets.patterns.mapset import MapSet
from darksecrets.patterns.tables import SHOWN
from darksecrets.plotting.attention_map import draw_map, saturation
from darksecrets.plotting.colours import BAND, BLUE, INK, ORANGE
from darksecrets.plotting.style import style
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORDER = "order.txt"
PER_SHEET = 9
_SIZE, _RESOLUTION = (15, 15.6), 100
"""Width and height of a sheet in inches, and its pixels per inch."""
COLOURS = {classes.SPECIAL: BLUE, classes.PUNCTUATION: ORANGE, classes.WORD: BAND}
"""Colour of every kind of token: blue and orange of Okabe and Ito's colour-blind safe scheme."""
_STRIP = 0.025
"""Height of the strip that shows kinds of tokens, as a share of the map's."""
_LINE = re.compile(
    rf"(\d+) ([{''.join(classes.KEYS)}]) ([{classes.KINDS}]+|{classes.NO_COLUMN}) (\d) (\d) "
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
)


def write_sheets(mapset: MapSet, folder: Path, seed: int, *, disputed: bool = False) -> int:
    """Draw the maps in random order as ``sheetNN.png``; ``order.txt`` has a number and map a line.

    Args:
        mapset: The maps; their labels are not shown.
        folder: Folder to write to.
        seed: Seed of the order.
        disputed: Draw only the maps on which passes disagree, in the same order.

    Returns:
        Number of sheets.

    Raises:
        InputError: There is nothing to draw, or the folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty. Write the sheets to a new folder.")
    places = [int(n) for n in np.random.default_rng(seed).permutation(len(mapset.table))]
    names = mapset.table["map"].tolist()
    if disputed:
        wanted = set(mapset.disputed())
        places = [place for place in places if names[place] in wanted]
    if not places:
        raise InputError("There is no map to draw: passes disagree on no map.")
    with atomic(folder) as temporary:
        temporary.mkdir()
        lines = [f"{number} {names[place]}\n" for number, place in enumerate(places, 1)]
        (temporary / ORDER).write_text("".join(lines), encoding="utf-8")
        starts = range(0, len(places), PER_SHEET)
        width = max(2, len(str(len(starts))))
        for number, start in enumerate(starts, 1):
            with style():
                figure = _sheet(mapset, places[start : start + PER_SHEET], start + 1)
                figure.savefig(temporary / f"sheet{number:0{width}d}.png", dpi=_RESOLUTION)
    return len(starts)


def _sheet(mapset: MapSet, places: list[int], first: int) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    figure = Figure(figsize=_SIZE)
    for panel, place in enumerate(places):
        axes = figure.add_subplot(3, 3, panel + 1)
        _draw(axes, mapset.maps[place].astype(np.float32), mapset.table.iloc[place])
        axes.set_title(f"#{first + panel}", fontsize=13)
    figure.legend(
        handles=[
            Patch(color=COLOURS[kind], label=name) for kind, name in classes.NAMES_OF_KINDS.items()
        ],
        title="Strip below each map: what the token of each column is",
        loc="upper center",
        ncols=len(COLOURS),
        fontsize=10,
        title_fontsize=10,
    )
    figure.subplots_adjust(left=0.05, right=0.99, top=0.945, bottom=0.05, wspace=0.15, hspace=0.22)
    return figure


def _draw(axes: Axes, weights: Singles, row: pd.Series[Any]) -> None:
    """Draw a map, the kinds of its tokens below it, and where the second sentence starts."""
    from matplotlib.colors import to_rgb

    tokens = row["tokens"].split(" ")
    draw_map(axes, weights, tokens, saturation(weights))
    colours = [to_rgb(COLOURS[kind]) for kind in classes.kinds(tokens, row["special"])]
    strip = axes.inset_axes((0, -_STRIP - 0.005, 1, _STRIP))
    strip.imshow([colours], aspect="auto", interpolation="nearest")
    strip.set_axis_off()
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    axes.tick_params(axis="x", pad=1 + height * (_STRIP + 0.01))
    second = row["segments"].find("1")
    if second > 0:
        for draw in (axes.axvline, axes.axhline):
            draw(second - 0.5, color=INK, linewidth=0.6, alpha=0.6)


def import_labels(
    mapset: MapSet, file: LabelFile, order: Path, labels: Path, annotator: str, number: int
) -> int:
    """Add labels given on contact sheets to a set: all of them, or none if one is wrong.

    Args:
        mapset: The set that the sheets show.
        file: Its labels.
        order: The sheets' ``order.txt``.
        labels: Lines ``number key columns number diagonal time``, such as
            ``17 v s 1 0 2026-01-31T12:00:00Z``: the number on the sheet, a key of `KEYS`, and the
            second answers, see `Answers`.
        annotator: Name of the annotator.
        number: Number of the pass.

    Returns:
        Number of labels.

    Raises:
        InputError: A line is malformed, its answers contradict each other, a number is not in the
            order file or is in it twice, or a map is not in this set or already has a label of this
            annotator in this pass.
    """
    annotator = check_annotator(annotator)
    maps = dict(_read_order(order, set(mapset.table["map"])))
    own = mapset.labels.query("annotator == @annotator and `pass` == @number")["map"]
    rows: dict[str, Row] = {}
    for place, given, time in _read_lines(labels):
        name = maps.get(place)
        if name is None:
            raise InputError(f"{labels}: found number {place}, which {order} does not have.")
        if name in rows or name in set(own):
            raise InputError(
                f"{labels}: number {place} ({name}) would have two labels of {annotator} in pass "
                f"{number}; expected one. Remove one of the two."
            )
        rows[name] = row(name, given, annotator, number, SHOWN, time)
    file.append(rows.values())
    return len(rows)


def _read_order(path: Path, known: set[str]) -> Iterator[tuple[int, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        number, _, name = line.partition(" ")
        if not number.isdecimal() or name not in known:
            raise InputError(
                f"{path}: found the line {line!r}; expected a number and a map of this set."
            )
        yield int(number), name


def _read_lines(path: Path) -> Iterator[tuple[int, classes.Answers, str]]:
    for count, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise InputError(
                f"{path}, line {count}: found {line!r}; expected a number, one of the keys "
                f"{', '.join(classes.KEYS)}, the columns ({', '.join(classes.KINDS)} or "
                f"{classes.NO_COLUMN}), the number of columns, the diagonal, and the time, such as "
                "17 v s 1 0 2026-01-31T12:00:00Z."
            )
        given = classes.Answers(classes.KEYS[match[2]], match[3], int(match[4]), int(match[5]))
        try:
            given.check()
        except InputError as error:
            raise InputError(f"{path}, line {count}: {error}") from None
        yield int(match[1]), given, match[6]
