"""Losses on planes through a fine-tuned model's weights (Li et al. 2018; Hao et al. 2019)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

from darksecrets.ablation.sweep import check_labels
from darksecrets.data.batches import EncodedSplit, load_split
from darksecrets.finetuning.evaluation import batch_size_for, outputs
from darksecrets.finetuning.snapshots import Snapshots
from darksecrets.landscape.grids import along, around, between
from darksecrets.landscape.projection import project, put_changed
from darksecrets.landscape.restoring import read_stored, rounding_of, sample
from darksecrets.landscape.results import Logits, losses
from darksecrets.landscape.surface import Grid, Points, Surface
from darksecrets.landscape.surface_tables import (
    CORNERS,
    FINETUNED,
    FROM_NORMAL,
    LINE,
    MODELS,
    PRETRAINED,
    RANDOM,
)
from darksecrets.landscape.tables import SPLITS, VALIDATION
from darksecrets.landscape.vectors import Floats, Vectors, frame_of, random_directions
from darksecrets.models import devices, precision
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run.arrays import read_arrays
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic, fingerprint
from darksecrets.run.progress import progress
from darksecrets.run.resuming import finish, resuming

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task
    from darksecrets.landscape.vectors import Frame

DIRECTIONS = ("direction-1", "direction-2")
SHARES = {PRETRAINED: (1.0, 0.0), FINETUNED: (0.0, 0.0), FROM_NORMAL: (0.0, 1.0)}
"""Places of the models that span a plane, on its axes."""

Weights = dict[str, float]
"""Of vectors in a sum, by name."""
Steps = Iterator[tuple[int, Mapping[str, "Tensor"]]]
"""Steps of a fine-tuning with what they have added to the pre-trained weights, by parameter."""

_ROWS = "*.npz"

BATCH_SIZE = 16
"""On a CPU in bfloat16, where small batches pay: they have less padding."""


@dataclass(frozen=True)
class Settings:
    """What a surface depends on, besides its files, the device and library versions.

    Attributes:
        task: The task.
        seed: Seed of the fine-tuning.
        grid: Points of an axis, odd.
        radius: Greatest multiple of a random direction.
        examples: Validation examples, at most.
        training: Training examples, at most.
        sample: Seed of the choice of examples, and of the random directions.
        max_length: Longest sequence kept, in tokens.
        precision: One of `darksecrets.models.precision.PRECISIONS`.
    """

    task: Task
    seed: int
    grid: int
    radius: float
    examples: int
    training: int
    sample: int
    max_length: int
    precision: str


@dataclass(frozen=True)
class Model:
    """One of the models that span a plane.

    Attributes:
        folder: Its folder.
        predictions: What the run has stored of its outputs on the validation split.
    """

    folder: Path
    predictions: Path


class Losses:
    """Losses of points of a plane.

    Args:
        model: A model whose weights may be changed.
        vectors: Vectors of its shape.
        splits: The examples, by name, in the order of `SPLITS`.
        settings: What to compute.

    Attributes:
        vectors: The same.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        vectors: Vectors,
        splits: Mapping[str, EncodedSplit],
        settings: Settings,
    ) -> None:
        self.model, self.vectors, self.splits, self.task = model, vectors, splits, settings.task
        self.fast = precision.resolve(settings.precision) == "bfloat16"

    def at(self, weights: Weights, *, exact: bool = False) -> Floats:
        """[2, splits] mean losses and their standard errors at a point, in float32 if `exact`."""
        self.put(weights)
        return self.of_outputs(self.outputs(exact=exact))

    def put(self, weights: Weights) -> None:
        """Give the model the weights of a point."""
        self.vectors.put(self.model, weights)

    def outputs(self, *, exact: bool = False) -> dict[str, Logits]:
        """Outputs of the model as it is, by split."""
        device, fast = self.model.device.type, self.fast and not exact
        most = BATCH_SIZE if fast and device == "cpu" else devices.SEQUENCES
        with torch.autocast(device, dtype=torch.bfloat16, enabled=fast):
            return {
                name: outputs(self.model, split, min(most, batch_size_for(self.model, split)))
                for name, split in self.splits.items()
            }

    def of_outputs(self, found: Mapping[str, Logits]) -> Floats:
        """[2, splits] mean losses and their standard errors.

        Raises:
            InputError: A loss is not finite.
        """
        columns = []
        for name, logits in found.items():
            of_examples = losses(self.task, logits, self.splits[name].labels)
            if not np.isfinite(of_examples).all():
                raise InputError(
                    f"{self.task.name}: found a loss that is not finite on the {name} examples, "
                    "expected a number everywhere on the plane. A model has diverged: train it "
                    "again, or lower landscape.surface.radius."
                )
            error = of_examples.std(ddof=1) / np.sqrt(len(of_examples))
            columns.append((of_examples.mean(), error))
        return np.array(columns).T


