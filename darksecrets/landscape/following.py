"""Follow every head through a fine-tuning: its maps at the snapshots of the weights.

The maps of the start and of the end stay in memory, in half precision as in the attention store;
those in between are measured and forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers import PreTrainedModel

from darksecrets.arrays import Floats, Halves
from darksecrets.attention import extraction
from darksecrets.attention.entropy import entropy_sums
from darksecrets.attention.kept import KeptMaps, keep
from darksecrets.attention.store import Maps
from darksecrets.finetuning.snapshots import ROUNDING, Snapshots, apply
from darksecrets.landscape.finetuned import Finetuned
from darksecrets.landscape.followed import Followed
from darksecrets.models import devices
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.starting import Start, load_start
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.classification import classify
from darksecrets.patterns.classifier import Classifier
from darksecrets.run.errors import InputError
from darksecrets.run.files import fingerprint
from darksecrets.run.progress import progress

_BATCH = 2**24  # bytes of a batch of maps in half precision
_SINGLE = 2.0**-22  # relative rounding of a weight when a difference is added in float32


@dataclass(frozen=True)
class Sources:
    """Where models, snapshots and examples are.

    Attributes:
        pretrained: The pre-trained encoder.
        start: What the fine-tuning began with.
        finetuned: The model that was made from it.
        snapshots: Its weights on the way.
        dataset: The task's data.
        sample: The ``idx`` of the sampled examples.
    """

    pretrained: Path
    start: Start
    finetuned: Path
    snapshots: Path
    dataset: Path
    sample: Sequence[int]


def follow(
    sources: Sources,
    classifier: Classifier,
    model: Finetuned,
    *,
    examples: int,
    batch_size: int,
    threads: int,
) -> tuple[Followed, dict[str, Any]]:
    """Measure the maps of every head at every snapshot.

    Args:
        sources: The models, snapshots and examples.
        classifier: The trained classifier of patterns.
        model: Which fine-tuning is followed.
        examples: Sampled examples to measure, at most.
        batch_size: Examples per batch on a CPU.
        threads: Number of CPU threads.

    Returns:
        The measures; and for the provenance, the error of the stored weights and the time.

    Raises:
        InputError: The snapshots are damaged or of another training, or models do not fit.
    """
    start = time.perf_counter()
    torch.set_num_threads(threads)
    snapshots, own = open_snapshots(sources, model)
    sampled = choose(
        extraction.read_sample(sources.dataset, sources.sample), examples, model.sample
    )
    tokenizer = load_tokenizer(sources.pretrained)
    table, inputs = extraction.encode_longest_first(sampled, tokenizer, model.max_length)
    lengths = [len(ids) for ids in inputs["input_ids"]]
    batches = extraction.batches_for(own, extraction.batches_of(len(table), batch_size), lengths)

    def maps() -> KeptMaps:
        return keep(own, table, inputs, batches, tokenizer.pad_token_id)

    found = measure(snapshots, own, maps, classifier, model.task.name)
    return found, {
        "snapshots": len(snapshots.listed),
        "rounding": max(each.error for each in snapshots.listed),
        "device": str(own.device),
        "seconds": round(time.perf_counter() - start, 1),
    }


def open_snapshots(sources: Sources, of: Finetuned) -> tuple[Snapshots, PreTrainedModel]:
    """Open the snapshots, and load the model that training began with, checked against them.

    Raises:
        InputError: They are not of the training from this start to this end.
    """
    snapshots = Snapshots(sources.snapshots)
    model, _ = load_start(sources.pretrained, of.task, sources.start)
    expected = {"task": of.task.name, "state": of.state, "seed": of.seed}
    snapshots.check(model, **expected, model=fingerprint(sources.pretrained))
    ended, _ = load_classifier(sources.finetuned, of.task, of.seed)
    require_end(snapshots, model, ended)
    return snapshots, devices.place(model)


def require_end(snapshots: Snapshots, start: PreTrainedModel, end: PreTrainedModel) -> None:
    """Check that the last snapshot is a fine-tuned model, up to the rounding of differences.

    Raises:
        InputError: The last snapshot is not the fine-tuned model.
    """
    changes, ended = snapshots.at(snapshots.listed[-1].step), dict(end.named_parameters())
    for name, begun in start.named_parameters():
        if name not in ended or ended[name].shape != begun.shape:
            raise InputError(_not_the_end(snapshots, f"no {name} of the same shape"))
        true = ended[name].detach().double() - begun.detach().double()
        stored = changes[name].double() if name in changes else torch.zeros_like(true)
        allowed = ROUNDING * true.abs() + _SINGLE * begun.detach().double().abs()
        if bool(((stored - true).abs() > allowed).any()):
            wrong = float((stored - true).abs().max())
            raise InputError(_not_the_end(snapshots, f"{name} that differs by {wrong:.2g}"))


def choose(columns: Mapping[str, list[Any]], examples: int, seed: int) -> dict[str, list[Any]]:
    """A random choice of the sampled examples, in their order."""
    count = len(columns["idx"])
    rows = np.sort(np.random.default_rng(seed).permutation(count)[:examples])
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def measure(
    snapshots: Snapshots,
    model: PreTrainedModel,
    maps: Callable[[], KeptMaps],
    classifier: Classifier,
    name: str,
) -> Followed:
    """Measure the maps of a model at all snapshots.

    Args:
        snapshots: The snapshots.
        model: The model that training began with, on its device.
        maps: Runs the model as it is on the examples.
        classifier: The classifier of patterns.
        name: Name of the task, for the progress bar.
    """
    begun = {name: each.detach().clone() for name, each in model.named_parameters()}
    apply(model, begun, snapshots.at(snapshots.listed[-1].step))
    end = maps()
    apply(model, begun, {})
    steps = [each.step for each in snapshots.listed]
    first, parts, patterns = None, [], []
    with progress(f"Following heads, {name}", len(steps), "snapshots") as advance:
        for step in snapshots.along(model):
            now = end if step == steps[-1] else maps()
            first = first or now
            parts.append((*_between(first, now, end), statistics_of(now)))
            patterns.append(_patterns(now, classifier))
            advance(1)
    if first is None:
        raise InputError(f"{snapshots.folder}: found no snapshots, expected those of a training.")
    to_start, to_end, along, values = (np.stack(part) for part in zip(*parts, strict=True))
    return Followed(
        idx=first.idx,
        steps=np.array(steps, dtype=np.int64),
        to_start=to_start,
        to_end=to_end,
        along=along,
        first=_by_batch(first, lambda half, _: _inner(half, half)),
        values=values,
        patterns=np.stack(patterns),
        weights=weights_of(snapshots),
    )


def statistics_of(maps: Maps) -> Floats:
    """[statistics, examples, layers, heads] in the order of `followed.STATISTICS`."""
    return np.moveaxis(_by_batch(maps, lambda half, rows: _statistics(half, maps, rows)), -1, 0)


def weights_of(snapshots: Snapshots) -> Floats:
    """[snapshots] ⟨now − start, end − start⟩ / ‖end − start‖² of all weights."""
    end = snapshots.at(snapshots.listed[-1].step)
    length = _product(end, end)
    found = [_product(changes, end) for _, changes in snapshots.read()]
    return np.array(found) / (length or 1.0)


def _between(first: Maps, now: Maps, end: Maps) -> tuple[Floats, Floats, Floats]:
    """Cosine with the first and last maps, and ⟨now − first, last − first⟩, see `Followed`."""

    def along(half: Halves, rows: range) -> Floats:
        begun = first.batch(rows).astype(np.float32)
        return _inner(half - begun, end.batch(rows) - begun)

    return _cosine(now, first), _cosine(now, end), _by_batch(now, along)


def _cosine(one: Maps, other: Maps) -> Floats:
    """[examples, layers, heads] cosine of maps of the same examples; 1 for the same maps."""
    if one is other:
        return np.ones((one.examples, one.layers, one.heads))

    def of(half: Halves, rows: range) -> Floats:
        second = other.batch(rows)
        lengths = np.sqrt(_inner(half, half) * _inner(second, second))
        return np.clip(_inner(half, second) / lengths, -1, 1)

    return _by_batch(one, of)


def _by_batch(maps: Maps, of: Callable[[Halves, range], Floats]) -> Floats:
    """[examples, ...] what a function makes of the batches of equal length."""
    return np.concatenate([of(half, rows) for rows, half in maps.batches(_BATCH)])


def _inner(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Floats:
    """[example, layer, head] inner products, summed in double precision."""
    return np.einsum("elhij,elhij->elh", one, other, dtype=np.float64)


def _statistics(half: Halves, maps: Maps, rows: range) -> Floats:
    """[example, layer, head, statistic] of a batch."""
    weights, length = half.astype(np.float32), half.shape[-1]
    special = np.stack([maps.special(example) for example in rows])
    special[:, 0] = False  # the first token counts on its own
    found = [
        entropy_sums(weights) / length,
        weights.max(axis=-1).mean(axis=-1, dtype=np.float64),
        weights[..., 0].mean(axis=-1, dtype=np.float64),
        np.einsum("elhij,ej->elh", weights, special, dtype=np.float64) / length,
    ]
    return np.stack(found, axis=-1).astype(np.float64)


def _patterns(maps: Maps, classifier: Classifier) -> npt.NDArray[np.int8]:
    """[examples, layers, heads] numbers of patterns, under the lenient definition."""
    number = {name: place for place, name in enumerate(PATTERNS)}
    codes = [number[pattern] for pattern in classify(maps, classifier)["pattern"]]
    return np.array(codes, dtype=np.int8).reshape(maps.examples, maps.layers, maps.heads)


def _product(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    return sum(
        float((tensor.double() * other[name].double()).sum())
        for name, tensor in one.items()
        if name in other
    )


def _not_the_end(snapshots: Snapshots, found: str) -> str:
    return (
        f"{snapshots.folder}: found in the fine-tuned model {found} from the last snapshot. "
        "Expected the end of the training that the snapshots are of. Remove both folders and run "
        "again: the training is repeated."
    )
