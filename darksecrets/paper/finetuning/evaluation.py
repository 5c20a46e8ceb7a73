"""Scores of a model on the validation split of its task (section 3, Table 1)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.models import devices
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.correlation import is_constant
from darksecrets.paper.finetuning import tables

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

    from darksecrets.core.data.tasks import Task

BATCH_SIZE = 64  # on a CPU

_log = logging.getLogger(__name__)


def batch_size_for(model: PreTrainedModel, split: EncodedSplit) -> int:
    """Batch size for scoring the examples of a split, on the model's device."""
    size = devices.sequence_bytes(model.config, int(split.lengths.max()))
    return devices.batch_size(model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)


def evaluate(
    model: PreTrainedModel,
    split: EncodedSplit,
    description: str = "Scoring",
    batch_size: int | None = None,
) -> NDArray[np.float32]:
    """Compute the logits of all examples, in float32, on the model's device.

    Args:
        model: A classifier; its mode (training or evaluation) is restored afterwards.
        split: The examples.
        description: Text of the progress bar.
        batch_size: Examples per batch, `batch_size_for` if None; it changes logits by rounding
            only.

    Returns:
        [examples, outputs], in the order of the split.
    """
    batch_size = batch_size or batch_size_for(model, split)
    _log.info("%s: batch size %d, on %s", description, batch_size, model.device)
    with progress(description, len(split), "examples") as advance:
        return outputs(model, split, batch_size, advance)


def outputs(
    model: PreTrainedModel,
    split: EncodedSplit,
    batch_size: int,
    advance: Callable[[int], object] = lambda _: None,
) -> NDArray[np.float32]:
    """The same as `evaluate`, without a log.

    Args:
        model: A classifier.
        split: The examples.
        batch_size: Examples per batch.
        advance: Called with the number of examples after each batch.
    """
    rows_done: list[int] = []
    found: list[NDArray[np.float32]] = []
    was_training = model.training
    model.train(False)
    with torch.inference_mode():
        for rows in batches_by_length(split.lengths, batch_size):
            batch = devices.move(split.batch(rows), model.device)
            del batch["labels"]
            found.append(model(**batch).logits.float().cpu().numpy())
            rows_done += rows
            advance(len(rows))
    model.train(was_training)
    return np.concatenate(found)[np.argsort(rows_done)]


def write_results(
    logits: NDArray[np.float32],
    split: EncodedSplit,
    task: Task,
    state: str,
    seed: int,
    *,
    scores: Path,
    predictions: Path,
) -> dict[str, float]:
    """Write the scores and the predictions that they were computed from.

    ``scores`` has rows of `tables.SCORES`, ``predictions`` the columns of `tables.predictions`. For
    regression, the prediction is the single logit.

    Returns:
        The scores by name, not multiplied by 100.
    """
    values = metrics.compute(task, logits, split.labels)
    run = {"task": task.name, "state": state, "seed": seed}
    predicted = metrics.predict(task, logits)
    constant = bool(is_constant(predicted))
    rows = [
        {**run, "metric": name, "score": 100 * value, "constant": constant}
        for name, value in values.items()
    ]
    tables.SCORES.write(pd.DataFrame(rows), scores)
    columns = {"idx": split.idx, "label": split.labels, "prediction": predicted}
    columns |= {f"logit_{k}": column for k, column in enumerate(logits.T)}
    tables.predictions(logits.shape[1]).write(pd.DataFrame({**run, **columns}), predictions)
    shown = ", ".join(f"{name} {100 * value:.1f}" for name, value in values.items())
    _log.info("%s, %s, seed %d: %s", task.name, state, seed, shown)
    return values
