"""What was measured of a model's maps at the snapshots of its training, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from darksecrets.arrays import Floats, Integers
from darksecrets.run.arrays import read_arrays
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

STATISTICS = ("entropy", "sharpness", "first", "separators")
"""Means over the queries of a map, see `darksecrets.landscape.following.statistics_of`."""

_FILE = "heads.npz"


@dataclass(frozen=True)
class Followed:
    """Heads of one model on its way through training.

    Attributes:
        idx: [examples] numbers of the examples in the data set.
        steps: [snapshots] steps, ascending; the first is 0, the last the end.
        to_start: [snapshots, examples, layers, heads] cosine with the maps at step 0.
        to_end: [snapshots, examples, layers, heads] cosine with the maps at the end.
        along: [snapshots, examples, layers, heads] ⟨now − first, last − first⟩ of the maps.
        first: [examples, layers, heads] ‖first‖² of the maps at step 0.
        values: [snapshots, statistics, examples, layers, heads] in the order of `STATISTICS`.
        patterns: [snapshots, examples, layers, heads] number of the pattern in
            `darksecrets.patterns.classes.PATTERNS`.
        weights: [snapshots] progress of all weights, from 0 to 1.
    """

    idx: Integers
    steps: Integers
    to_start: Floats
    to_end: Floats
    along: Floats
    first: Floats
    values: Floats
    patterns: npt.NDArray[np.int8]
    weights: Floats

    @property
    def shares(self) -> Floats:
        """[snapshots] the steps as shares of the training, 0 to 1."""
        return self.steps / self.steps[-1]

    def save(self, folder: Path) -> None:
        """Write the folder; it appears complete or not at all."""
        with atomic(folder) as temporary:
            temporary.mkdir()
            np.savez_compressed(temporary / _FILE, **vars(self))

    @classmethod
    def load(cls, folder: Path) -> Followed:
        """Read what `save` wrote.

        Raises:
            InputError: A file is missing or damaged.
        """
        names = list(cls.__dataclass_fields__)
        arrays = read_arrays(folder / _FILE, *names)
        return cls(**{name: arrays[name] for name in names})


def require_alike(results: Mapping[int, Followed], name: str) -> None:
    """Check that all seeds were followed at the same steps, on the same examples.

    Raises:
        InputError: Steps or examples differ between seeds.
    """
    (first, reference), *others = results.items()
    for seed, result in others:
        for part in ("idx", "steps"):
            if not np.array_equal(getattr(result, part), getattr(reference, part)):
                what = "examples" if part == "idx" else "steps"
                raise InputError(
                    f"{name}: found different {what} in the trajectories of seeds {first} and "
                    f"{seed}, expected the same. Remove the folder trajectories/{name} and run "
                    "again."
                )