def measure(
    models: Mapping[str, Model],
    dataset: Path,
    settings: Settings,
    output: Path,
    *,
    snapshots: Path | None = None,
    threads: int,
) -> tuple[Surface, dict[str, Any]]:
    """Compute the losses on all planes; finished rows are kept beside the output until then.

    Args:
        models: The models that span the plane, by `CORNERS`.
        dataset: The task's data, see the data contract.
        settings: What to compute.
        output: The file that is made from the result.
        snapshots: Weights on the way of the fine-tuning, if they were kept.
        threads: Number of CPU threads.

    Returns:
        The surface; and for the provenance, the precision, its errors, and the time.

    Raises:
        InputError: The models differ in shape, span no plane, or are not those of the stored
            outputs; or a loss is not finite.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    splits = _samples(models[FINETUNED].folder, dataset, settings)
    identity = {
        **asdict(settings),
        "task": settings.task.name,
        "models": {name: fingerprint(model.folder) for name, model in models.items()},
        "snapshots": fingerprint(snapshots) if snapshots else None,
        "data": [split.fingerprint() for split in splits.values()],
        "precision": precision.resolve(settings.precision),
        "device": devices.best().type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    with resuming(output, identity, _ROWS) as folder:
        losses_at, steps = _load(models, splits, settings, folder, snapshots)
        of = f"{settings.task.name}, seed {settings.seed}"
        vectors = losses_at.vectors
        frame = frame_of(vectors, (PRETRAINED, FROM_NORMAL), FINETUNED, f"{of}: three models")
        frame_of(vectors, DIRECTIONS, None, f"{of}: random directions")
        corners, rounding = _corners(losses_at, models, frame)
        grids, checked = _survey(losses_at, settings, folder, corners)
        surface = Surface(grids, corners, _path(losses_at, frame, steps), checked)
        surface.save(output)
    return surface, {
        "precision": identity["precision"],
        "relative_error": surface.rounding,
        "rounding_of_models": rounding,
        "surface_seconds": round(time.perf_counter() - start, 1),
    }


def _samples(model: Path, dataset: Path, settings: Settings) -> dict[str, EncodedSplit]:
    """Samples of both splits."""
    tokenizer, task = load_tokenizer(model), settings.task
    found = {}
    for name, size in zip(SPLITS, (settings.examples, settings.training), strict=True):
        split = load_split(dataset, name, tokenizer, task, settings.max_length)
        found[name] = sample(split, size, settings.sample)
        check_labels(found[name].labels, task, str(dataset))
    return found


def _load(
    models: Mapping[str, Model],
    splits: Mapping[str, EncodedSplit],
    settings: Settings,
    folder: Path,
    snapshots: Path | None,
) -> tuple[Losses, Steps]:
    """Keep all models and directions in a folder, and the last of them in memory."""
    steps: Steps = iter(())
    vectors = Vectors(folder)
    for name in CORNERS:
        model, _ = load_classifier(models[name].folder, settings.task, settings.seed)
        vectors.keep(name, model)
        if name == PRETRAINED and snapshots:
            steps = _steps(snapshots, model, settings)
    random_directions(vectors, FINETUNED, DIRECTIONS, settings.sample)
    return Losses(devices.place(model), vectors, splits, settings), steps


def _steps(folder: Path, start: PreTrainedModel, settings: Settings) -> Steps:
    """Snapshots of the training that began with a model; those of another run are refused."""
    kept = Snapshots(folder)
    kept.check(start, task=settings.task.name, state=FINETUNED, seed=settings.seed)
    return kept.read()


def _corners(
    losses_at: Losses, models: Mapping[str, Model], frame: Frame
) -> tuple[Points, dict[str, float]]:
    """The models that span the plane, and how far their outputs are from those stored.

    On validation examples, their losses are those of the stored outputs.
    """
    found, rounding = [], {}
    for name in CORNERS:
        losses_at.put({name: 1.0})
        of_splits = losses_at.outputs(exact=True)
        file, idx = models[name].predictions, losses_at.splits[VALIDATION].idx
        stored = read_stored(file, losses_at.task, idx)
        rounding[name] = rounding_of(of_splits[VALIDATION], stored, file)
        found.append(losses_at.of_outputs({**of_splits, VALIDATION: stored}))
    shares = np.array([SHARES[name] for name in CORNERS])
    means, errors = np.stack(found, axis=-1)
    nothing, count = np.zeros(len(CORNERS)), len(CORNERS)
    points = Points(
        *(np.full(count, -1), shares, frame.distances(shares), nothing), losses=means, errors=errors
    )
    return points, rounding


def _path(losses_at: Losses, frame: Frame, steps: Steps) -> Points:
    """The path of the training, with losses of its models."""
    found = []
    for step, changes in steps:
        share, beside = project(losses_at.vectors, frame, changes)
        put_changed(losses_at.vectors, losses_at.model, changes)
        found.append((step, share, beside, losses_at.of_outputs(losses_at.outputs())))
    shares = np.array([share for _, share, _, _ in found]).reshape(-1, 2)
    means, errors = (
        np.array([of for *_, of in found]).reshape(-1, 2, len(SPLITS)).transpose(1, 2, 0)
    )
    return Points(
        np.array([step for step, *_ in found], dtype=np.int64),
        shares,
        frame.distances(shares),
        np.array([beside for _, _, beside, _ in found], dtype=np.float64),
        means,
        errors,
    )


def _survey(
    losses_at: Losses, settings: Settings, folder: Path, corners: Points
) -> tuple[dict[str, Grid], Floats]:
    """Losses on all grids, and those that were checked in float32; finished rows are read."""
    grids, checked = {}, [*_checked_corners(losses_at, corners)]
    axes = axes_of(settings)
    nodes = sum(len(x) * len(y) for x, y in axes.values())
    with progress(f"Loss surface, {settings.task.name}", nodes, "points") as advance:
        for plane, (x, y) in axes.items():
            rows = []
            for row, place in enumerate(y):
                file = folder / f"{plane}-{row + 1}.npz"
                if not file.is_file():
                    points = [weights_of(plane, each, place) for each in x]
                    found = [_at(losses_at, point, corners) for point in points]
                    _keep(file, np.array(found))
                rows.append(read_arrays(file, "losses")["losses"])
                advance(len(x))
            means, errors = np.array(rows).transpose(2, 3, 0, 1)
            grids[plane] = Grid(x, y, means, errors)
            checked += _checked_ends(losses_at, plane, grids[plane])
    return grids, np.stack(checked, axis=1)


def _at(losses_at: Losses, weights: Weights, corners: Points) -> Floats:
    """[2, splits] losses at a point, with their standard errors; of a corner, its own."""
    used = {name: weight for name, weight in weights.items() if weight != 0}
    for place, name in enumerate(CORNERS):
        if used == {name: 1.0}:
            return np.stack([corners.losses[:, place], corners.errors[:, place]])
    return losses_at.at(weights)


def _keep(file: Path, found: Floats) -> None:
    with atomic(file) as temporary:
        np.savez(temporary, losses=found)
    finish(file)


def _checked_corners(losses_at: Losses, corners: Points) -> Iterator[Floats]:
    """[splits, 2] losses of every corner as other points are computed, and its own."""
    for place, name in enumerate(CORNERS):
        exact = corners.losses[:, place]
        given = losses_at.at({name: 1.0})[0] if losses_at.fast else exact
        yield np.stack([given, exact], axis=-1)


def _checked_ends(losses_at: Losses, plane: str, grid: Grid) -> Iterator[Floats]:
    """[splits, 2] losses of every end of a grid, and the same in float32."""
    for row in sorted({0, len(grid.y) - 1}):
        for column in (0, len(grid.x) - 1):
            given = exact = grid.losses[:, row, column]
            if losses_at.fast:
                weights = weights_of(plane, grid.x[column], grid.y[row])
                exact = losses_at.at(weights, exact=True)[0]
            yield np.stack([given, exact], axis=-1)


def axes_of(settings: Settings) -> dict[str, tuple[Floats, Floats]]:
    """Places of the columns and rows of every grid."""
    shares, radii = between(settings.grid), around(settings.grid, settings.radius)
    planes = {MODELS: (shares, shares), RANDOM: (radii, radii)}
    return {**planes, LINE: (along(settings.grid), np.zeros(1))}


def weights_of(plane: str, x: float, y: float) -> Weights:
    """Weights of the vectors at a point of a plane."""
    if plane == MODELS:
        return {FINETUNED: float(1 - x - y), PRETRAINED: float(x), FROM_NORMAL: float(y)}
    if plane == RANDOM:
        return {FINETUNED: 1.0, **dict(zip(DIRECTIONS, (float(x), float(y)), strict=True))}
    return {PRETRAINED: float(1 - x), FINETUNED: float(x)}
