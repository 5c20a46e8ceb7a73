"""The sweep of section 4.6: a model's predictions with every head, and every layer, disabled.

Predictions are those of running the model once per set of disabled heads, in float32, with
`disable`. Batching alone changes the last digits of an output. Where that can change a prediction,
the example alone, without padding, decides; how close outputs must be for that is measured on some
pairs of a set and an example. There are two ways to the predictions:

- the shared path (`darksecrets.ablation.shared`) for BERT, RoBERTa and ELECTRA, with or without
  screening in bfloat16 (`darksecrets.ablation.screening`);
- the general path for everything else: one set after the other, examples of similar length in a
  batch.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import transformers

from darksecrets.ablation.disable import check_mode, disable
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.screening import (
    SAFETY,
    SEED,
    TIE,
    TRIALS,
    Bounds,
    Mask,
    rounding,
    ties,
)
from darksecrets.ablation.sets import HeadSet, sweep_sets
from darksecrets.ablation.shared import SharedPath, first_layers, knows
from darksecrets.data.batches import MASK, EncodedSplit, by_length, load_split
from darksecrets.data.metrics import predict
from darksecrets.models import devices, precision
from darksecrets.models.hooks import require_reachable, shape_of
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run.errors import InputError
from darksecrets.run.files import fingerprint
from darksecrets.run.progress import progress
from darksecrets.run.resuming import Arrays, Partial

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task

    # Logits, [sets, examples, outputs], of pairs of a set and an example of a group, NaN elsewhere.
    Ask = Callable[..., npt.NDArray[np.float32]]

AUTO, ON = "auto", "on"
SCREENING = (AUTO, ON, "off")

# Examples between two checkpoints, and at most in a batch of the general path.
BLOCK = {"cpu": 64, "cuda": 256}

ARITHMETIC = {False: "float32", True: "bfloat16, then float32 where that could change a prediction"}

Logits = npt.NDArray[np.float32]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Section ``ablation`` of a configuration, as far as the sweep goes.

    Attributes:
        mode: ``uniform`` or ``zero``, see `disable`.
        sets: Selectors of further sets of heads, see `darksecrets.models.selectors`.
        screening: ``auto`` screens in bfloat16 where the hardware is fast at it; ``on``, ``off``.
    """

    mode: str = "uniform"
    sets: Sequence[Any] = ()
    screening: str = AUTO


