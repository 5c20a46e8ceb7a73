"""A fine-tuned model whose weights are changed, and the examples on which this is measured."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerBase

from darksecrets.core.data.batches import EncodedSplit, load_split
from darksecrets.core.data.tasks import Task


@dataclass(frozen=True)
class Finetuned:
    """Which model it is, and how examples are chosen.

    Attributes:
        task: Its task.
        state: ``finetuned`` or ``finetuned-from-normal``.
        seed: Seed of the fine-tuning.
        sample: Seed of the choice of examples.
        max_length: Longest sequence kept, in tokens.
    """

    task: Task
    state: str
    seed: int
    sample: int
    max_length: int

    @property
    def name(self) -> str:
        """Its name among the models of its task."""
        return f"{self.state}/seed-{self.seed}"

    def examples(
        self, dataset: Path, split: str, tokenizer: PreTrainedTokenizerBase, size: int | None
    ) -> EncodedSplit:
        """A random sample of a split of the task's data, see `sample`."""
        whole = load_split(dataset, split, tokenizer, self.task, self.max_length)
        return sample(whole, size, self.sample)


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
