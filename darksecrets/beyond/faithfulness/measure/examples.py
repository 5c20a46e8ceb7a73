"""The examples whose decisions are explained: encoded, with labels and kinds of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from darksecrets.core.arrays import Flags, Integers, Values
from darksecrets.core.attention.extraction import (
    Inputs,
    encode_longest_first,
    pad,
    read_sample,
)
from darksecrets.core.attention.punctuation import punctuation
from darksecrets.core.data.batches import MASK
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR, TOKEN_KINDS, WORD


@dataclass(frozen=True)
class Examples:
    """Encoded examples, longest first.

    Attributes:
        idx: [examples] the data set's number of each.
        labels: [examples] integers for classes, float32 for regression.
        kinds: For each example, [L] number of every token's kind in `TOKEN_KINDS`.
        inputs: The model's inputs: for each example, [L].
        padding: Number of the padding token.
    """

    idx: Integers
    labels: Values
    kinds: list[Integers]
    inputs: Inputs
    padding: int

    def __len__(self) -> int:
        return len(self.idx)

    @property
    def lengths(self) -> list[int]:
        """Tokens of each example, special ones included."""
        return [len(kinds) for kinds in self.kinds]

    def ordinary(self, example: int) -> Integers:
        """Places of the tokens of an example that are not special."""
        special = [TOKEN_KINDS.index(name) for name in (FIRST, SEPARATOR)]
        return np.flatnonzero(~np.isin(self.kinds[example], special))

    def batch(self, rows: Sequence[int]) -> dict[str, torch.Tensor]:
        """The model's inputs for some examples, [example, token], padded on the right."""
        some = {name: [of[row] for row in rows] for name, of in self.inputs.items()}
        inputs = pad(some, range(len(rows)), self.padding)
        real = torch.zeros_like(inputs["input_ids"])
        for place, row in enumerate(rows):
            real[place, : len(self.kinds[row])] = 1
        return {**inputs, MASK: real}


def read(
    dataset: Path,
    sample: Sequence[int],
    tokenizer: PreTrainedTokenizerBase,
    task: Task,
    *,
    size: int,
    seed: int,
    max_length: int,
) -> Examples:
    """Read some of the sampled validation examples of a task.

    Args:
        dataset: The task's data.
        sample: The ``idx`` of the sampled examples.
        tokenizer: That of the model.
        task: The task, which determines the type of the labels.
        size: How many of the sampled examples are drawn; all, if there are fewer.
        seed: Seed of the draw.
        max_length: Longest sequence kept, in tokens.
    """
    from datasets import load_from_disk

    sampled = read_sample(dataset, sample)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(sampled["idx"]))[:size]).tolist()
    examples = {name: [values[row] for row in chosen] for name, values in sampled.items()}
    table, inputs = encode_longest_first(examples, tokenizer, max_length)
    split = load_from_disk(str(dataset))["validation"]
    labels = dict(zip(split["idx"], split["label"], strict=True))
    marks = punctuation(table, examples)
    kinds = [
        _kinds(np.asarray(special, dtype=bool), flags)
        for special, flags in zip(table["special"], marks, strict=True)
    ]
    kind_of_label = np.float32 if task.is_regression else np.int64
    wanted = np.array([labels[idx] for idx in table["idx"]], dtype=kind_of_label)
    return Examples(table["idx"].to_numpy(), wanted, kinds, inputs, tokenizer.pad_token_id)


def _kinds(special: Flags, marks: Flags) -> Integers:
    """[L] numbers of kinds in `TOKEN_KINDS`."""
    kinds = np.where(marks, TOKEN_KINDS.index(PUNCTUATION), TOKEN_KINDS.index(WORD))
    kinds[special] = TOKEN_KINDS.index(SEPARATOR)
    if special[0]:
        kinds[0] = TOKEN_KINDS.index(FIRST)
    return kinds
