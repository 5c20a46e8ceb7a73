"""Compactly stored encoded examples, and batches padded to their longest sequence."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.core.arrays import Integers
from darksecrets.core.data.encoding import encode
from darksecrets.core.stats.units import numbered

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from darksecrets.core.data.tasks import Task

MASK = "attention_mask"


@dataclass(frozen=True)
class EncodedSplit:
    """One encoded split of a data set; each model input is one flat array over all examples.

    Attributes:
        idx: [examples], the data set's own example numbers.
        labels: [examples], integers for classes, float32 for regression.
        starts: [examples + 1], where each example begins in the flat arrays; the last is their end.
        inputs: [all tokens] for each model input, by name; the attention mask is not stored, as it
            follows from the lengths.
        padding: Padding value of each input, by name.
    """

    idx: np.ndarray
    labels: np.ndarray
    starts: np.ndarray
    inputs: dict[str, np.ndarray]
    padding: dict[str, int]

    def __len__(self) -> int:
        return len(self.idx)

    @cached_property
    def lengths(self) -> np.ndarray:
        """[examples] tokens of each example, special tokens included."""
        return np.diff(self.starts)

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest example."""
        return int(self.lengths.max())

    @cached_property
    def units(self) -> Integers:
        """[examples] number of what the model reads of each, see `darksecrets.core.stats.units`."""
        bounds = itertools.pairwise(self.starts.tolist())
        flat = list(self.inputs.values())
        return numbered(tuple(part[start:end].tobytes() for part in flat) for start, end in bounds)

    def batch(self, rows: list[int], multiple: int = 1) -> dict[str, torch.Tensor]:
        """Inputs [len(rows), tokens] and ``labels`` [len(rows)] of the given rows.

        The tokens are the longest row's, rounded up to a multiple, but not beyond the split's
        longest example, which a model is known to take.
        """
        lengths = self.lengths[rows]
        rounded = math.ceil(lengths.max() / multiple) * multiple
        tokens = min(rounded, self.longest)
        real = np.arange(tokens) < lengths[:, None]
        slices = [slice(self.starts[row], self.starts[row + 1]) for row in rows]
        tensors = {MASK: torch.from_numpy(real.astype(np.int64))}
        for name, flat in self.inputs.items():
            padded = np.full(real.shape, self.padding[name], dtype=np.int64)
            padded[real] = np.concatenate([flat[tokens] for tokens in slices])
            tensors[name] = torch.from_numpy(padded)
        return {**tensors, "labels": torch.from_numpy(self.labels[rows])}

    def fingerprint(self) -> str:
        """SHA-256 of all inputs and labels."""
        digest = hashlib.sha256()
        for array in (self.starts, self.labels, *self.inputs.values()):
            digest.update(array.tobytes())
        return digest.hexdigest()


def load_split(
    dataset_folder: Path,
    split: str,
    tokenizer: PreTrainedTokenizerBase,
    task: Task,
    max_length: int,
) -> EncodedSplit:
    """Read and encode the split ``train`` or ``validation`` of a data set on disk."""
    from datasets import load_from_disk

    data = load_from_disk(str(dataset_folder))[split]
    columns = {name: list(data[name]) for name in task.columns}
    encoded = encode(columns, tokenizer, max_length, where=f"{task.name}, {split}")
    padding = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    return EncodedSplit(
        idx=np.asarray(data["idx"], dtype=np.int64),
        labels=np.asarray(data["label"], dtype=np.float32 if task.is_regression else np.int64),
        starts=np.cumsum([0, *map(len, encoded["input_ids"])]),
        inputs={
            name: np.concatenate([np.asarray(row, dtype=np.int32) for row in encoded[name]])
            for name in encoded
            if name != MASK
        },
        padding=padding,
    )


def batches_by_length(lengths: np.ndarray, batch_size: int) -> Iterator[list[int]]:
    """Yield batches of row numbers, grouped by length, longest first."""
    order = np.argsort(-lengths, kind="stable").tolist()
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _alike(keys: np.ndarray, batch_size: int, pool: int, rng: np.random.Generator) -> np.ndarray:
    """Random order of examples in which those of a batch have similar keys, such as lengths.

    Examples are sorted by their keys within random pools of ``pool`` batches; then the batches are
    shuffled, and those that fill no batch come last.
    """
    order, size = rng.permutation(len(keys)), pool * batch_size
    pools = [order[start : start + size] for start in range(0, len(order), size)]
    ordered = np.concatenate([p[np.argsort(keys[p], kind="stable")] for p in pools])
    whole = len(ordered) - len(ordered) % batch_size
    batches = rng.permutation(ordered[:whole].reshape(-1, batch_size))
    return np.concatenate([batches.ravel(), ordered[whole:]])


class GroupedByLength(torch.utils.data.Sampler[int]):
    """Random order of the training examples in which each batch has similar lengths.

    Examples are sorted by length within random pools and cut into batches, which are shuffled.
    Unlike with the Trainer's own sampler, the order of an epoch depends only on the seed and the
    epoch's number, so training can resume in the middle of any epoch.

    Args:
        lengths: [examples].
        batch_size: Examples per batch; the last batch of an epoch may be smaller.
        seed: Seed of the order.
    """

    def __init__(self, lengths: np.ndarray, batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed, self.epoch = lengths, batch_size, seed, 0

    def __len__(self) -> int:
        return len(self.lengths)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next pass; the Trainer calls this."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, self.epoch])
        # Pools as in transformers: 50 batches, fewer if that would leave less than four pools.
        pool = max(1, min(len(self.lengths) // (4 * self.batch_size), 50))
        return iter(_alike(-self.lengths, self.batch_size, pool, rng).tolist())
