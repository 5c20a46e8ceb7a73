"""Losses on a plane and a line through a fine-tuned model's weights (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import (
    CORNERS,
    LINE,
    LOSS_SURFACES,
    MODELS,
    SPLITS,
    TRAIN,
    Surface,
)
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.results import losses
from darksecrets.core.arrays import Floats
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.sweep import check_labels
from darksecrets.core.models import devices
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run import states
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.progress import progress
from darksecrets.core.run.resuming import finish, resuming
from darksecrets.core.stats.crossed import interval_of_mean
from darksecrets.core.stats.resampling import feasible
from darksecrets.paper.finetuning.evaluation import batch_size_for, outputs


@dataclass(frozen=True)
class Row:
    """Points with one place on the second axis.

    Attributes:
        plane: `MODELS` or `LINE`.
        number: Number of the row, from 1.
        x: [columns] places on the first axis.
        y: The place on the second axis.
        splits: Whose losses are computed.
    """

    plane: str
    number: int
    x: Floats
    y: float
    splits: Sequence[str]


class Blend:
    """A model whose weights are a weighted sum of those of several models.

    Args:
        folders: The models, of one shape, by name.
        of: Their task and seed.
    """

    def __init__(self, folders: Mapping[str, Path], of: Finetuned) -> None:
        self._weights: dict[str, dict[str, Tensor]] = {}
        for name, folder in folders.items():
            model, _ = load_classifier(folder, of.task, of.seed)
            self._weights[name] = {
                key: each.detach().float().clone() for key, each in model.named_parameters()
            }
        self.model: PreTrainedModel = devices.place(model)

    def put(self, shares: Mapping[str, float]) -> None:
        """Give the model the sum of the models' weights, each times its share."""
        with torch.no_grad():
            for key, parameter in self.model.named_parameters():
                total = torch.zeros(parameter.shape)
                for name, share in shares.items():
                    total.add_(self._weights[name][key], alpha=share)
                parameter.copy_(total)


def measure(
    folders: Mapping[str, Path],
    dataset: Path,
    of: Finetuned,
    settings: Surface,
    output: Path,
    *,
    threads: int,
) -> None:
    """Write `LOSS_SURFACES` of a seed; finished rows of points are kept beside it until then.

    Args:
        folders: The models that span the plane, by `CORNERS`.
        dataset: The task's data, see the data contract.
        of: The fine-tuned model.
        settings: Points of an axis, and numbers of examples.
        output: The table.
        threads: Number of CPU threads.

    Raises:
        InputError: A loss is not finite, or a label is missing.
    """
    torch.set_num_threads(threads)
    tokenizer = load_tokenizer(folders[states.FINETUNED])
    splits = {name: of.examples(dataset, name, tokenizer, settings.examples) for name in SPLITS}
    for split in splits.values():
        check_labels(split.labels, of.task, str(dataset))
    identity = {
        "grid": settings.grid,
        "columns": LOSS_SURFACES.names,
        "task": of.task.name,
        "seed": of.seed,
        "sample": of.sample,
        "models": {name: fingerprint(folder) for name, folder in folders.items()},
        "data": [split.fingerprint() for split in splits.values()],
        "device": devices.best().type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    rows = list(rows_of(settings.grid))
    with resuming(output, identity, "*.csv") as kept:
        files = [kept / f"{row.plane}-{row.number}.csv" for row in rows]
        lacking = [(row, file) for row, file in zip(rows, files, strict=True) if not file.is_file()]
        total = sum(len(row.x) for row in rows)
        done = total - sum(len(row.x) for row, _ in lacking)
        blend = Blend(folders, of)
        with progress(f"Loss surface, {of.task.name}", total, "points", done) as advance:
            for row, file in lacking:
                table = losses_of(row, blend, splits, of.task)
                LOSS_SURFACES.write(table.assign(seed=of.seed), file)
                finish(file)
                advance(len(row.x))
        tables = [LOSS_SURFACES.read(file) for file in files]
        LOSS_SURFACES.write(pd.concat(tables, ignore_index=True), output)


def losses_of(
    row: Row, blend: Blend, splits: Mapping[str, EncodedSplit], task: Task
) -> pd.DataFrame:
    """`LOSS_SURFACES` of a row of points, without the seed.

    Raises:
        InputError: A loss is not finite.
    """
    found = []
    for column, x in enumerate(row.x, start=1):
        blend.put(shares_of(row.plane, x, row.y))
        for name in row.splits:
            loss, low, high = _mean_loss(blend.model, splits[name], task, name)
            about = {"split": name, "column": column, "x": x}
            found.append({**about, "loss": loss, "ci_low": low, "ci_high": high})
    table = pd.DataFrame(found).assign(task=task.name, plane=row.plane, row=row.number, y=row.y)
    return table.reindex(columns=list(LOSS_SURFACES.names))


def _mean_loss(
    model: PreTrainedModel, split: EncodedSplit, task: Task, name: str
) -> tuple[float, float, float]:
    """The mean loss of the examples, and the ends of its interval."""
    logits = outputs(model, split, min(devices.SEQUENCES, batch_size_for(model, split)))
    of_examples = losses(task, logits, split.labels)
    if not np.isfinite(of_examples).all():
        raise InputError(
            f"{task.name}: a loss on the {name} examples is not finite, so the surface cannot be "
            "drawn. A model has diverged: train it again."
        )
    low, high = feasible(interval_of_mean(of_examples), 0, np.inf)
    return float(of_examples.mean()), float(low), float(high)


def rows_of(points: int) -> Iterator[Row]:
    """All rows of the plane and of the line, given the points of an axis of the plane."""
    shares = spaced_shares(points)
    for number, y in enumerate(shares, start=1):
        yield Row(MODELS, number, shares, float(y), (TRAIN,))
    yield Row(LINE, 1, along(points), 0.0, SPLITS)


def shares_of(plane: str, x: float, y: float) -> dict[str, float]:
    """The share of each model's weights at a point; models without a share are left out."""
    pretrained, finetuned, normal = CORNERS
    found = {finetuned: 1 - x - y, pretrained: x, normal: y}
    if plane == LINE:
        found = {pretrained: 1 - x, finetuned: x}
    return {name: float(share) for name, share in found.items() if share != 0}


def spaced_shares(points: int) -> Floats:
    """Evenly spaced shares that include 0 and 1, and go beyond both by about a sixth."""
    beyond = max(1, round((points - 1) / 7))
    inner = points - 1 - 2 * beyond
    return (np.arange(points) - beyond) / inner


def along(points: int) -> Floats:
    """Evenly spaced shares from −0.5 to 1.5; 0 and 1 are among them."""
    half = points - 1
    return (np.arange(2 * half + 1) - half // 2) / half
