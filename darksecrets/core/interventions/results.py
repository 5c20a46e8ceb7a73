"""The result of a sweep: predictions for every example under every set of disabled heads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Integers, Singles
from darksecrets.core.interventions.tables import SWEEP_SETS
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.core.stats.units import first_of_each

SETS, PREDICTIONS = "sets.csv", "predictions.npz"
_ARRAYS = ("predictions", "labels", "idx", "units")
PARTS = ("head", "layer")
"""Kinds of sets that are one part of the model; the statistics look for the best of each kind."""


def joined(tables: Iterable[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """The rows of all tables, with these columns; there may be no rows."""
    found = [table for table in tables if len(table)]
    every = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    return every.reindex(columns=list(columns))


@dataclass(frozen=True)
class SweepResult:
    """Predictions of one model on a validation set, for the intact model and every disabled set.

    Attributes:
        sets: Rows of `tables.SWEEP_SETS`, one per disabled set. The first one is the intact model,
            kind ``baseline``; it is the only one of its kind.
        predictions: [sets, examples] class numbers (int64), or scores of a regression (float32).
        labels: [examples] gold labels, of the same type.
        idx: [examples] the data set's ``idx`` of each example.
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
    """

    sets: pd.DataFrame
    predictions: Integers | Singles
    labels: Integers | Singles
    idx: Integers
    units: Integers

    def __post_init__(self) -> None:
        expected = (len(self.sets), len(self.idx))
        if self.predictions.shape != expected or self.labels.shape != expected[1:]:
            raise ValueError(f"predictions {self.predictions.shape}, expected {expected}")
        kinds = self.sets["kind"].tolist()
        if kinds.index("baseline") or kinds.count("baseline") > 1:
            raise ValueError("the first set, and no other, is the baseline")

    def is_like(self, other: SweepResult) -> bool:
        """Whether another sweep disables the same sets, on the same examples."""
        about = ("idx", "labels", "units")
        same = [np.array_equal(getattr(self, name), getattr(other, name)) for name in about]
        return all(same) and self.sets.equals(other.sets)

    def once(self) -> SweepResult:
        """The sweep with the first example of each unit only."""
        first = first_of_each(self.units)
        return replace(
            self,
            predictions=self.predictions[:, first],
            labels=self.labels[first],
            idx=self.idx[first],
            units=np.arange(len(first)),
        )

    def save(self, folder: Path) -> None:
        """Write both files atomically: the folder appears complete or not at all."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            SWEEP_SETS.write(self.sets, temporary / SETS)
            arrays = {name: getattr(self, name) for name in _ARRAYS}
            np.savez_compressed(temporary / PREDICTIONS, **arrays)

    @classmethod
    def load(cls, folder: str | Path) -> SweepResult:
        """Read what `save` wrote.

        Raises:
            InputError: A file is missing or damaged.
        """
        folder = Path(folder)
        missing = [name for name in (SETS, PREDICTIONS) if not (folder / name).is_file()]
        if missing:
            raise InputError(
                f"{folder} is no sweep: {', '.join(missing)} is missing. Run it again."
            )
        arrays = read_arrays(folder / PREDICTIONS, *_ARRAYS)
        return cls(SWEEP_SETS.read(folder / SETS), *(arrays[name] for name in _ARRAYS))
