"""The sweep of section 4.6: a model's predictions with every head, and every layer, disabled.

Predictions are those of running the model once per set of disabled heads, in float32. The examples
are split into blocks, so that a killed job continues with the next block. The heads of a set are
disabled with an `Intervention` from `core.interventions.disable.INTERVENTIONS`. One of two
backends computes it: `Shared`, if it supports model and intervention, or else `Loop`.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import transformers

from darksecrets.core.arrays import Values
from darksecrets.core.data.batches import batches_by_length, load_split
from darksecrets.core.data.metrics import predict
from darksecrets.core.interventions.backends import Backend, Loop
from darksecrets.core.interventions.disable import UNIFORM, check_mode
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sets import HeadSet, sweep_sets
from darksecrets.core.interventions.shared import Shared, supports
from darksecrets.core.interventions.tables import SWEEP_SETS
from darksecrets.core.interventions.ties import decide_ties
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run import resuming
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.batches import EncodedSplit
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.backends import Logits
    from darksecrets.core.models.hooks import Intervention

# Examples in a block, which is what is saved for resuming, and the largest batch of the loop.
BLOCK = {"cpu": 64, "cuda": 256}
BLOCKS = "block-*.npz"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What a sweep's numbers depend on, besides its files, the device and library versions.

    A sweep reuses saved blocks of examples only if they were computed with equal settings.

    Attributes:
        task: The task.
        seed: Seed of the random classifier, if the checkpoint has none.
        max_length: Longest sequence kept, in tokens.
        mode: How heads are disabled, a name in `core.interventions.disable.INTERVENTIONS`.
        sets: Selectors of further sets of heads, see `darksecrets.core.models.selectors`.
        parts: Whether to disable every head alone and every layer, too.
    """

    task: Task
    seed: int
    max_length: int
    mode: str = UNIFORM
    sets: Sequence[Any] = ()
    parts: bool = True


@dataclass(frozen=True)
class _Sweep:
    """A sweep, ready to run.

    Attributes:
        settings: Its settings.
        sets: The sets to disable.
        backend: Computes the logits.
        blocks: Row numbers of the examples of each block, the longest examples first.
        identity: Everything that the numbers depend on.
    """

    settings: Settings
    sets: list[HeadSet]
    backend: Backend
    blocks: list[list[int]]
    identity: dict[str, Any]


def sweep(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    settings: Settings,
    *,
    threads: int,
) -> dict[str, Any]:
    """Predict all examples under every set, and write a `SweepResult`.

    In classification, predictions that depend on rounding are those of the example alone. A killed
    job continues with the next block when it is started again.

    Args:
        model_folder: A classifier, or an encoder, which gets a random classifier from the seed.
        dataset_folder: The task's data, see the data contract.
        output: Folder of the result.
        settings: What to disable, and how.
        threads: Number of CPU threads.

    Returns:
        For the record: the backend, and how many predictions depended on rounding.

    Raises:
        InputError: A selector names heads that the model lacks, its attention cannot be reached,
            an output is not finite, or the validation set has one class only.
    """
    task = settings.task
    own = _load(model_folder, dataset_folder, settings, threads)
    backend = own.backend
    with resuming.resuming(output, own.identity, BLOCKS) as folder, torch.inference_mode():
        resumed = _compute_blocks(own, folder)
        logits = _read_blocks(own, folder)
        details = {} if task.is_regression else decide_ties(backend, logits)
        result(task, own.sets, logits, backend.split).save(output)
    return {
        "model": type(backend.model).__name__,
        "device": str(backend.model.device),
        "backend": backend.name,
        "sets": len(own.sets),
        "examples": len(backend.split),
        "resumed_examples": resumed,
        **details,
    }


def choose_backend(
    model: PreTrainedModel,
    split: EncodedSplit,
    interventions: Sequence[Intervention | None],
) -> Backend:
    """The fastest backend for some interventions.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: The examples.
        interventions: What to do to the model's attention; None leaves it intact.

    Raises:
        InputError: The model's attention cannot be reached.
    """
    if supports(model, interventions):
        return Shared(model, split, interventions)
    return Loop(model, split, interventions)


