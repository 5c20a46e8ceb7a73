"""Encoded examples in little memory, and batches of them padded to their longest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.data.encoding import encode

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from darksecrets.data.tasks import Task

MASK = "attention_mask"


@dataclass(frozen=True)
class EncodedSplit:
    """One split of a data set as numbers, each input of all examples in one flat array.

    Attributes:
        idx: [examples], the data set's own numbers.
        labels: [examples], integers for classes, float32 for regression.
        starts: [examples + 1], where each example begins in the flat arrays, and the end.
        inputs: By name of the model's input, [all tokens]; the attention mask follows from the
            lengths and is not kept.
        padding: By name of the input, the number that padding has.
    """

    idx: np.ndarray
    labels: np.ndarray
    starts: np.ndarray
    inputs: dict[str, np.ndarray]
    padding: dict[str, int]

    def __len__(self) -> int:
        return len(self.idx)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each example, special ones included, [examples]."""
        return np.diff(self.starts)

    def batch(self, rows: list[int]) -> dict[str, torch.Tensor]:
        """Inputs [len(rows), longest of them] and ``labels`` [len(rows)] of some examples."""
        lengths = self.lengths[rows]
        real = np.arange(lengths.max()) < lengths[:, None]
        pieces = [slice(self.starts[row], self.starts[row + 1]) for row in rows]
        tensors = {MASK: torch.from_numpy(real.astype(np.int64))}
        for name, flat in self.inputs.items():
            padded = np.full(real.shape, self.padding[name], dtype=np.int64)
            padded[real] = np.concatenate([flat[piece] for piece in pieces])
            tensors[name] = torch.from_numpy(padded)
        return {**tensors, "labels": torch.from_numpy(self.labels[rows])}

    def fingerprint(self) -> str:
        """SHA-256 of everything a model sees."""
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
    encoded = encode(columns, tokenizer, max_length)
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


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[list[int]]:
    """Rows of all examples in batches of similar length, the longest first."""
    order = np.argsort(-lengths, kind="stable").tolist()
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


class GroupedByLength(torch.utils.data.Sampler[int]):
    """Order of the training examples: random, but those in a batch are of similar length.

    Examples are sorted within random pools, cut into batches, and the batches shuffled. Unlike the
    Trainer's own sampler, an epoch's order follows from the seed and the epoch's number alone, so
    that training can resume in the middle of any epoch.

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
        """Choose the epoch that the next pass is; the Trainer calls this."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, self.epoch])
        count, size = len(self.lengths), self.batch_size
        # Pools as in transformers: 50 batches, fewer if that would leave less than four pools.
        pool = size * max(1, min(count // (4 * size), 50))
        order = rng.permutation(count)
        parts = [order[start : start + pool] for start in range(0, count, pool)]
        ordered = np.concatenate([p[np.argsort(-self.lengths[p], kind="stable")] for p in parts])
        whole = count - count % size
        batches = rng.permutation(ordered[:whole].reshape(-1, size))
        return iter([*batches.ravel().tolist(), *ordered[whole:].tolist()])
