"""A set of single attention maps, with labels where people gave some: one folder.

- ``maps.npz``: all maps in one flat array (``values``), half precision, compressed.
- ``maps.csv``: a row per map, ``COLUMNS``: its origin and its tokens.
- ``labels.csv``: a row per label, ``LABEL_COLUMNS``; absent before the first.

`darksecrets/resources/patterns` is such a folder, and so is an annotation folder.
"""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.paper.patterns.classes import Answers
from darksecrets.paper.patterns.tables import LABELLED_MAPS
from darksecrets.paper.patterns.tables import LABELS as LABELS_TABLE

MAPS, TABLE, LABELS = "maps.npz", LABELLED_MAPS.file, LABELS_TABLE.file
COLUMNS, LABEL_COLUMNS = LABELLED_MAPS.names, LABELS_TABLE.names
ANSWERS = ("label", "columns", "number", "diagonal")
"""Columns of labels that hold an annotator's `Answers`."""
SETTLED = 3
"""The pass that settles disagreements of the first two; its labels override theirs."""


def no_labels() -> pd.DataFrame:
    """An empty table of labels."""
    return label_table([])


def label_table(rows: Iterable[Sequence[object]]) -> pd.DataFrame:
    """A table of labels from rows of ``LABEL_COLUMNS``."""
    frame = pd.DataFrame(rows, columns=list(LABEL_COLUMNS))
    return frame.astype({column.name: column.dtype for column in LABELS_TABLE.columns})


@dataclass(frozen=True)
class MapSet:
    """Maps with their origin, and the labels given to them.

    Attributes:
        table: A row per map, ``COLUMNS``.
        maps: [maps] arrays [query, key] in half precision, rows sum to 1.
        labels: A row per label, ``LABEL_COLUMNS``, in the order in which they were given.
    """

    table: pd.DataFrame
    maps: Sequence[Halves]
    labels: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write all but the labels; the folder appears complete or not at all."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            LABELLED_MAPS.write(self.table[list(COLUMNS)], temporary / TABLE)
            values = [np.asarray(one, dtype=np.float16).ravel() for one in self.maps]
            np.savez_compressed(temporary / MAPS, values=np.concatenate(values))

    @classmethod
    def load(cls, folder: str | Path) -> MapSet:
        """Read a set and check it.

        Raises:
            InputError: A file or an array is missing, the maps do not fit their table, or a label
                names a class or a map that does not exist or has answers that contradict each
                other.
        """
        folder = Path(folder)
        table = _read_table(folder)
        labels = read_labels(folder / LABELS, set(table["map"]))
        return cls(table, list(_read_maps(folder, table)), labels)

    def settled(self) -> pd.DataFrame:
        """The settled answers: of maps that are not disputed, or that pass ``SETTLED`` decided.

        Where passes agree on the class under both definitions, they may still differ in a second
        answer. All answers are then those of one label, so that they fit together: of the most
        frequent one, and among equally frequent ones, the one of the earliest pass.

        Returns:
            Columns ``map``, ``ANSWERS`` and ``strict``, the class under the strict definition
            (empty if unknown); disputed maps that were not settled are left out.
        """
        final = self.labels[self.labels["pass"] == SETTLED].drop_duplicates("map", keep="last")
        left_out = {*final["map"], *self.disputed()}
        first = self.labels[(self.labels["pass"] < SETTLED) & ~self.labels["map"].isin(left_out)]
        same = first.groupby(["map", *ANSWERS], dropna=False)["label"].transform("size")
        frequent = first.assign(same=-same).sort_values(["same", "pass"], kind="stable")
        both = pd.concat([final, frequent.drop_duplicates("map")])[["map", *ANSWERS]]
        return both.assign(strict=strict_labels(both)).sort_values("map", ignore_index=True)

    def disputed(self) -> list[str]:
        """The maps whose class passes before ``SETTLED`` disagree on, under one of the definitions.

        Settled or not, in set order.
        """
        first = self.labels[self.labels["pass"] < SETTLED]
        definitions = first.assign(strict=strict_labels(first)).groupby("map")[["label", "strict"]]
        classes = definitions.nunique().max(axis=1)
        disputed = set(classes.index[classes > 1])
        return [name for name in self.table["map"] if name in disputed]


def answers(labels: pd.DataFrame) -> list[Answers]:
    """The answers of each row that has the columns ``ANSWERS``."""
    numbers = (
        [None if pd.isna(value) else int(value) for value in labels[name]] for name in ANSWERS[2:]
    )
    rows = zip(labels["label"], labels["columns"], *numbers, strict=True)
    return [Answers(*row) for row in rows]


def strict_labels(labels: pd.DataFrame) -> pd.Series[str]:
    """The class of each row under the strict definition; empty if unknown."""
    strict = [given.strict for given in answers(labels)]
    return pd.Series(strict, index=labels.index, dtype="str")


def _read_table(folder: Path) -> pd.DataFrame:
    missing = [name for name in (MAPS, TABLE) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} is not a set of maps: {', '.join(missing)} is missing.")
    return LABELLED_MAPS.read(folder / TABLE)


def _read_maps(folder: Path, table: pd.DataFrame) -> Iterator[Halves]:
    """Split the flat array into maps; their length is the number of tokens."""
    values = _read_array(folder / MAPS, "values")
    lengths = table["special"].str.len().to_numpy()
    if len(values) != (lengths**2).sum():
        raise InputError(
            f"{folder / MAPS} has {len(values)} numbers, but the tokens of {folder / TABLE} make "
            f"{(lengths**2).sum()}. Restore both files together."
        )
    start = 0
    for length in lengths:
        yield values[start : start + length**2].reshape(length, length)
        start += length**2


def _read_array(path: Path, name: str) -> npt.NDArray[Any]:
    """Read one of the arrays of an archive of NumPy's.

    Raises:
        InputError: The file is damaged, is something else, or lacks the array.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = [*getattr(arrays, "files", [])]
            if name in found:
                return arrays[name]
    except (AttributeError, EOFError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: these {path.stat().st_size} bytes are not a complete file of arrays "
            f"({str(error).splitlines()[0]}) with the maps of {TABLE} beside it. Restore the "
            "file."
        ) from None
    raise InputError(f"{path} has no array `{name}`: {found}. Restore the file.")


def read_labels(path: Path, maps: Collection[str]) -> pd.DataFrame:
    """Read labels and check them, see `MapSet.load`; no rows if there is no file.

    Args:
        path: The table.
        maps: Names of the maps that labels may be of.

    Raises:
        InputError: See `MapSet.load`.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return no_labels()
    labels = LABELS_TABLE.read(path)
    _check_maps(path, labels, maps)
    for row, one in enumerate(answers(labels), start=1):
        try:
            one.check()
        except InputError as error:
            raise InputError(f"{path}, row {row}: {error}") from None
    return labels


def _check_maps(path: Path, labels: pd.DataFrame, maps: Collection[str]) -> None:
    strange = sorted(set(labels["map"]) - set(maps))
    if strange:
        raise InputError(
            f"{path}: labels of {len(strange)} maps that {TABLE} beside it does not have, such as "
            f"{strange[0]}. Labels and maps of different sets were mixed."
        )
