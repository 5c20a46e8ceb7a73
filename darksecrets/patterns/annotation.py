"""Labels that people give to a set of maps: every one is on disk the moment it is given.

An annotation folder is a set of maps (`darksecrets.patterns.mapset`) that is a copy of a sample,
so that its labels survive the results that the sample was drawn from. One process writes to a
folder at a time.
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
import numpy.typing as npt

from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.mapset import LABEL_COLUMNS, LABELS, MAPS, SETTLED, TABLE, MapSet
from darksecrets.run.errors import InputError
from darksecrets.run.files import PROVENANCE, atomic

_HEADER = ",".join(LABEL_COLUMNS) + "\n"
Row = tuple[str, str, str, int, str]
"""A label: ``LABEL_COLUMNS``."""


def prepare(folder: Path, sample: Path | None = None) -> None:
    """Make an annotation folder: a copy of a sample of maps, without its labels.

    Args:
        folder: The annotation folder; one that is there stays as it is.
        sample: The set of maps to label. None: the folder must be there.

    Raises:
        InputError: The folder holds something else than this sample.
    """
    if sample is None:
        return
    drawn = MapSet.load(sample)
    if (folder / TABLE).is_file():
        if not _same_maps(drawn, MapSet.load(folder)):
            raise InputError(
                f"{folder} holds other maps than {sample}. Label the new sample in a folder of its "
                "own; to go on with the old one, start the page without --maps."
            )
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} holds something else than a set of maps. Use a new folder.")
    with atomic(folder) as temporary:
        temporary.mkdir()
        for name in (MAPS, TABLE, PROVENANCE):
            if (sample / name).is_file():
                shutil.copyfile(sample / name, temporary / name)
    _sync_name(folder)


def _same_maps(one: MapSet, other: MapSet) -> bool:
    return one.table.equals(other.table) and all(map(np.array_equal, one.maps, other.maps))


def check_annotator(name: str) -> str:
    """The name, if it can stand in a tidy file.

    Raises:
        InputError: It is empty, or has a comma, a quote or a line break.
    """
    if not name.strip() or not name.isprintable() or set(name) & set(',"'):
        raise InputError(
            f"The annotator's name {name!r} will not do: expected a name or initials without "
            "commas, quotes and line breaks."
        )
    return name.strip()


class LabelFile:
    """The labels of an annotation folder on disk; made by :func:`open_labels`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, rows: Iterable[Row]) -> None:
        """Add labels; when this returns, the disk has them.

        Raises:
            OSError: The disk is full or gone; the file is as before.
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
        wanted = (name, annotator, str(number))
        last = max(n for n, row in enumerate(rows) if (row[0], row[2], row[3]) == wanted)
        del rows[last]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        _replace(self.path, text.getvalue())


def _replace(path: Path, text: str) -> None:
    """Write a file anew; when this returns, the disk has it."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    _sync_name(path)


def _sync_name(path: Path) -> None:
    """Have the disk hold a name in its folder, which it need not where it holds the content."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def open_labels(folder: Path) -> Iterator[LabelFile]:
    """Open the labels of a folder to write to; nobody else can meanwhile.

    Raises:
        InputError: The folder is no set of maps, somebody else writes to it, or its file has other
            columns.
    """
    if not (folder / TABLE).is_file():
        raise InputError(f"{folder} is no set of maps: {TABLE} is missing.")
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
    """Complete the last line after an edit, or drop it where a machine died while writing it."""
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    if text and not text.startswith(_HEADER):
        found = text.split("\n", 1)[0]
        raise InputError(f"{path}: found the columns {found}, expected {_HEADER.strip()}.")
    if text and not text.endswith("\n"):
        lines = text.split("\n")
        # The time comes last and ends in Z: a line without was cut off and never acknowledged.
        kept = lines if lines[-1].endswith("Z") else lines[:-1]
        _replace(path, "\n".join([*kept, ""]))


def order_of(count: int, annotator: str, number: int) -> npt.NDArray[np.int64]:
    """The order in which an annotator sees ``count`` maps in a pass: another in every pass."""
    return np.random.default_rng([number, *annotator.encode()]).permutation(count)


class Pass:
    """One annotator's way through a set of maps, resumed after its labels; skips are not kept.

    Attributes:
        mapset: The maps.
        annotator: Who labels.
        number: Of the pass; in pass ``SETTLED`` only maps come on which the others disagree.
        waiting: The maps without a label, the one to label now first.
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
                f"There is nothing to settle in pass {SETTLED}: no map has two different labels in "
                "the passes before."
            )
        own = mapset.labels.query("annotator == @self.annotator and `pass` == @number")["map"]
        labelled = [name for name in own if name in set(names)]
        self.total = len(names)
        ordered = [names[place] for place in order_of(len(names), self.annotator, number)]
        self.waiting = [name for name in ordered if name not in set(labelled)]
        self._done: list[tuple[str, bool]] = [(name, True) for name in labelled]

    @property
    def labelled(self) -> int:
        """Number of maps that have a label."""
        return self.total - len(self.waiting)

    @property
    def can_undo(self) -> bool:
        """Whether there is a label or a skip to take back."""
        return bool(self._done)

    def label(self, name: str, pattern: str) -> bool:
        """Give the map that is to be labelled now its class.

        Returns:
            False, with nothing done, where another map is to be labelled now: a page is behind.

        Raises:
            InputError: There is no such class.
        """
        if pattern not in PATTERNS:
            raise InputError(f"Found the class {pattern!r}; expected {', '.join(PATTERNS)}.")
        with self._lock:
            if self.waiting[:1] != [name]:
                return False
            self._file.append([(name, pattern, self.annotator, self.number, now())])
            self._done.append((self.waiting.pop(0), True))
            return True

    def skip(self, name: str) -> bool:
        """Put the map after all others; see `label` for what is returned."""
        with self._lock:
            if self.waiting[:1] != [name]:
                return False
            self.waiting.append(self.waiting.pop(0))
            self._done.append((name, False))
            return True

    def undo(self) -> bool:
        """Take back the last label or skip; that map comes next. False: there is none."""
        with self._lock:
            if not self._done:
                return False
            name, was_labelled = self._done[-1]
            if was_labelled:
                self._file.remove(name, self.annotator, self.number)
            else:
                self.waiting.remove(name)
            self._done.pop()
            self.waiting.insert(0, name)
            return True


def now() -> str:
    """The time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
