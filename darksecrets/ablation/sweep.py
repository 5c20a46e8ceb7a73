"""The sweep of section 4.6: a model's predictions with every head, and every layer, disabled.

Predictions are those of running the model once per set of disabled heads, in float32. The examples
are split into blocks. `sweep` computes them, then what depends on all of them, and writes a
`SweepResult`. Where the blocks are split among several jobs, `sweep_chunk` computes some of them,
and `sweep` joins those of all chunks.

The sweep disables the heads of a set with an `Intervention` from
`darksecrets.ablation.disable.INTERVENTIONS`. One of two backends computes it: `Shared`, with or
without `Screening` in bfloat16, if it supports model and intervention, or else `Loop`. Each further
mode, for comparison, has a backend of its own, with the same loaded model, and writes its result to
a folder named after it.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import transformers

from darksecrets.ablation.backends import Backend, Block, Loop
from darksecrets.ablation.disable import UNIFORM, check_mode
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.screening import Screening
from darksecrets.ablation.sets import HeadSet, sweep_sets
from darksecrets.ablation.shared import Shared, knows
from darksecrets.ablation.tables import SWEEP_SETS
from darksecrets.ablation.ties import decide_ties
from darksecrets.arrays import Values
from darksecrets.data.batches import by_length, load_split
from darksecrets.data.metrics import predict
from darksecrets.models import devices, precision
from darksecrets.models.hooks import shape_of
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run import resuming
from darksecrets.run.arrays import read_arrays
from darksecrets.run.errors import InputError
from darksecrets.run.files import fingerprint, remove
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.ablation.backends import Logits
    from darksecrets.data.batches import EncodedSplit
    from darksecrets.data.tasks import Task
    from darksecrets.models.hooks import Intervention

AUTO, ON, OFF = SCREENING = ("auto", "on", "off")

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
        mode: How heads are disabled, a name in `darksecrets.ablation.disable.INTERVENTIONS`.
        compare_modes: Further modes, whose results are compared with those of `mode`.
        sets: Selectors of further sets of heads, see `darksecrets.models.selectors`.
        screening: ``on``, ``off``, or ``auto``: in bfloat16 if the hardware is fast at it.
        parts: Whether to disable every head alone and every layer, too.
    """

    task: Task
    seed: int
    max_length: int
    mode: str = UNIFORM
    compare_modes: Sequence[str] = ()
    sets: Sequence[Any] = ()
    screening: str = AUTO
    parts: bool = True

    @property
    def modes(self) -> list[str]:
        """All modes, each once; that of all tables and figures is first."""
        return list(dict.fromkeys([self.mode, *self.compare_modes]))


@dataclass(frozen=True)
class _Sweep:
    """A sweep, ready to run.

    Attributes:
        settings: Its settings.
        sets: The sets to disable.
        backends: By mode, the backend that computes the logits.
        blocks: Row numbers of the examples of each block, the longest examples first.
        identity: Everything that the numbers depend on.
    """

    settings: Settings
    sets: list[HeadSet]
    backends: dict[str, Backend]
    blocks: list[list[int]]
    identity: dict[str, Any]


def sweep_chunk(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    settings: Settings,
    *,
    threads: int,
    chunk: int = 1,
    chunks: int = 1,
) -> dict[str, Any]:
    """Compute every ``chunks``-th block of examples under every set.

    Chunks differ in their examples, not in the layers that they disable. So they have about the
    same work, as blocks are sorted by length, and what the sets of an example share is computed
    once. Blocks, and every number in float32, do not depend on ``chunks``. A killed job continues
    with the next block when it is started again.

    Args:
        model_folder: A classifier, or an encoder, which gets a random classifier from the seed.
        dataset_folder: The task's data, see the data contract.
        output: Folder of the chunk; it appears when all its blocks are done.
        settings: What to disable, and how.
        threads: Number of CPU threads.
        chunk: Which one, from 1.
        chunks: How many there are. If there are fewer blocks, some chunks are empty.

    Returns:
        For the provenance: how many examples were computed, and in how many seconds.

    Raises:
        InputError: A selector names heads that the model lacks, its attention cannot be reached,
            an output is not finite, or the validation set has one class only.
    """
    start = time.perf_counter()
    sweep = _load(model_folder, dataset_folder, settings, threads)
    numbers = range(chunk - 1, len(sweep.blocks), chunks)
    with resuming.resuming(output, sweep.identity, BLOCKS) as folder:
        resumed = _compute_blocks(sweep, numbers, folder)
        remove(output)
        folder.replace(output)
    return {
        "examples": sum(len(sweep.blocks[number]) for number in numbers),
        "resumed_examples": resumed,
        "seconds": round(time.perf_counter() - start, 1),
    }


