"""Contact sheets: pictures of nine numbered maps each, for labelling without the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from darksecrets.patterns.annotation import LabelFile, Row, check_annotator
from darksecrets.patterns.classes import KEYS
from darksecrets.patterns.mapset import MapSet
from darksecrets.plotting.attention_map import draw_map, saturation
from darksecrets.plotting.style import style
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = "order.txt"
PER_SHEET = 9
_LINE = re.compile(rf"(\d+) ([{''.join(KEYS)}]) (\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


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
        for number, start in enumerate(starts, 1):
            with style():
                figure = _sheet(mapset, places[start : start + PER_SHEET], start + 1)
                figure.savefig(temporary / f"sheet{number:02d}.png", dpi=110)
    return len(starts)


def _sheet(mapset: MapSet, places: list[int], first: int) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.5, 13.8))
    for panel, place in enumerate(places):
        axes = figure.add_subplot(3, 3, panel + 1)
        weights = mapset.maps[place].astype(np.float32)
        draw_map(axes, weights, mapset.table["tokens"][place].split(" "), saturation(weights))
        axes.set_title(f"#{first + panel}", fontsize=13)
    figure.subplots_adjust(left=0.05, right=0.99, top=0.975, bottom=0.05, wspace=0.2, hspace=0.22)
    return figure


def import_labels(
    mapset: MapSet, file: LabelFile, order: Path, labels: Path, annotator: str, number: int
) -> int:
    """Add labels given on contact sheets to a set: all of them, or none if one is wrong.

    Args:
        mapset: The set that the sheets show.
        file: Its labels.
        order: The sheets' ``order.txt``.
        labels: Lines ``number key time``, such as ``17 v 2026-01-31T12:00:00Z``.
        annotator: Name of the annotator.
        number: Number of the pass.

    Returns:
        Number of labels.

    Raises:
        InputError: A line is malformed, a number is not in the order file or is in it twice, or a
            map is not in this set or already has a label of this annotator in this pass.
    """
    annotator = check_annotator(annotator)
    maps = dict(_read_order(order, set(mapset.table["map"])))
    own = mapset.labels.query("annotator == @annotator and `pass` == @number")["map"]
    rows: dict[str, Row] = {}
    for place, label, time in _read_lines(labels):
        name = maps.get(place)
        if name is None:
            raise InputError(f"{labels}: found number {place}, which {order} does not have.")
        if name in rows or name in set(own):
            raise InputError(
                f"{labels}: number {place} ({name}) would have two labels of {annotator} in pass "
                f"{number}; expected one. Remove one of the two."
            )
        rows[name] = (name, label, annotator, number, time)
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


def _read_lines(path: Path) -> Iterator[tuple[int, str, str]]:
    for count, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise InputError(
                f"{path}, line {count}: found {line!r}; expected a number, one of the keys "
                f"{', '.join(KEYS)}, and a time such as 2026-01-31T12:00:00Z."
            )
        yield int(match[1]), KEYS[match[2]], match[3]