def check_labels(labels: Values, task: Task, where: str) -> None:
    """Check that there are at least two different labels; else scores cannot be compared.

    Raises:
        InputError: All labels are the same; the message names the label.
    """
    if not len(labels):
        raise InputError(
            f"{where}: {task.name} needs at least two validation examples with different labels, "
            "and has none. Prepare the data again."
        )
    if len(set(labels.tolist())) < 2:
        label = labels[0].item()
        name = label if task.is_regression else f"{label} ({task.labels[int(label)]})"
        raise InputError(
            f"{where}: all {len(labels)} validation examples of {task.name} have the label {name}. "
            "Expected at least two different ones: scores of one class say nothing about heads."
        )


def result(task: Task, sets: Sequence[HeadSet], logits: Logits, split: EncodedSplit) -> SweepResult:
    """Predictions from logits, [sets, examples, outputs]."""
    predictions = np.stack([predict(task, set_logits) for set_logits in logits])
    return SweepResult(table_of(sets), predictions, split.labels, split.idx, split.units)


def table_of(sets: Sequence[HeadSet]) -> pd.DataFrame:
    """Rows of `tables.SWEEP_SETS`."""
    rows = [(of.kind, of.layer, of.head, of.name) for of in sets]
    table = pd.DataFrame(rows, columns=list(SWEEP_SETS.names))
    return table.astype({"layer": "Int64", "head": "Int64"})


def _load(model_folder: Path, dataset_folder: Path, settings: Settings, threads: int) -> _Sweep:
    """Read the model and the examples of a sweep, and choose its backend."""
    torch.set_num_threads(threads)
    task = settings.task
    check_mode(settings.mode)
    tokenizer = load_tokenizer(model_folder)
    split = load_split(dataset_folder, "validation", tokenizer, task, settings.max_length)
    check_labels(split.labels, task, str(dataset_folder))
    model, _ = load_classifier(model_folder, task, settings.seed)
    model = devices.place(model)
    sets = sweep_sets(shape_of(model), settings.sets, parts=settings.parts)
    interventions = [each.intervention(settings.mode) for each in sets]
    backend = choose_backend(model, split, interventions)
    _log.info(
        "%s: mode %s, backend %s (%s), %d sets, %d examples",
        *(task.name, settings.mode, backend.name, type(model).__name__, len(sets), len(split)),
    )
    block_size = BLOCK.get(model.device.type, BLOCK["cpu"])
    identity = {
        **dataclasses.asdict(settings),
        "model": fingerprint(model_folder),
        "data": split.fingerprint(),
        "block_size": block_size,
        "device": model.device.type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    return _Sweep(
        settings, sets, backend, list(batches_by_length(split.lengths, block_size)), identity
    )


def _compute_blocks(sweep: _Sweep, folder: Path) -> int:
    """Compute the blocks that a folder lacks; return the number of examples that it had."""
    sets = len(sweep.sets)
    title = f"Disabling heads, {sweep.settings.task.name}"
    lacking = {n: rows for n, rows in enumerate(sweep.blocks) if not _file(folder, n).is_file()}
    total = len(sweep.backend.split)
    resumed = total - sum(map(len, lacking.values()))
    with progress(title, sets * total, "predictions", sets * resumed) as advance:
        for number, rows in lacking.items():
            logits = sweep.backend.all_logits(rows)
            resuming.write_arrays({"logits": logits}, _file(folder, number))
            advance(sets * len(rows))
    return resumed


def _read_blocks(sweep: _Sweep, folder: Path) -> Logits:
    """Read the logits of all examples."""
    found = sweep.backend.empty(len(sweep.backend.split))
    for number, rows in enumerate(sweep.blocks):
        found[:, rows] = read_arrays(_file(folder, number))["logits"]
    return found


def _file(folder: Path, number: int) -> Path:
    return folder / BLOCKS.replace("*", str(number))
