"""The fine-tunings of a grid: predictions and scores of each initialization and data order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from darksecrets.arrays import Floats, Integers, Values
from darksecrets.data.metrics import METRICS, PERCENT
from darksecrets.data.tasks import Task
from darksecrets.finetuning.tables import LEARNING_CURVES, predictions
from darksecrets.run.errors import InputError


@dataclass(frozen=True)
class Grid:
    """What the fine-tunings of one task gave.

    Attributes:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        labels: [examples].
        predictions: [runs, examples]; for each initialization all data orders.
        scores: By metric, [initializations, orders, epochs] scores on all examples, × 100.
    """

    task: Task
    inits: Sequence[int]
    orders: Sequence[int]
    labels: Values
    predictions: Values
    scores: Mapping[str, Floats]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of initializations and data orders."""
        return len(self.inits), len(self.orders)

    def final(self, metric: str) -> Floats:
        """[initializations, orders] scores of the final models."""
        return self.scores[metric][..., -1]

    def on_halves(self, metric: str, halves: Integers) -> tuple[Floats, Floats]:
        """[splits, runs] final scores on both halves of the examples, × 100.

        Args:
            metric: The metric.
            halves: [splits, examples] 0 or 1.
        """
        score = METRICS[metric].weighted(self.predictions, self.labels)
        return PERCENT * score(halves), PERCENT * score(1 - halves)


def read(
    task: Task, inits: Sequence[int], orders: Sequence[int], files: Sequence[tuple[Path, Path]]
) -> Grid:
    """Read the predictions and learning curves of all fine-tunings.

    Args:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        files: Predictions and curve of each run, in the order of `predictions` above.

    Raises:
        InputError: Runs are of different examples or different numbers of epochs.
    """
    declared = predictions(task.num_labels)
    parts = [declared.read(path, ["idx", "label", "prediction"]) for path, _ in files]
    kind = np.float64 if task.is_regression else np.int64
    for part, (path, _) in zip(parts, files, strict=True):
        if part["idx"].tolist() != parts[0]["idx"].tolist():
            raise InputError(
                f"{path}: found predictions of other examples than in {files[0][0]}; expected "
                "those of one validation split. Remove both and run again."
            )
    curves = [_curve(path, task) for _, path in files]
    if len({curve.shape for curve in curves}) > 1:
        found = ", ".join(sorted({str(curve.shape[-1]) for curve in curves}))
        raise InputError(
            f"{task.name}: found learning curves of {found} epochs, expected the same number for "
            "all seeds. Remove the folder seed_grid of the run, and run again."
        )
    scores = np.stack(curves).reshape(len(inits), len(orders), *curves[0].shape)
    return Grid(
        task,
        inits,
        orders,
        labels=parts[0]["label"].to_numpy(dtype=kind),
        predictions=np.stack([part["prediction"].to_numpy(dtype=kind) for part in parts]),
        scores={metric: scores[:, :, number] for number, metric in enumerate(task.metrics)},
    )


def _curve(path: Path, task: Task) -> Floats:
    """[metrics, epochs] scores on the validation split."""
    table = LEARNING_CURVES.read(path)
    rows = table[table["split"] == "validation"].sort_values("epoch")
    return np.stack(
        [rows.loc[rows["quantity"] == name, "value"].to_numpy(np.float64) for name in task.metrics]
    )
