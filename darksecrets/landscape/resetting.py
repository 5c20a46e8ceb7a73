"""Run a fine-tuned model with weights of the one that it was made from (Hao et al. 2019)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from darksecrets.ablation.sweep import check_labels
from darksecrets.arrays import Integers
from darksecrets.data.batches import EncodedSplit
from darksecrets.data.tasks import Task
from darksecrets.finetuning.tables import predictions
from darksecrets.landscape.finetuned import Finetuned
from darksecrets.landscape.results import Logits, Reset
from darksecrets.landscape.running import heads_of, run
from darksecrets.landscape.settings import Settings
from darksecrets.landscape.swaps import interpolated, interpolations, swaps
from darksecrets.landscape.tables import SWAPS
from darksecrets.models import devices
from darksecrets.models.hooks import shape_of
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.mixing import END, Mixture, whole
from darksecrets.models.starting import Start, load_start
from darksecrets.run.errors import InputError

_ROUNDING = 1e-3  # of outputs in float32, which other batches or another CPU may change


def reset(
    pretrained: Path,
    finetuned: Path,
    stored: Path,
    dataset: Path,
    model: Finetuned,
    start: Start,
    settings: Settings,
    *,
    threads: int,
) -> tuple[Reset, dict[str, Any]]:
    """Exchange weights of layers and heads, one set after the other, and interpolate.

    Args:
        pretrained: The pre-trained encoder.
        finetuned: The model that was made from it, or from random weights.
        stored: The predictions of this model that its run has stored: with nothing reset, the
            outputs are these, bit for bit.
        dataset: The task's data, see the data contract.
        model: Which model it is.
        start: What its fine-tuning began with.
        settings: Points between both models, and numbers of examples.
        threads: Number of CPU threads.

    Returns:
        The outputs; and for the provenance, how many models were run, and in how many seconds.

    Raises:
        InputError: One model was not made from the other, its layers share their weights, or an
            output is not finite.
    """
    begun = time.perf_counter()
    torch.set_num_threads(threads)
    tokenizer, task = load_tokenizer(finetuned), model.task
    validation = model.examples(dataset, "validation", tokenizer, settings.examples)
    check_labels(validation.labels, task, str(dataset))
    train = model.examples(dataset, "train", tokenizer, settings.training)
    started, _ = load_start(pretrained, task, start)
    ended, _ = load_classifier(finetuned, task, model.seed)
    mixture = Mixture(devices.place(started), devices.place(ended))
    outputs = outputs_of(mixture, validation, train, task, settings.points)
    outputs, rounding = with_stored(outputs, read_stored(stored, task, outputs.idx), stored)
    return outputs, {
        "rounding": rounding,
        "models": len(outputs.swaps) + int(np.prod(outputs.heads.shape[:2])),
        "heads": int(np.prod(outputs.heads.shape[:2])),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def read_stored(file: Path, task: Task, idx: Integers) -> Logits:
    """[examples, outputs] that a run has stored of a model; NaN for examples that it lacks."""
    table = predictions(task.num_labels).read(file).set_index("idx")
    outputs = table[[f"logit_{number}" for number in range(task.num_labels)]]
    return outputs.reindex(idx).to_numpy(dtype=np.float32)


def with_stored(found: Reset, outputs: Logits, file: Path) -> tuple[Reset, float]:
    """Take the stored outputs for those of the fine-tuned model, wherever it is run as it is.

    Returns:
        The result, and how far the outputs computed here are from those stored, at most.

    Raises:
        InputError: They differ by more than rounding: the model is of another run.
    """
    rounding = rounding_of(found.finetuned, outputs, file)
    arrays = {}
    for name in ("swapped", "heads", "validation"):
        of_sets = getattr(found, name).copy()
        unchanged = (of_sets == found.finetuned).all(axis=(-2, -1))
        of_sets[unchanged] = outputs
        arrays[name] = of_sets
    arrays["validation"][:, -1] = outputs
    return dataclasses.replace(found, finetuned=outputs, **arrays), rounding


def rounding_of(found: Logits, outputs: Logits, file: Path) -> float:
    """How far a model's outputs are from those that a run has stored of it, at most.

    Args:
        found: [examples, outputs] computed here.
        outputs: [examples, outputs] stored.
        file: Where they are stored.

    Raises:
        InputError: They differ by more than rounding: the model is of another run.
    """
    rounding = float(np.abs(outputs - found).max())
    if not rounding <= _ROUNDING * max(1.0, float(np.abs(outputs).max())):  # so that NaN is wrong
        raise InputError(
            f"{file}: found outputs that differ by {rounding:.2g} from those of the model, "
            "expected the same up to rounding. Model, data and predictions must be of one "
            "run: make the predictions again."
        )
    return rounding


def outputs_of(
    mixture: Mixture,
    validation: EncodedSplit,
    train: EncodedSplit,
    task: Task,
    points: Sequence[float],
) -> Reset:
    """All outputs of two models; see `reset`.

    Args:
        mixture: The models.
        validation: Examples to score.
        train: Examples for losses.
        task: Their task.
        points: Shares of the fine-tuned weights in the interpolations, ascending, from 0 to 1.
    """
    layers = mixture.layers
    exchanged, heads = swaps(layers), heads_of(mixture.end)
    mixes = [whole(layers, END), *(swap.mix(layers) for swap in exchanged)]
    parts = interpolations(layers)
    between = [interpolated(*part, share, layers) for part in parts for share in points]
    found = run(
        *(mixture, validation, [*mixes, *between], heads),
        predicted=not task.is_regression,
        description=f"Resetting layers, {task.name}",
    )
    of_train = run(mixture, train, between, description="Interpolating, training examples")
    shape = shape_of(mixture.end)
    size = (shape.layers, shape.heads) if heads else (0, 0)
    changes = np.array([mixture.change_of_head(*head) for head in heads], dtype=np.float64)
    of_swaps, of_curves, of_heads = np.split(found[1:], np.cumsum([len(exchanged), len(between)]))
    described = [
        (swap.direction, swap.kind, swap.first, swap.last, mixture.change(swap.places))
        for swap in exchanged
    ]
    return Reset(
        swaps=pd.DataFrame(described, columns=list(SWAPS.names)),
        finetuned=found[0],
        swapped=of_swaps,
        heads=of_heads.reshape(*size, *found.shape[1:]),
        head_changes=changes.reshape(size),
        idx=validation.idx,
        labels=validation.labels,
        train_labels=train.labels,
        points=np.array(points, dtype=np.float64),
        validation=of_curves.reshape(len(parts), len(points), *found.shape[1:]),
        train=of_train.reshape(len(parts), len(points), *of_train.shape[1:]),
    )
