"""A set of single attention maps, with labels where people gave some: one folder.

- ``maps.npz``: all maps in one flat array (``values``), half precision, compressed.
- ``maps.csv``: a row per map, ``COLUMNS``: its origin and its tokens.
- ``labels.csv``: a row per label, ``LABEL_COLUMNS``; absent before the first.

`darksecrets/resources/patterns` is such a folder, and so is an annotation folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.patterns.tables import LABELLED_MAPS
from darksecrets.patterns.tables import LABELS as LABELS_TABLE
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

MAPS, TABLE, LABELS = "maps.npz", LABELLED_MAPS.file, LABELS_TABLE.file
COLUMNS, LABEL_COLUMNS = LABELLED_MAPS.names, LABELS_TABLE.names
SETTLED = 3
"""The pass that settles disagreements of the first two; its labels override theirs."""


@dataclass(frozen=True)
class MapSet:
    """Maps with their origin, and the labels given to them.

    Attributes:
        table: A row per map, ``COLUMNS``.
        maps: [maps] arrays [query, key] in half precision, rows sum to 1.
        labels: A row per label, ``LABEL_COLUMNS``, in the order in which they were given.
    """

    table: pd.DataFrame
    maps: Sequence[npt.NDArray[np.float16]]
    labels: pd.DataFrame

    def save(self, folder: Path) -> None:
        """Write maps and table (not the labels); the folder appears complete or not at all."""
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
                names a class or a map that does not exist.
        """
        folder = Path(folder)
        table = _read_table(folder)
        labels = _read_labels(folder / LABELS, set(table["map"]))
        return cls(table, list(_read_maps(folder, table)), labels)

    def settled(self) -> pd.DataFrame:
        """The settled labels: of maps on which passes agree, or that pass ``SETTLED`` decided.

        Returns:
            Columns ``map`` and ``label``; maps on which passes disagree and that were not settled
            are left out.
        """
        final = self.labels[self.labels["pass"] == SETTLED]
        first = self.labels[
            (self.labels["pass"] < SETTLED) & ~self.labels["map"].isin(final["map"])
        ]
        agreed = first.groupby("map").filter(lambda rows: rows["label"].nunique() == 1)
        both = pd.concat([final, agreed])[["map", "label"]].drop_duplicates("map", keep="last")
        return both.sort_values("map", ignore_index=True)

    def disputed(self) -> list[str]:
        """The maps on which passes before ``SETTLED`` disagree, settled or not, in set order."""
        first = self.labels[self.labels["pass"] < SETTLED]
        classes = first.groupby("map")["label"].nunique()
        disputed = set(classes.index[classes > 1])
        return [name for name in self.table["map"] if name in disputed]


def _read_table(folder: Path) -> pd.DataFrame:
    missing = [name for name in (MAPS, TABLE) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} is not a set of maps: {', '.join(missing)} is missing.")
    return LABELLED_MAPS.read(folder / TABLE)


def _read_maps(folder: Path, table: pd.DataFrame) -> Iterator[npt.NDArray[np.float16]]:
    """Split the flat array into maps; their length is the number of tokens."""
    with np.load(folder / MAPS, allow_pickle=False) as arrays:
        if "values" not in arrays:
            raise InputError(f"{folder / MAPS}: expected an array `values`, found {arrays.files}.")
        values = arrays["values"]
    lengths = table["special"].str.len().to_numpy()
    if len(values) != (lengths**2).sum():
        raise InputError(
            f"{folder / MAPS}: found {len(values)} numbers, expected {(lengths**2).sum()} for the "
            f"tokens of {folder / TABLE}. Restore both files together."
        )
    start = 0
    for length in lengths:
        yield values[start : start + length**2].reshape(length, length)
        start += length**2


def _read_labels(path: Path, maps: set[str]) -> pd.DataFrame:
    if not path.is_file() or path.stat().st_size == 0:
        return pd.DataFrame(columns=list(LABEL_COLUMNS))
    labels = LABELS_TABLE.read(path)
    strange = sorted(set(labels["map"]) - maps)
    if strange:
        raise InputError(
            f"{path}: labels of {len(strange)} maps that {TABLE} beside it does not have, such as "
            f"{strange[0]}. Labels and maps of different sets were mixed."
        )
    return labels
