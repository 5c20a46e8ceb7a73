"""Scores of the pre-trained encoder, with an untrained and with a trained classifier (Table 1).

The second state, `frozen`, is beyond the paper. What it scores, the pre-trained encoder knows
already; what fine-tuning scores beyond that, it taught the encoder. Data, epochs, batch size,
warm-up and weight decay are those of fine-tuning.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from darksecrets.core.data import metrics
from darksecrets.core.data.batches import load_split
from darksecrets.core.models import devices
from darksecrets.core.models.frozen import FrozenEncoder
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.losses import LabelScale, loss
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import FROZEN, PRETRAINED
from darksecrets.paper.finetuning.evaluation import batch_size_for, write_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from darksecrets.core.data.tasks import Task


@dataclass(frozen=True)
class Settings:
    """Training of the classifier, with the keys of section ``fine_tuning`` of a configuration.

    Attributes:
        epochs: Passes over the training examples.
        batch_size: Examples per update.
        frozen_learning_rate: Peak learning rate.
        warmup: Share of the updates in which the learning rate rises.
        weight_decay: Weight decay of matrices.
    """

    epochs: int = 3
    batch_size: int = 32
    frozen_learning_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01


def evaluate_pretrained(
    model_folder: Path,
    dataset_folder: Path,
    *,
    task: Task,
    seeds: Sequence[int],
    settings: Settings,
    max_length: int,
    threads: int,
    scores: Mapping[str, Path],
    predictions: Mapping[str, Path],
) -> dict[str, Any]:
    """Score the pre-trained encoder with a random classifier, then train the classifier alone.

    What the encoder computes is the same for all seeds, and computed once. A random regression head
    and its mirror image are equally likely, so the sign of its output is arbitrary. The sign is set
    by the training split: outputs correlate positively with its labels.

    Args:
        model_folder: The pre-trained checkpoint.
        dataset_folder: A data set on disk, see the data contract.
        task: The data set's task.
        seeds: Seeds of the classifier, those that fine-tuning with this seed begins with, and of
            the order of the training examples.
        settings: Settings of the training.
        max_length: Longest sequence kept, in tokens.
        threads: Number of CPU threads.
        scores: Folders for the scores of `PRETRAINED` and `FROZEN`, a file ``seed-<n>.csv`` for
            every seed, see `evaluation.write_results`.
        predictions: Folders for the predictions, likewise.

    Returns:
        For the record: the settings, which parameters were randomly initialized and trained;
        and by seed, the scores, and the sign of an untrained regression's output.

    Raises:
        InputError: Training diverges, or an input cannot be used.
    """
    torch.set_num_threads(threads)
    tokenizer = load_tokenizer(model_folder)
    train, validation = (
        load_split(dataset_folder, split, tokenizer, task, max_length)
        for split in ("train", "validation")
    )
    scale = LabelScale.fit(task, train.labels)
    features: list[torch.Tensor] = []
    details: dict[str, Any] = {}
    values: dict[int, dict[str, Any]] = {}
    for seed in seeds:
        model, new = load_classifier(model_folder, task, seed)
        model = devices.place(model)
        frozen = FrozenEncoder(model, new)
        if not features:
            batch_size = batch_size_for(model, train)
            features = [
                frozen.features(split, batch_size, f"Reading {task.name}")
                for split in (train, validation)
            ]
            details = {"new_parameters": new, "device": str(model.device)}
            details["scoring_batch_size"] = batch_size
        train_features, validation_features = features
        signs = {PRETRAINED: 1.0, FROZEN: 1.0}
        if task.is_regression:
            signs[PRETRAINED] = sign(_predict(frozen, train_features), train.labels)
        values[seed] = {"sign": signs[PRETRAINED], "scores": {}}
        for state in (PRETRAINED, FROZEN):
            if state == FROZEN:
                labels = scale.standardize(train.labels)
                fit(frozen, train_features, labels, task, seed, settings)
            made = np.float32(signs[state]) * _predict(frozen, validation_features)
            logits = scale.restore(made)
            files = {
                name: folders[state] / f"seed-{seed}.csv"
                for name, folders in (("scores", scores), ("predictions", predictions))
            }
            values[seed]["scores"][state] = write_results(
                logits, validation, task, state, seed, **files
            )
    return {
        **asdict(settings),
        **details,
        "train_examples": len(train),
        "validation_examples": len(validation),
        "seeds": values,
    }


def fit(
    frozen: FrozenEncoder,
    features: torch.Tensor,
    labels: NDArray[np.generic],
    task: Task,
    seed: int,
    settings: Settings,
) -> None:
    """Train the newly drawn parameters with AdamW, linear warm-up and decay, and clipped gradients.

    Args:
        frozen: The classifier, which is changed.
        features: [examples, width] of the training split.
        labels: [examples].
        task: Determines the loss.
        seed: Seed of the order of the examples.
        settings: Settings of the training.

    Raises:
        InputError: Training diverges.
    """
    from transformers import get_linear_schedule_with_warmup

    targets = torch.from_numpy(labels).to(features.device)
    steps = settings.epochs * math.ceil(len(targets) / settings.batch_size)
    weights = list(frozen.trained.values())
    groups = [
        {"params": [p for p in weights if p.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in weights if p.dim() <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=settings.frozen_learning_rate)
    warmup = math.ceil(steps * settings.warmup)
    schedule = get_linear_schedule_with_warmup(optimizer, warmup, steps)  # type: ignore[no-untyped-call]
    for epoch in range(settings.epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(targets))
        for start in range(0, len(order), settings.batch_size):
            rows = torch.from_numpy(order[start : start + settings.batch_size])
            value = loss(task, frozen.logits(features[rows]), targets[rows])
            if not math.isfinite(value.item()):
                raise InputError(
                    f"{task.name}, {FROZEN}, seed {seed}: training diverged, the loss is "
                    f"{value.item()} at a peak learning rate of {settings.frozen_learning_rate:g}; "
                    "expected a finite number. Check the weights of the model and the data."
                )
            optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            schedule.step()


def sign(outputs: NDArray[np.float32], labels: NDArray[np.generic]) -> float:
    """Sign that makes a regression's outputs, [examples, 1], correlate positively with labels."""
    return -1.0 if metrics.pearson(outputs[:, 0], labels) < 0 else 1.0


def _predict(frozen: FrozenEncoder, features: torch.Tensor) -> NDArray[np.float32]:
    with torch.no_grad():
        logits: NDArray[np.float32] = frozen.logits(features).cpu().numpy()
    return logits
