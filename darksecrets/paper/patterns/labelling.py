"""Labelling a set of maps: every label is on disk as soon as it is given.

An annotation folder is a set of maps (`paper.patterns.mapset`). It is a copy of a sample, so
that labels are kept when the results that the sample was drawn from are removed. Only one process
at a time may write to a folder.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import fcntl
import io
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from darksecrets.core.arrays import Integers
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.paper.patterns.classes import Answers
from darksecrets.paper.patterns.mapset import (
    LABEL_COLUMNS,
    LABELS,
    MAPS,
    SETTLED,
    TABLE,
    MapSet,
    answers,
)
from darksecrets.paper.patterns.tables import SHOWN

_HEADER = ",".join(LABEL_COLUMNS) + "\n"
Row = tuple[str | int | None, ...]
"""A label: ``LABEL_COLUMNS``."""


def prepare(folder: Path, sample: Path | None = None) -> None:
    """Make an annotation folder: a copy of a sample of maps, without its labels.

    Args:
        folder: The annotation folder; if it exists, it is left unchanged.
        sample: The set of maps to label. If None, the folder must exist.

    Raises:
        InputError: The folder holds something other than this sample.
    """
    if sample is None:
        return
    drawn = MapSet.load(sample)
    if (folder / TABLE).is_file():
        known = MapSet.load(folder)
        same = all(map(np.array_equal, known.maps, drawn.maps))
        if not (same and known.table.equals(drawn.table)):
            raise InputError(
                f"{folder} holds other maps than {sample}. Label the new sample in a new folder; "
                "to continue with the old one, start the page without --maps."
            )
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} holds something other than a set of maps. Use a new folder.")
    with atomic(folder) as temporary:
        temporary.mkdir()
        for name in (MAPS, TABLE):
            if (sample / name).is_file():
                shutil.copyfile(sample / name, temporary / name)
    _sync_name(folder)


def check_annotator(name: str) -> str:
    """Return an annotator's name, stripped, if it can be written to a CSV file unquoted.

    Raises:
        InputError: The name is empty, or has a comma, a quote or a line break.
    """
    if not name.strip() or not name.isprintable() or set(name) & set(',"'):
        raise InputError(
            f"The annotator's name {name!r} cannot be used: expected a name or initials without "
            "commas, quotes and line breaks."
        )
    return name.strip()


def row(name: str, given: Answers, annotator: str, number: int, tokens: str, time: str) -> Row:
    """A label as it is written.

    Args:
        name: The map.
        given: The answers.
        annotator: Name of the annotator.
        number: Number of the pass.
        tokens: Whether the annotator saw the map's tokens, `tables.TOKENS`.
        time: When the label was given.
    """
    answers = (given.label, given.columns, given.number, given.diagonal)
    return (name, *answers, annotator, number, tokens, time)


class LabelFile:
    """The labels of an annotation folder on disk; made by :func:`open_labels`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, rows: Iterable[Row]) -> None:
        """Add labels; when this returns, they are on disk.

        Raises:
            OSError: The disk is full or gone; the file is unchanged.
        """
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        with self.path.open("ab", buffering=0) as stream:
            before = stream.tell()
            content = ((_HEADER if before == 0 else "") + text.getvalue()).encode()
            try:
                if stream.write(content) != len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(stream.fileno())
                if before == 0:
                    _sync_name(self.path)
            except OSError:
                stream.truncate(before)
                raise

    def remove(self, name: str, annotator: str, number: int) -> None:
        """Take back the last label that an annotator gave a map in a pass."""
        with self.path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        wanted = [name, annotator, str(number)]
        columns = [LABEL_COLUMNS.index(column) for column in ("map", "annotator", "pass")]
        last = max(n for n, row in enumerate(rows) if [row[c] for c in columns] == wanted)
        del rows[last]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        _replace(self.path, text.getvalue())