def sweep(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    settings: Settings,
    *,
    threads: int,
    chunks: Sequence[Path] = (),
) -> dict[str, Any]:
    """Predict all examples under every set, and write a `SweepResult`.

    With screening, the errors seen in all examples determine which predictions are unsure; these
    are recomputed in float32. In classification, predictions that depend on rounding are those of
    the example alone. A killed job continues with the next block when it is started again.

    Args:
        model_folder: A classifier, or an encoder, which gets a random classifier from the seed.
        dataset_folder: The task's data, see the data contract.
        output: Folder of the result.
        settings: What to disable, and how.
        threads: Number of CPU threads.
        chunks: Folders that `sweep_chunk` wrote with the same model, data and settings, to join
            them; empty to compute all blocks here.

    Returns:
        For the provenance: the backend, the error bounds, and how much was recomputed.

    Raises:
        InputError: See `sweep_chunk`; or a chunk is of another sweep, or one is missing.
    """
    start = time.perf_counter()
    own = _load(model_folder, dataset_folder, settings, threads)
    if chunks:
        _take_chunks(own, chunks)
        details = _settle(own, chunks, output)
    else:
        with resuming.resuming(output, own.identity, BLOCKS) as folder:
            resumed = _compute_blocks(own, range(len(own.blocks)), folder)
            details = {"resumed_examples": resumed, **_settle(own, [folder], output)}
    backend = own.backends[settings.mode]
    return {
        "model": type(backend.model).__name__,
        "device": str(backend.model.device),
        "sets": len(own.sets),
        "examples": len(backend.split),
        **details,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _settle(own: _Sweep, folders: Sequence[Path], output: Path) -> dict[str, Any]:
    """Write the results of all modes from blocks; return how they were computed."""
    details = {mode: _settle_mode(own, mode, folders, output) for mode in own.settings.modes}
    first = details.pop(own.settings.mode)
    return {**first, **({"compared": details} if details else {})}


def _settle_mode(sweep: _Sweep, mode: str, folders: Sequence[Path], output: Path) -> dict[str, Any]:
    backend, task = sweep.backends[mode], sweep.settings.task
    found = _read_blocks(sweep, mode, folders)
    with torch.inference_mode():
        details = backend.settle(sweep.blocks, found)
        logits = found.logits
        if not task.is_regression:
            details |= decide_ties(backend, found.exact, logits)
    folder = output if mode == sweep.settings.mode else output / mode
    result(task, sweep.sets, logits, backend.split).save(folder)
    return {"backend": backend.name, "arithmetic": backend.arithmetic, **details}


def choose_backend(
    model: PreTrainedModel,
    split: EncodedSplit,
    interventions: Sequence[Intervention | None],
    *,
    screening: bool = False,
) -> Backend:
    """The fastest backend for some interventions.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: The examples.
        interventions: What to do to the model's attention; None leaves it intact.
        screening: Whether to screen in bfloat16, if the backend can.

    Raises:
        InputError: The model's attention cannot be reached.
    """
    if not knows(model, interventions):
        return Loop(model, split, interventions)
    shared = Shared(model, split, interventions)
    return Screening(shared) if screening else shared


def check_labels(labels: Values, task: Task, where: str) -> None:
    """Check that there are at least two different labels; else scores cannot be compared.

    Raises:
        InputError: All labels are the same; the message names the label.
    """
    if not len(labels):
        raise InputError(
            f"{where}: found no validation examples of {task.name}, expected at least two with "
            "different labels. Prepare the data again."
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
    rows = [(of.kind, of.layer, of.head, of.name) for of in sets]
    table = pd.DataFrame(rows, columns=list(SWEEP_SETS.names))
    table = table.astype({"layer": "Int64", "head": "Int64"})
    predictions = np.stack([predict(task, of_set) for of_set in logits])
    return SweepResult(table, predictions, split.labels, split.idx)


def _load(model_folder: Path, dataset_folder: Path, settings: Settings, threads: int) -> _Sweep:
    """Read the model and the examples of a sweep, and choose its backend."""
    torch.set_num_threads(threads)
    task = settings.task
    for mode in settings.modes:
        check_mode(mode)
    tokenizer = load_tokenizer(model_folder)
    split = load_split(dataset_folder, "validation", tokenizer, task, settings.max_length)
    check_labels(split.labels, task, str(dataset_folder))
    model, _ = load_classifier(model_folder, task, settings.seed)
    model = devices.place(model)
    sets = sweep_sets(shape_of(model), settings.sets, parts=settings.parts)
    screening = _screens(settings.screening) and not task.is_regression
    backends = {}
    for mode in settings.modes:
        interventions = [of_set.intervention(mode) for of_set in sets]
        backend = choose_backend(model, split, interventions, screening=screening)
        backends[mode] = backend
        _log.info(
            "%s: mode %s, backend %s (%s), %d sets, %d examples, %s",
            *(task.name, mode, backend.name, type(model).__name__, len(sets), len(split)),
            backend.arithmetic,
        )
    screened = any(isinstance(backend, Screening) for backend in backends.values())
    if screened:
        precision.warn_if_slow()
    block_size = BLOCK.get(model.device.type, BLOCK["cpu"])
    identity = {
        **dataclasses.asdict(settings),
        # The choice made for `auto`, so that bfloat16 is never mistaken for float32.
        "screening": ON if screened else OFF,
        "model": fingerprint(model_folder),
        "data": split.fingerprint(),
        "block_size": block_size,
        "device": model.device.type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    return _Sweep(settings, sets, backends, list(by_length(split.lengths, block_size)), identity)


def _screens(wanted: str) -> bool:
    """Whether to screen in bfloat16, if the backend can."""
    if wanted not in SCREENING:
        raise InputError(f"Found screening {wanted!r}, expected one of {', '.join(SCREENING)}.")
    return precision.fast_bfloat16() if wanted == AUTO else wanted == ON


def _compute_blocks(sweep: _Sweep, numbers: Iterable[int], folder: Path) -> int:
    """Compute the blocks that a folder lacks; return the number of examples that it had."""
    numbers = list(numbers)
    total = sum(len(sweep.blocks[number]) for number in numbers)
    total *= len(sweep.sets) * len(sweep.backends)
    resumed = 0
    with (
        torch.inference_mode(),
        progress(f"Disabling heads, {sweep.settings.task.name}", total, "predictions") as advance,
    ):
        for mode, backend in sweep.backends.items():
            for number in numbers:
                rows, file = sweep.blocks[number], _file(folder, mode, number)
                if file.is_file():
                    backend.resume(Block(**read_arrays(file)))
                    resumed += len(rows)
                else:
                    resuming.write_arrays(vars(backend.block(rows)), file)
                advance(len(sweep.sets) * len(rows))
    return resumed // len(sweep.backends)


def _take_chunks(sweep: _Sweep, chunks: Sequence[Path]) -> None:
    """Check that chunks make up a sweep, and take the errors seen in them into account."""
    for chunk in chunks:
        _check_chunk(chunk, sweep.identity)
    for mode, backend in sweep.backends.items():
        for number in range(len(sweep.blocks)):
            files = [file for chunk in chunks if (file := _file(chunk, mode, number)).is_file()]
            if len(files) != 1:
                raise InputError(
                    f"{chunks[0].parent}: found block {number} of {len(sweep.blocks)} in "
                    f"{len(files)} of {len(chunks)} chunks, expected it in one. Remove the folder "
                    "and run again."
                )
            backend.resume(Block(**read_arrays(files[0])))


def _read_blocks(sweep: _Sweep, mode: str, folders: Sequence[Path]) -> Block:
    """Read the logits of all examples in a mode."""
    backend = sweep.backends[mode]
    found = Block(*(backend.empty(len(backend.split)) for _ in dataclasses.fields(Block)))
    for number, rows in enumerate(sweep.blocks):
        file = next(
            path for path in (_file(each, mode, number) for each in folders) if path.is_file()
        )
        block = Block(**read_arrays(file))
        found.screened[:, rows], found.exact[:, rows] = block.screened, block.exact
    return found


def _check_chunk(chunk: Path, identity: dict[str, Any]) -> None:
    """Check that a chunk is of this sweep."""
    found = resuming.read_identity(chunk)
    if found is None:
        raise InputError(
            f"{chunk} is not a chunk of a sweep: {resuming.IDENTITY} is missing. Remove it and run "
            "again."
        )
    if different := resuming.different(found, identity):
        raise InputError(
            f"{chunk} is a chunk of another sweep: {', '.join(different)} differ. Expected the "
            "same model, data, settings, versions and kind of device in all jobs. Remove "
            f"{chunk.parent} and run again; where machines differ, set `ablation.screening` to "
            "`on` or `off`, and give a GPU to all of these jobs or to none."
        )


def _file(folder: Path, mode: str, number: int) -> Path:
    return folder / BLOCKS.replace("*", f"{mode}-{number}")
