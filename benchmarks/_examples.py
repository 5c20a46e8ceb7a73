"""An encoder and data as large as the paper's, for benchmarks without real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS = [f"word{number}" for number in range(1000)]
PARAMETERS = 12 * 12 * 768**2
"""Weights that a token is multiplied with in the layers of BERT-base."""
SETS = 1 + 144 + 12
"""Sets of heads that a sweep disables, with the empty one."""
NEEDED = 0.324
"""Share of their layers that depends on what is disabled, and so has to be computed."""

#: Mean and standard deviation of the logarithm of the number of word pieces, and the share of
#: examples: sentence pairs as in MRPC and RTE, single sentences as in SST-2 (measured).
LENGTHS = ((3.92, 0.28, 2 / 3), (3.06, 0.48, 1 / 3))
SHORTEST, LONGEST = 5, 128


def glue_lengths(examples: int, seed: int = 0) -> list[int]:
    """Draw numbers of tokens, sorted."""
    rng = np.random.default_rng(seed)
    means, deviations, shares = (np.array(column) for column in zip(*LENGTHS, strict=True))
    kind = rng.choice(len(LENGTHS), size=examples, p=shares)
    lengths = np.exp(rng.normal(means[kind], deviations[kind]))
    return sorted(np.clip(lengths.round(), SHORTEST, LONGEST).astype(int).tolist())


def save_encoder(folder: Path) -> None:
    """Save an encoder of BERT-base's shape with random weights, and a tokenizer of `WORDS`."""
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    numbers = {word: number for number, word in enumerate(vocabulary)}
    BertTokenizer(vocab=numbers, model_max_length=512).save_pretrained(folder)
    BertModel(BertConfig()).save_pretrained(folder)


def save_data(folder: Path, train: int, validation: int) -> None:
    """Save as many single sentences of random words, with two labels, in each split."""
    from datasets import Dataset, DatasetDict

    rng = np.random.default_rng(0)
    splits = {}
    for name, size in (("train", train), ("validation", validation)):
        lengths = rng.permutation(glue_lengths(size))
        texts = [" ".join(rng.choice(WORDS, size=length - 2)) for length in lengths]
        labels = [number % 2 for number in range(size)]
        columns = {"idx": range(size), "sentence1": texts, "label": labels}
        splits[name] = Dataset.from_dict(columns)
    DatasetDict(splits).save_to_disk(folder)