def sweep_heads(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    *,
    task: Task,
    seed: int,
    max_length: int,
    settings: Settings,
    threads: int,
    parts: Sequence[Path] = (),
) -> dict[str, Any]:
    """Sweep over the whole validation set and write a `SweepResult`.

    What a killed sweep has done is kept in a hidden folder beside the output, from which the next
    one goes on.

    Args:
        model_folder: A classifier, or an encoder, which gets the classifier drawn from ``seed``.
        dataset_folder: The task's data, see the data contract.
        output: Folder of the result.
        task: The task.
        seed: Draws a classifier where the checkpoint has none.
        max_length: Longest sequence kept, in tokens.
        settings: What to disable, and how.
        threads: Processor cores to use.
        parts: What `sweep_heads_part` left; blocks of examples that are there are not computed
            again.

    Returns:
        For the provenance: the path taken, the error bounds and how much was recomputed.

    Raises:
        InputError: A selector names what the model does not have, its attention cannot be reached,
            the validation set has one class only, or a part is of another sweep.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    model, split, sets, identity = _load(
        model_folder, dataset_folder, task, seed, max_length, settings
    )
    with _kept(output, identity, parts) as partial:
        logits, details = compute(model, split, sets, task, settings, partial)
    result(task, sets, logits, split).save(output)
    partial.remove()
    return {**details, "seconds": round(time.perf_counter() - start, 1)}


def sweep_heads_part(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    *,
    task: Task,
    seed: int,
    max_length: int,
    settings: Settings,
    threads: int,
    part: int,
    parts: int,
) -> dict[str, Any]:
    """Compute every ``parts``-th block of examples under every set, for `sweep_heads`.

    Parts differ in their examples, not in the layers that they disable: every part has then the
    same work, as blocks go from long examples to short ones, and what the sets of an example have
    in common is computed once. Blocks are those of the whole sweep; so in float32, every number is.
    With screening, `sweep_heads` sees the errors of all parts before it says what is sure.

    Args:
        model_folder: As `sweep_heads`.
        dataset_folder: As `sweep_heads`.
        output: Folder of the part, which appears when all its blocks are done.
        task: As `sweep_heads`.
        seed: As `sweep_heads`.
        max_length: As `sweep_heads`.
        settings: As `sweep_heads`.
        threads: As `sweep_heads`.
        part: Which one, from 1.
        parts: How many there are. Where there are fewer blocks, some parts are empty.

    Returns:
        For the provenance: how many examples were computed, and the seconds.

    Raises:
        InputError: As `sweep_heads`.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    model, split, sets, identity = _load(
        model_folder, dataset_folder, task, seed, max_length, settings
    )
    with _kept(output, identity) as partial:
        way, blocks, bounds = _plan(model, split, sets, task, settings)
        own = {number: blocks[number] for number in range(part - 1, len(blocks), parts)}
        with torch.inference_mode():
            _, _, resumed = _in_blocks(way, own, task, bounds, partial)
    partial.move(output)
    return {
        "examples": sum(map(len, own.values())),
        "resumed_examples": resumed,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _load(
    model_folder: Path,
    dataset_folder: Path,
    task: Task,
    seed: int,
    max_length: int,
    settings: Settings,
) -> tuple[PreTrainedModel, EncodedSplit, list[HeadSet], dict[str, Any]]:
    """Read a sweep's model and examples, and say all that its numbers depend on."""
    tokenizer = load_tokenizer(model_folder)
    split = load_split(dataset_folder, "validation", tokenizer, task, max_length)
    check_labels(split.labels, task, str(dataset_folder))
    model, _ = load_classifier(model_folder, task, seed)
    model = devices.place(model)
    sets = sweep_sets(shape_of(model), settings.sets)
    identity = {
        "model": fingerprint(model_folder),
        "data": split.fingerprint(),
        "sets": [head_set.name for head_set in sets],
        "settings": [settings.mode, task.name, seed],
        # What `auto` comes to belongs here: unchecked bfloat16 must never pass for float32.
        "screening": screens(model, task, settings.screening),
        "device": model.device.type,
        "versions": [torch.__version__, transformers.__version__],
    }
    return model, split, sets, identity


@contextlib.contextmanager
def _kept(output: Path, identity: dict[str, Any], parts: Sequence[Path] = ()) -> Iterator[Partial]:
    """Keep what is done in a hidden folder beside the output, for a job that is killed."""
    partial = Partial(output.with_name(f".{output.name}.partial"), identity, parts)
    try:
        yield partial
    except InputError:
        partial.remove()  # it would stop there again
        raise


def check_labels(labels: npt.NDArray[np.generic], task: Task, where: str) -> None:
    """Refuse labels that are all equal, or none: no score is then worth comparing.

    Raises:
        InputError: Naming the label.
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
    table = pd.DataFrame(
        {
            "kind": [of.kind for of in sets],
            "layer": [of.layer for of in sets],
            "head": [of.head for of in sets],
            "name": [of.name for of in sets],
        }
    ).astype({"layer": "Int64", "head": "Int64"})
    predictions = np.stack([predict(task, of_set) for of_set in logits])
    return SweepResult(table, predictions, split.labels, split.idx)


def compute(
    model: PreTrainedModel,
    split: EncodedSplit,
    sets: Sequence[HeadSet],
    task: Task,
    settings: Settings,
    partial: Partial,
) -> tuple[Logits, dict[str, Any]]:
    """Compute the logits whose largest is the prediction of every set for every example.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: The examples.
        sets: What to disable.
        task: The task.
        settings: The mode, and whether to screen.
        partial: Where what is done is kept.

    Returns:
        [sets, examples, outputs] in float32, and what the provenance should say. With screening,
        only differences that decide a prediction are those of float32.

    Raises:
        InputError: The model's attention cannot be reached, or an output is not finite.
    """
    way, blocks, bounds = _plan(model, split, sets, task, settings)
    with torch.inference_mode():
        numbered = dict(enumerate(blocks))
        screened, exact, resumed = _in_blocks(way, numbered, task, bounds, partial)
        details: dict[str, Any] = {"resumed_examples": resumed}
        if bounds:
            recompute_unsure(way, blocks, bounds, screened, exact)
            details["screening"] = _describe(bounds, screened, exact)
        logits = np.where(np.isnan(exact), screened, exact)
        if not task.is_regression:
            details |= decide_ties(way, exact, logits)
    return logits, {
        "path": way.name,
        "model": type(model).__name__,
        "device": str(model.device),
        "sets": len(sets),
        "examples": len(split),
        "arithmetic": ARITHMETIC[bool(bounds)],
        **details,
    }


def _plan(
    model: PreTrainedModel,
    split: EncodedSplit,
    sets: Sequence[HeadSet],
    task: Task,
    settings: Settings,
) -> tuple[Way, list[list[int]], Bounds | None]:
    """Choose the way, cut the examples into blocks, and prepare to screen where that is wanted."""
    check_mode(settings.mode)
    require_reachable(model)
    way = (Sharing if knows(model) else OneByOne)(model, split, sets, settings)
    screening = screens(model, task, settings.screening)
    _log.info(
        "%s: %s (%s), %d sets, %d examples, %s",
        *(task.name, way.name, type(model).__name__, len(sets), len(split)),
        ARITHMETIC[screening],
    )
    layers, first = model.config.num_hidden_layers, first_layers(way.selected).numpy()
    bounds = Bounds(first, layers, len(split)) if screening else None
    blocks = list(by_length(split.lengths, BLOCK.get(model.device.type, BLOCK["cpu"])))
    return way, blocks, bounds


def screens(model: PreTrainedModel, task: Task, wanted: str) -> bool:
    """Whether a sweep screens in bfloat16: if so wanted, and where it can.

    Raises:
        InputError: ``wanted`` is none of ``SCREENING``.
    """
    if wanted not in SCREENING:
        raise InputError(f"Found screening {wanted!r}, expected one of {', '.join(SCREENING)}.")
    possible = knows(model) and not task.is_regression
    return possible and (precision.fast_bfloat16() if wanted == AUTO else wanted == ON)


class Way:
    """A way to the logits of pairs of a set and an example; pairs are [sets, examples] masks."""

    name: str

    def __init__(
        self,
        model: PreTrainedModel,
        split: EncodedSplit,
        sets: Sequence[HeadSet],
        settings: Settings,
    ) -> None:
        self.model, self.split, self.sets, self.mode = model, split, sets, settings.mode
        shape = shape_of(model)
        self.selected = torch.zeros(len(sets), shape.layers, shape.heads, dtype=torch.bool)
        for number, of_set in enumerate(sets):
            for layer, heads in of_set.heads.items():
                self.selected[number, layer - 1, [head - 1 for head in sorted(heads)]] = True

    def groups(self, rows: list[int]) -> Iterator[tuple[list[int], Ask]]:
        """Cut examples into groups, each with a function that computes logits of pairs."""
        raise NotImplementedError

    def empty(self, examples: int) -> Logits:
        """[sets, examples, outputs] of NaN."""
        outputs = int(self.model.config.num_labels or 1)
        return np.full((len(self.sets), examples, outputs), np.nan, dtype=np.float32)

    def plain(self, number: int, rows: list[int]) -> Logits:
        """Run the model as it is on a batch of examples, with a set disabled."""
        batch = {name: t.to(self.model.device) for name, t in self.split.batch(rows).items()}
        del batch["labels"]
        heads = self.sets[number].heads
        with disable(self.model, heads, self.mode) if heads else contextlib.nullcontext():
            return self.check(self.model(**batch).logits)

    def check(self, logits: torch.Tensor) -> Logits:
        """Refuse what is not finite."""
        if not logits.isfinite().all():
            raise InputError(
                f"{type(self.model).__name__}: found outputs that are not finite numbers with "
                "heads disabled. The model has diverged, or its weights are damaged. Train again."
            )
        array: Logits = logits.float().cpu().numpy()
        return array


class OneByOne(Way):
    """One set after the other, examples of similar length in a batch."""

    name = "general path, one set after the other"

    def groups(self, rows: list[int]) -> Iterator[tuple[list[int], Ask]]:
        """All examples are one group."""
        device = self.model.device
        size = devices.sequence_bytes(self.model.config, int(self.split.lengths[rows].max()))
        together = devices.batch_size(device, size, cpu=len(rows), gpu=len(rows))

        def ask(pairs: Mask, *, screening: bool = False) -> Logits:
            assert not screening, "only the shared path screens"
            logits = self.empty(len(rows))
            for number in np.flatnonzero(pairs.any(axis=1)).tolist():
                wanted = np.flatnonzero(pairs[number])
                for start in range(0, len(wanted), together):
                    part = wanted[start : start + together]
                    logits[number, part] = self.plain(number, [rows[i] for i in part])
            return logits

        yield rows, ask


class Sharing(Way):
    """All sets of examples of equal length together."""

    name = "shared path"

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments)
        self.path = SharedPath(self.model, self.selected, self.mode)

    def groups(self, rows: list[int]) -> Iterator[tuple[list[int], Ask]]:
        """Examples of a group are of equal length, the longest first."""
        lengths = self.split.lengths[rows]
        for length in np.unique(lengths)[::-1]:
            equal = [row for row, of_row in zip(rows, lengths, strict=True) if of_row == length]
            step = self.path.examples_at_once(int(length))
            for start in range(0, len(equal), step):
                group = equal[start : start + step]
                yield group, self._ask(group)

    def _ask(self, rows: list[int]) -> Ask:
        inputs = {name: t.to(self.model.device) for name, t in self.split.batch(rows).items()}
        trunk = self.path.trunk({n: t for n, t in inputs.items() if n not in (MASK, "labels")})

        def ask(pairs: Mask, *, screening: bool = False) -> Logits:
            logits = self.empty(len(rows))
            numbers = [torch.from_numpy(n).to(self.model.device) for n in np.nonzero(pairs)]
            if len(numbers[0]):
                found = self.path.logits(trunk, *numbers, screening=screening)
                logits[pairs] = self.check(found)
            return logits

        return ask


def _in_blocks(
    way: Way, blocks: dict[int, list[int]], task: Task, bounds: Bounds | None, partial: Partial
) -> tuple[Logits, Logits, int]:
    """Logits, screened and exact, of numbered blocks; and how many examples were done before."""
    screened, exact = way.empty(len(way.split)), way.empty(len(way.split))
    resumed = 0
    total = len(way.sets) * sum(map(len, blocks.values()))
    with progress(f"Disabling heads, {task.name}", total, "predictions") as advance:
        for number, rows in blocks.items():
            done = partial.load(f"block-{number}")
            if done is None:
                done = partial.keep(f"block-{number}", block_logits(way, rows, bounds))
            else:
                resumed += len(rows)
                if bounds:
                    bounds.see(done["screened"], done["exact"])
            screened[:, rows], exact[:, rows] = done["screened"], done["exact"]
            advance(len(way.sets) * len(rows))
    return screened, exact, resumed


def block_logits(way: Way, rows: list[int], bounds: Bounds | None) -> Arrays:
    """Logits of some examples under every set: those screened, and the exact ones so far."""
    screened, exact = way.empty(len(rows)), way.empty(len(rows))
    place = {row: i for i, row in enumerate(rows)}
    for group, ask in way.groups(rows):
        at = [place[row] for row in group]
        if bounds:
            screened[:, at], exact[:, at] = _screen(ask, bounds.sample[:, group], bounds)
        else:
            exact[:, at] = ask(np.ones((len(way.sets), len(group)), dtype=bool))
    return {"screened": screened, "exact": exact}


def _screen(ask: Ask, sample: Mask, bounds: Bounds) -> tuple[Logits, Logits]:
    """Screen a group, compute the sample exactly, and then what the errors seen so far unsettle."""
    screened = ask(np.ones_like(sample), screening=True)
    exact = ask(sample)
    bounds.see(screened, exact)
    more = ask(bounds.unsure(screened) & ~sample)
    bounds.see(screened, more)
    return screened, np.where(sample[..., None], exact, more)


def recompute_unsure(
    way: Way, blocks: list[list[int]], bounds: Bounds, screened: Logits, exact: Logits
) -> None:
    """Compute exactly, in place, what the bounds of the whole sweep unsettle and earlier ones not.

    What is recomputed may raise the bounds; so until nothing is left.
    """
    while (pending := bounds.unsure(screened) & np.isnan(exact[..., 0])).any():
        for rows in blocks:
            for group, ask in way.groups([row for row in rows if pending[:, row].any()]):
                more = ask(pending[:, group])
                bounds.see(screened[:, group], more)
                exact[:, group] = np.where(pending[:, group, None], more, exact[:, group])


def _describe(bounds: Bounds, screened: Logits, exact: Logits) -> dict[str, Any]:
    recomputed = ~np.isnan(exact[..., 0])
    corrected = (screened.argmax(-1) != exact.argmax(-1)) & recomputed
    return {
        "largest_error_by_layer": bounds.errors,
        "bound_by_layer": bounds.limits.tolist(),
        "safety_factor": SAFETY,
        "sampled": int(bounds.sample.sum()),
        "recomputed": int(recomputed.sum()),
        "recomputed_share": float(recomputed.mean()),
        "corrected": int(corrected.sum()),
    }


def decide_ties(way: Way, exact: Logits, logits: Logits) -> dict[str, Any]:
    """Put the logits of the example alone, without padding, where rounding could decide.

    How much rounding does is seen on a seeded sample of the exact pairs.

    Args:
        way: The way that gave the logits.
        exact: [sets, examples, outputs] computed in float32, NaN where only screened.
        logits: Likewise, all of them; changed in place.

    Returns:
        ``rounding`` seen, ``tie_below`` which margins are ties, and the number of ``ties``.
    """

    def alone(pairs: npt.NDArray[np.int64]) -> Logits:
        return np.stack([way.plain(number, [row])[0] for number, row in pairs.tolist()])

    known = np.argwhere(~np.isnan(exact[..., 0]))
    trials = np.random.default_rng(SEED).permutation(known)[:TRIALS]
    seen = rounding(logits[tuple(trials.T)], alone(trials))
    below = max(TIE, SAFETY * seen)
    tied = np.argwhere(ties(logits, below))
    if len(tied):
        logits[tuple(tied.T)] = alone(tied)
    return {"rounding": seen, "tie_below": below, "ties": len(tied)}
