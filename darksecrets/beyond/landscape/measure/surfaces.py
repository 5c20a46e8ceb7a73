"""Losses on a plane and a line through a fine-tuned model's weights (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from darksecrets.beyond.landscape import declared
from darksecrets.beyond.landscape.declared import SPLITS, VALIDATION
from darksecrets.beyond.landscape.declared import Surface as Settings
from darksecrets.beyond.landscape.measure import vectors as planes
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.resetting import read_stored, rounding_of
from darksecrets.beyond.landscape.measure.results import Logits, losses
from darksecrets.beyond.landscape.measure.snapshots import Snapshots
from darksecrets.beyond.landscape.measure.surface import Grid, Points, Surface, along, spaced_shares
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.sweep import check_labels
from darksecrets.core.models import devices, precision
from darksecrets.core.models.loading import load_classifier, load_tokenizer
from darksecrets.core.run import states
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.progress import progress
from darksecrets.core.run.resuming import resuming, write_arrays
from darksecrets.core.stats.crossed import interval_of_mean
from darksecrets.core.stats.resampling import feasible
from darksecrets.paper.finetuning.evaluation import batch_size_for, outputs

SHARES = {
    states.PRETRAINED: (1.0, 0.0),
    states.FINETUNED: (0.0, 0.0),
    states.FROM_NORMAL: (0.0, 1.0),
}
"""Places of the models that span a plane, on its axes."""

Weights = dict[str, float]
"""Of vectors in a sum, by name."""
Steps = Iterator[tuple[int, Mapping[str, "Tensor"]]]
"""Steps of a fine-tuning with what they have added to the pre-trained weights, by parameter."""

_ROWS = "*.npz"

BATCH_SIZE = 16
"""On a CPU in bfloat16, where small batches pay: they have less padding."""


@dataclass(frozen=True)
class Model:
    """One of the models that span a plane.

    Attributes:
        folder: Its folder.
        predictions: What the run has stored of its outputs on the validation split.
    """

    folder: Path
    predictions: Path


@dataclass(frozen=True)
class Losses:
    """Losses of points of the plane, or the line.

    Attributes:
        model: A model whose weights may be changed.
        vectors: Vectors of its shape.
        splits: The examples, by name, in the order of `SPLITS`.
        task: Their task.
        fast: Whether points are computed in bfloat16.
    """

    model: PreTrainedModel
    vectors: planes.Vectors
    splits: Mapping[str, EncodedSplit]
    task: Task
    fast: bool = False

    def measure(self, weights: Weights, *, exact: bool = False) -> Floats:
        """[3, splits] mean losses at a point, and their intervals, in float32 if `exact`."""
        self.put(weights)
        return self.losses_of_outputs(self.outputs(exact=exact))

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

    def losses_of_outputs(self, found: Mapping[str, Logits]) -> Floats:
        """[3, splits] mean losses, and both ends of their intervals over examples.

        Raises:
            InputError: A loss is not finite.
        """
        columns = []
        for name, logits in found.items():
            example_losses = losses(self.task, logits, self.splits[name].labels)
            if not np.isfinite(example_losses).all():
                raise InputError(
                    f"{self.task.name}: a loss on the {name} examples is not finite, so the "
                    "surface cannot be drawn. A model has diverged: train it again."
                )
            ends = feasible(interval_of_mean(example_losses), 0, np.inf)
            columns.append((example_losses.mean(), *ends))
        return np.array(columns).T


def measure(
    models: Mapping[str, Model],
    dataset: Path,
    of: Finetuned,
    settings: Settings,
    output: Path,
    *,
    snapshots: Path | None = None,
    threads: int,
    in_precision: str = "auto",
) -> tuple[Surface, dict[str, Any]]:
    """Compute the losses on plane and line; finished rows are kept beside the output until then.

    Args:
        models: The models that span the plane, by `CORNERS`.
        dataset: The task's data, see the data contract.
        of: The fine-tuned model.
        settings: Points of an axis, and numbers of examples.
        output: The file that is made from the result.
        snapshots: Weights on the way of the fine-tuning, if they were kept.
        threads: Number of CPU threads.
        in_precision: One of `darksecrets.core.models.precision.PRECISIONS`.

    Returns:
        The surface; and for the record, the precision, its errors, and the time.

    Raises:
        InputError: The models differ in shape, span no plane, or are not those of the stored
            outputs; or a loss is not finite.
    """
    torch.set_num_threads(threads)
    tokenizer = load_tokenizer(models[states.FINETUNED].folder)
    splits = {name: of.examples(dataset, name, tokenizer, settings.examples) for name in SPLITS}
    for split in splits.values():
        check_labels(split.labels, of.task, str(dataset))
    identity = {
        "axes": [[x.tolist(), y.tolist()] for x, y in axes_of(settings.grid).values()],
        "columns": declared.LOSS_SURFACES.names,
        "task": of.task.name,
        "seed": of.seed,
        "sample": of.sample,
        "models": {name: fingerprint(model.folder) for name, model in models.items()},
        "snapshots": fingerprint(snapshots) if snapshots else None,
        "data": [split.fingerprint() for split in splits.values()],
        "precision": precision.resolve(in_precision),
        "device": devices.best().type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    with resuming(output, identity, _ROWS) as folder:
        vectors = planes.Vectors()
        model, steps = _load(models, of, vectors, snapshots)
        fast = identity["precision"] == "bfloat16"
        losses_at = Losses(model, vectors, splits, of.task, fast=fast)
        name = f"{of.task.name}, seed {of.seed}"
        frame = planes.frame_of(
            vectors,
            (states.PRETRAINED, states.FROM_NORMAL),
            states.FINETUNED,
            f"{name}: three models",
        )
        corners, rounding = _corners(losses_at, models, frame)
        grids, checked = _survey(losses_at, settings.grid, folder, corners)
        surface = Surface(grids, corners, _path(losses_at, frame, steps), checked)
        surface.save(output)
    return surface, {
        "precision": identity["precision"],
        "relative_error": surface.rounding,
        "rounding_of_models": rounding,
    }


def _load(
    models: Mapping[str, Model], of: Finetuned, vectors: planes.Vectors, snapshots: Path | None
) -> tuple[PreTrainedModel, Steps]:
    """Keep all models as vectors; the last of them is given the weights of points."""
    steps: Steps = iter(())
    for name in declared.CORNERS:
        model, _ = load_classifier(models[name].folder, of.task, of.seed)
        vectors.keep(name, model)
        if name == states.PRETRAINED and snapshots:
            kept = Snapshots(snapshots)
            kept.check(model, task=of.task.name, state=states.FINETUNED, seed=of.seed)
            steps = kept.read()
    return devices.place(model), steps


def _corners(
    losses_at: Losses, models: Mapping[str, Model], frame: planes.Frame
) -> tuple[Points, dict[str, float]]:
    """The models that span the plane, and how far their outputs are from those stored.

    On validation examples, their losses are those of the stored outputs.
    """
    found, rounding = [], {}
    for name in declared.CORNERS:
        losses_at.put({name: 1.0})
        split_outputs = losses_at.outputs(exact=True)
        file, idx = models[name].predictions, losses_at.splits[VALIDATION].idx
        stored = read_stored(file, losses_at.task, idx)
        rounding[name] = rounding_of(split_outputs[VALIDATION], stored, file)
        found.append(losses_at.losses_of_outputs({**split_outputs, VALIDATION: stored}))
    shares = np.array([SHARES[name] for name in declared.CORNERS])
    means, *ends = np.stack(found, axis=-1)
    nothing, count = np.zeros(len(declared.CORNERS)), len(declared.CORNERS)
    points = Points(
        *(np.full(count, -1), shares, frame.distances(shares), nothing), means, np.stack(ends)
    )
    return points, rounding


def _path(losses_at: Losses, frame: planes.Frame, steps: Steps) -> Points:
    """The path of the training, with losses of its models."""
    found = []
    for step, changes in steps:
        share, beside = planes.project(losses_at.vectors, frame, changes)
        planes.put_changed(losses_at.vectors, losses_at.model, changes)
        found.append((step, share, beside, losses_at.losses_of_outputs(losses_at.outputs())))
    shares = np.array([share for _, share, _, _ in found]).reshape(-1, 2)
    means, *ends = np.array([of for *_, of in found]).reshape(-1, 3, len(SPLITS)).transpose(1, 2, 0)
    return Points(
        np.array([step for step, *_ in found], dtype=np.int64),
        shares,
        frame.distances(shares),
        np.array([beside for _, _, beside, _ in found], dtype=np.float64),
        means,
        np.stack(ends),
    )


def _survey(
    losses_at: Losses, points: int, folder: Path, corners: Points
) -> tuple[dict[str, Grid], Floats]:
    """Losses on all grids, and those that were checked in float32; finished rows are read."""
    grids, checked = {}, [*_checked_corners(losses_at, corners)]
    axes = axes_of(points)
    nodes = sum(len(x) * len(y) for x, y in axes.values())
    with progress(f"Loss surface, {losses_at.task.name}", nodes, "points") as advance:
        for plane, (x, y) in axes.items():
            rows = []
            for row, place in enumerate(y):
                file = folder / f"{plane}-{row + 1}.npz"
                if not file.is_file():
                    row_weights = [weights_of(plane, each, place) for each in x]
                    found = [_measure_point(losses_at, point, corners) for point in row_weights]
                    write_arrays({"losses": np.array(found)}, file)
                rows.append(read_arrays(file, "losses")["losses"])
                advance(len(x))
            means, *ends = np.array(rows).transpose(2, 3, 0, 1)
            grids[plane] = Grid(x, y, means, np.stack(ends))
            checked += _checked_ends(losses_at, plane, grids[plane])
    return grids, np.stack(checked, axis=1)


def _measure_point(losses_at: Losses, weights: Weights, corners: Points) -> Floats:
    """[3, splits] losses at a point, with their intervals; of a corner, its own."""
    used = {name: weight for name, weight in weights.items() if weight != 0}
    for place, name in enumerate(declared.CORNERS):
        if used == {name: 1.0}:
            return np.stack([corners.losses[:, place], *corners.ends[..., place]])
    return losses_at.measure(weights)


def _checked_corners(losses_at: Losses, corners: Points) -> Iterator[Floats]:
    """[splits, 2] losses of every corner as other points are computed, and its own."""
    for place, name in enumerate(declared.CORNERS):
        exact = corners.losses[:, place]
        given = losses_at.measure({name: 1.0})[0] if losses_at.fast else exact
        yield np.stack([given, exact], axis=-1)


def _checked_ends(losses_at: Losses, plane: str, grid: Grid) -> Iterator[Floats]:
    """[splits, 2] losses of every end of a grid, and the same in float32."""
    for row in sorted({0, len(grid.y) - 1}):
        for column in (0, len(grid.x) - 1):
            given = exact = grid.losses[:, row, column]
            if losses_at.fast:
                weights = weights_of(plane, grid.x[column], grid.y[row])
                exact = losses_at.measure(weights, exact=True)[0]
            yield np.stack([given, exact], axis=-1)


def axes_of(points: int) -> dict[str, tuple[Floats, Floats]]:
    """Places of the columns and rows of every grid, given the points of an axis."""
    shares = spaced_shares(points)
    return {declared.MODELS: (shares, shares), declared.LINE: (along(points), np.zeros(1))}


def weights_of(plane: str, x: float, y: float) -> Weights:
    """Weights of the vectors at a point of a plane."""
    if plane == declared.MODELS:
        return {
            states.FINETUNED: float(1 - x - y),
            states.PRETRAINED: float(x),
            states.FROM_NORMAL: float(y),
        }
    return {states.PRETRAINED: float(1 - x), states.FINETUNED: float(x)}