def _replace(path: Path, text: str) -> None:
    """Replace a file; when this returns, the new one is on disk."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    _sync_name(path)


def _sync_name(path: Path) -> None:
    """Flush a file's folder to disk: flushing the file alone does not save its name."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def open_labels(folder: Path) -> Iterator[LabelFile]:
    """Open the labels of a folder for writing, and lock it.

    Raises:
        InputError: The folder is not a set of maps, another process writes to it, or its file has
            other columns.
    """
    if not (folder / TABLE).is_file():
        raise InputError(f"{folder} is not a set of maps: {TABLE} is missing.")
    with (folder / TABLE).open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"Another labelling page writes to {folder}. Stop it first (Ctrl+C), or label in a "
                "copy of the folder."
            ) from None
        _mend(folder / LABELS)
        yield LabelFile(folder / LABELS)


def _mend(path: Path) -> None:
    """End the last line if an editor did not; drop it if a crash left it incomplete."""
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    if text and not text.startswith(_HEADER):
        found = text.split("\n", 1)[0]
        raise InputError(f"{path}: the columns are {found}, not {_HEADER.strip()}.")
    if text and not text.endswith("\n"):
        lines = text.split("\n")
        # The time is last and ends in Z: a line without it was cut off and never acknowledged.
        kept = lines if lines[-1].endswith("Z") else lines[:-1]
        _replace(path, "\n".join([*kept, ""]))


def order_of(count: int, annotator: str, number: int) -> Integers:
    """The order in which an annotator sees ``count`` maps; it differs between passes."""
    return np.random.default_rng([number, *annotator.encode()]).permutation(count)


class Pass:
    """One annotator's pass over a set of maps. It resumes after the saved labels; skips are lost.

    Attributes:
        mapset: The maps.
        annotator: Who labels.
        number: Number of the pass; pass ``SETTLED`` has only the maps on which the others disagree.
        waiting: The maps without a label; the first is the one to label now.
        total: Number of maps of the pass.
    """

    def __init__(self, mapset: MapSet, file: LabelFile, annotator: str, number: int) -> None:
        self.mapset = mapset
        self.annotator = check_annotator(annotator)
        self.number = number
        self._file = file
        self._lock = threading.Lock()
        names = mapset.disputed() if number == SETTLED else list(mapset.table["map"])
        if not names:
            raise InputError(
                f"There is nothing to settle in pass {SETTLED}: earlier passes agree on the class "
                "of every map, under both definitions."
            )
        own = mapset.labels.query("annotator == @self.annotator and `pass` == @number")
        labelled = [name for name in own["map"] if name in set(names)]
        self.total = len(names)
        ordered = [names[place] for place in order_of(len(names), self.annotator, number)]
        self.waiting = [name for name in ordered if name not in set(labelled)]
        given = dict(zip(own["map"], answers(own), strict=True))
        self._done: list[tuple[str, Answers | None]] = [(name, given[name]) for name in labelled]

    @property
    def labelled(self) -> int:
        """Number of maps that have a label."""
        return self.total - len(self.waiting)

    def last(self, count: int) -> list[tuple[str, Answers | None]]:
        """The maps that were labelled or skipped last, with their answers; None for a skip."""
        return self._done[-count:]

    def label(self, name: str, given: Answers, tokens: str = SHOWN) -> bool:
        """Label the current map.

        Args:
            name: The map that the annotator sees.
            given: The answers.
            tokens: Whether its tokens are shown, `tables.TOKENS`.

        Returns:
            False, with nothing done, if another map is the current one: the page is out of date.

        Raises:
            InputError: There is no such class, or answers contradict each other.
        """
        given.check()
        with self._lock:
            if self.waiting[:1] != [name]:
                return False
            self._file.append([row(name, given, self.annotator, self.number, tokens, now())])
            self._done.append((self.waiting.pop(0), given))
            return True

    def skip(self, name: str) -> bool:
        """Move the current map to the end; returns as `label`."""
        with self._lock:
            if self.waiting[:1] != [name]:
                return False
            self.waiting.append(self.waiting.pop(0))
            self._done.append((name, None))
            return True

    def undo(self) -> bool:
        """Take back the last label or skip; its map becomes the current one. False if none."""
        with self._lock:
            if not self._done:
                return False
            name, given = self._done[-1]
            if given is not None:
                self._file.remove(name, self.annotator, self.number)
            else:
                self.waiting.remove(name)
            self._done.pop()
            self.waiting.insert(0, name)
            return True


def now() -> str:
    """The current time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
