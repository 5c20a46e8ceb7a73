"""What the fine-tunings of a grid gave: predictions, and scores during training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.comparison import require_same_examples
from darksecrets.paper.finetuning.tables import (
    BASELINE_PREDICTIONS,
    LEARNING_CURVES,
    predictions,
)


@dataclass(frozen=True)
class Grid:
    """What the fine-tunings of one task gave.

    Attributes:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        predictions: [runs, examples]; for each initialization all data orders.
        scores: By metric, [initializations, orders, epochs] scores on all examples, × 100.
    """

    task: Task
    inits: Sequence[int]
    orders: Sequence[int]
    labels: Values
    units: Integers
    predictions: Values
    scores: Mapping[str, Floats]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of initializations and data orders."""
        return len(self.inits), len(self.orders)

    def final(self, metric: str) -> Floats:
        """[initializations, orders] scores of the final models."""
        return self.scores[metric][..., -1]

    def score_halves(self, metric: str, sides: Integers) -> tuple[Floats, Floats]:
        """[splits, runs] final scores on both halves of the examples, × 100.

        Args:
            metric: The metric.
            sides: [splits, examples] 1 for one half, 0 for the other.
        """
        score = METRICS[metric].weighted(self.predictions, self.labels)
        return PERCENT * score(sides), PERCENT * score(1 - sides)


def read(
    task: Task,
    inits: Sequence[int],
    orders: Sequence[int],
    files: Sequence[tuple[Path, Path]],
    baselines: Path,
) -> Grid:
    """Read the predictions and learning curves of all fine-tunings.

    Args:
        task: The task, with the metrics to score.
        inits: Seeds of the initialization.
        orders: Seeds of the data order.
        files: Predictions and curve of each run, in the order of `predictions` above.
        baselines: Table `BASELINE_PREDICTIONS`, which numbers the texts of the examples.

    Raises:
        InputError: Runs are of different examples or different numbers of epochs.
    """
    declared = predictions(task.num_labels)
    parts = [declared.read(path, ["idx", "label", "prediction"]) for path, _ in files]
    texts = BASELINE_PREDICTIONS.read(baselines).drop_duplicates("idx")
    by_path = {str(path): part for (path, _), part in zip(files, parts, strict=True)}
    first = require_same_examples({**by_path, str(baselines): texts})
    kind = np.float64 if task.is_regression else np.int64
    curves = [_curve(path, task) for _, path in files]
    if len({curve.shape for curve in curves}) > 1:
        found = ", ".join(sorted({str(curve.shape[-1]) for curve in curves}))
        raise InputError(
            f"{task.name}: the learning curves of the seeds have different numbers of epochs "
            f"({found}). Remove the folder seed_grid of the run, and run again."
        )
    scores = np.stack(curves).reshape(len(inits), len(orders), *curves[0].shape)
    return Grid(
        task,
        inits,
        orders,
        labels=first["label"].to_numpy(dtype=kind),
        units=texts["text"].to_numpy(),
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
