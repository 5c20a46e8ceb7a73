"""Run a fine-tuned model with weights of the one that it was made from (Hao et al. 2019)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from darksecrets.ablation.sweep import check_labels
from darksecrets.data.batches import EncodedSplit, load_split
from darksecrets.finetuning.tables import predictions
from darksecrets.landscape.results import Logits, Restored
from darksecrets.landscape.running import heads_of, run
from darksecrets.landscape.swaps import Swap, interpolated, interpolations, swaps
from darksecrets.landscape.tables import SWAPS
from darksecrets.models import devices
from darksecrets.models.hooks import shape_of
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.mixing import END, Mixture, whole
from darksecrets.models.starting import Start, load_start
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from darksecrets.data.tasks import Task


_ROUNDING = 1e-3  # of outputs in float32, which other batches or another CPU may change


@dataclass(frozen=True)
class Settings:
    """What is computed.

    Attributes:
        task: The task.
        state: ``finetuned`` or ``finetuned-from-normal``.
        seed: Seed of the fine-tuning.
        points: Shares of the fine-tuned weights in the interpolations, ascending, from 0 to 1.
        examples: Validation examples to score, at most; None for all.
        training: Training examples that losses are measured on; all if there are fewer.
        sample: Seed of the choice of examples.
        max_length: Longest sequence kept, in tokens.
        std: Standard deviation of the normal distribution that ``finetuned-from-normal`` began in.
        init_seed: Seed of what fine-tuning drew; None for that of the fine-tuning.
        reinitialized_layers: How many of the top layers fine-tuning drew again.
    """

    task: Task
    state: str
    seed: int
    points: Sequence[float]
    examples: int | None
    training: int
    sample: int
    max_length: int
    std: float
    init_seed: int | None = None
    reinitialized_layers: int = 0

    @property
    def start(self) -> Start:
        """What the fine-tuning began with."""
        return Start.of(
            self.state,
            self.seed,
            std=self.std,
            init_seed=self.init_seed,
            layers=self.reinitialized_layers,
        )


def restore(
    pretrained: Path,
    finetuned: Path,
    stored: Path,
    dataset: Path,
    settings: Settings,
    *,
    threads: int,
) -> tuple[Restored, dict[str, Any]]:
    """Exchange weights of layers and heads, one set after the other, and interpolate.

    Args:
        pretrained: The pre-trained encoder.
        finetuned: The model that was made from it, or from random weights.
        stored: The predictions of this model that its run has stored: with nothing restored, the
            outputs are these, bit for bit.
        dataset: The task's data, see the data contract.
        settings: What to compute.
        threads: Number of CPU threads.

    Returns:
        The outputs; and for the provenance, how many models were run, and in how many seconds.

    Raises:
        InputError: One model was not made from the other, its layers share their weights, or an
            output is not finite.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    tokenizer, task = load_tokenizer(finetuned), settings.task
    train, validation = (
        load_split(dataset, split, tokenizer, task, settings.max_length)
        for split in ("train", "validation")
    )
    validation = sample(validation, settings.examples, settings.sample)
    check_labels(validation.labels, task, str(dataset))
    mixture = load_mixture(pretrained, finetuned, settings)
    train = sample(train, settings.training, settings.sample)
    outputs = restored(mixture, validation, train, settings)
    outputs, rounding = with_stored(outputs, read_stored(stored, task, outputs.idx), stored)
    return outputs, {
        "rounding": rounding,
        "models": len(outputs.swaps) + int(np.prod(outputs.heads.shape[:2])),
        "heads": int(np.prod(outputs.heads.shape[:2])),
        "seconds": round(time.perf_counter() - start, 1),
    }


def read_stored(file: Path, task: Task, idx: npt.NDArray[np.int64]) -> Logits:
    """[examples, outputs] that a run has stored of a model; NaN for examples that it lacks."""
    table = predictions(task.num_labels).read(file).set_index("idx")
    outputs = table[[f"logit_{number}" for number in range(task.num_labels)]]
    return outputs.reindex(idx).to_numpy(dtype=np.float32)


def with_stored(found: Restored, outputs: Logits, file: Path) -> tuple[Restored, float]:
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
            "run: run again what made the predictions."
        )
    return rounding


def load_mixture(pretrained: Path, finetuned: Path, settings: Settings) -> Mixture:
    """Load what a fine-tuning began with, its classifier included, and what it made.

    Raises:
        InputError: See `restore`.
    """
    started, _ = load_start(pretrained, settings.task, settings.start)
    ended, _ = load_classifier(finetuned, settings.task, settings.seed)
    return Mixture(devices.place(started), devices.place(ended))


def restored(
    mixture: Mixture, validation: EncodedSplit, train: EncodedSplit, settings: Settings
) -> Restored:
    """All outputs of two models; see `restore`.

    Args:
        mixture: The models.
        validation: Examples to score.
        train: Examples for losses.
        settings: What to compute.
    """
    layers, points = mixture.layers, settings.points
    exchanged, heads = swaps(layers), heads_of(mixture.end)
    mixes = [whole(layers, END), *(swap.mix(layers) for swap in exchanged)]
    parts = interpolations(layers)
    between = [interpolated(*part, share, layers) for part in parts for share in points]
    found = run(
        *(mixture, validation, [*mixes, *between], heads),
        predicted=not settings.task.is_regression,
        description=f"Restoring layers, {settings.task.name}",
    )
    of_train = run(mixture, train, between, description="Interpolating, training examples")
    shape = shape_of(mixture.end)
    size = (shape.layers, shape.heads) if heads else (0, 0)
    changes = np.array([mixture.change_of_head(*head) for head in heads], dtype=np.float64)
    of_swaps, of_curves, of_heads = np.split(found[1:], np.cumsum([len(exchanged), len(between)]))
    return Restored(
        swaps=_described(exchanged, mixture),
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


def sample(split: EncodedSplit, size: int | None, seed: int) -> EncodedSplit:
    """A random sample of a split, in its order; all of it if it has no more, or without a size."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(split))[:size])
    slices = [slice(split.starts[row], split.starts[row + 1]) for row in rows]
    return dataclasses.replace(
        split,
        idx=split.idx[rows],
        labels=split.labels[rows],
        starts=np.cumsum([0, *split.lengths[rows]]),
        inputs={
            name: np.concatenate([flat[tokens] for tokens in slices])
            for name, flat in split.inputs.items()
        },
    )


def _described(exchanged: Sequence[Swap], mixture: Mixture) -> pd.DataFrame:
    """Rows of `SWAPS`."""
    rows = [
        (swap.direction, swap.kind, swap.first, swap.last, mixture.change(swap.places))
        for swap in exchanged
    ]
    return pd.DataFrame(rows, columns=list(SWAPS.names))
