"""A loss surface as it is stored, and its tables. This module does not need torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape import declared
from darksecrets.beyond.landscape.declared import SPLITS
from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.files import atomic


@dataclass(frozen=True)
class Grid:
    """Losses on a grid.

    Attributes:
        x: [columns] places on the first axis.
        y: [rows] places on the second axis.
        losses: [splits, rows, columns] mean losses.
        ends: [2, splits, rows, columns] ends of their intervals over examples.
    """

    x: Floats
    y: Floats
    losses: Floats
    ends: Floats


@dataclass(frozen=True)
class Points:
    """Models in the plane of three models.

    Attributes:
        steps: [points] steps of a training; −1 for models that span the plane.
        shares: [points, 2] their places on the axes of the plane, see `SURFACE_POINTS`.
        distances: [points, 2] the same in right-angled coordinates, as distances of weights.
        beside: [points] distances from the plane.
        losses: [splits, points] mean losses.
        ends: [2, splits, points] ends of their intervals.
    """

    steps: Integers
    shares: Floats
    distances: Floats
    beside: Floats
    losses: Floats
    ends: Floats


@dataclass(frozen=True)
class Surface:
    """Losses around a fine-tuned model; splits are `darksecrets.beyond.landscape.declared.SPLITS`.

    Attributes:
        grids: By name of the plane, `darksecrets.beyond.landscape.declared.PLANES`.
        corners: The models that span the plane, `beyond.landscape.declared.CORNERS`.
        path: The path of the training; no points without snapshots.
        checked: [splits, points, 2] losses of some nodes as in the grid, and in float32.
    """

    grids: dict[str, Grid]
    corners: Points
    path: Points
    checked: Floats

    @property
    def rounding(self) -> float:
        """Greatest difference of a loss from float32, relative to it, at the nodes checked."""
        given, exact = self.checked[..., 0], self.checked[..., 1]
        return float((np.abs(given - exact) / exact).max())

    def save(self, file: Path) -> None:
        """Write an ``.npz`` file, complete or not at all."""
        arrays: dict[str, Values] = {
            "splits": np.array(SPLITS),
            "corners": np.array(declared.CORNERS),
            "checked": self.checked,
        }
        for name, part in {**self.grids, "corner": self.corners, "path": self.path}.items():
            arrays |= {f"{name}_{key}": value for key, value in vars(part).items()}
        with atomic(file) as temporary:
            np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, file: Path) -> Surface:
        """Read what `save` wrote.

        Raises:
            InputError: The file is missing or damaged.
        """
        fields = {name: list(Grid.__dataclass_fields__) for name in declared.PLANES}
        fields |= {name: list(Points.__dataclass_fields__) for name in ("corner", "path")}
        names = [f"{name}_{key}" for name, keys in fields.items() for key in keys]
        arrays = read_arrays(file, "checked", *names)
        parts = {
            name: {key: arrays[f"{name}_{key}"] for key in keys} for name, keys in fields.items()
        }
        return cls(
            {name: Grid(**parts[name]) for name in declared.PLANES},
            Points(**parts["corner"]),
            Points(**parts["path"]),
            arrays["checked"],
        )


def spaced_shares(points: int) -> Floats:
    """Evenly spaced shares that include 0 and 1, and go beyond both by about a sixth."""
    beyond = max(1, round((points - 1) / 7))
    inner = points - 1 - 2 * beyond
    return (np.arange(points) - beyond) / inner


def along(points: int) -> Floats:
    """Evenly spaced shares from −0.5 to 1.5; 0 and 1 are among them."""
    half = points - 1
    return (np.arange(2 * half + 1) - half // 2) / half


def tables(surface: Surface, task: str, seed: int) -> dict[str, pd.DataFrame]:
    """The tables `darksecrets.beyond.landscape.declared.SURFACE_TABLES` of one model, by name."""
    losses = pd.concat(
        [_nodes(plane, grid) for plane, grid in surface.grids.items()], ignore_index=True
    )
    points = pd.concat(
        [
            *(
                _points(name, surface.corners, [place])
                for place, name in enumerate(declared.CORNERS)
            ),
            _points(declared.PATH, surface.path, range(len(surface.path.steps))),
        ],
        ignore_index=True,
    )
    return {
        declared.name: rows.assign(task=task, seed=seed)[list(declared.names)]
        for declared, rows in ((declared.LOSS_SURFACES, losses), (declared.SURFACE_POINTS, points))
    }


def _nodes(plane: str, grid: Grid) -> pd.DataFrame:
    split, row, column = (of.ravel() for of in np.indices(grid.losses.shape))
    return _add_interval(
        pd.DataFrame(
            {
                "plane": plane,
                "split": np.array(SPLITS)[split],
                "row": row + 1,
                "column": column + 1,
                "x": grid.x[column],
                "y": grid.y[row],
            }
        ),
        grid.losses.ravel(),
        grid.ends.reshape(2, -1),
    )


def _points(name: str, points: Points, chosen: range | list[int]) -> pd.DataFrame:
    split, place = (of.ravel() for of in np.indices((len(SPLITS), len(chosen))))
    place = np.array(chosen, dtype=int)[place]
    steps = pd.Series(points.steps[place], dtype="Int64")
    rows = pd.DataFrame(
        {
            "point": name,
            "step": steps.mask(steps < 0),
            "split": np.array(SPLITS)[split],
            "beside": points.beside[place],
        }
    )
    for number, axis in enumerate("xy"):
        rows[axis] = points.shares[place, number]
        rows[f"distance_{axis}"] = points.distances[place, number]
    return _add_interval(rows, points.losses[split, place], points.ends[:, split, place])


def _add_interval(rows: pd.DataFrame, losses: Floats, ends: Floats) -> pd.DataFrame:
    return rows.assign(loss=losses, ci_low=ends[0], ci_high=ends[1])
