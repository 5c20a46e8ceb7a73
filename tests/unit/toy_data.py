"""A task that a tiny BERT learns immediately, and the tiny BERT, for fine-tuning tests."""

from pathlib import Path

import numpy as np
import torch
from datasets import Dataset, DatasetDict
from tiny_models import WORDS, bert_tokenizer
from transformers import BertConfig, BertModel

from darksecrets.core.data.tasks import Task


def save_bert(folder: Path, dropout: float = 0.1) -> Path:
    """Save an encoder with random weights, as a pre-trained checkpoint."""
    tokenizer = bert_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_dataset(folder: Path, task: Task, train: int, validation: int) -> Path:
    """Save random sentences; the label is 1 where the first has a dog (STS-B: 5 times as many)."""
    rng = np.random.default_rng(0)
    words = [word for word in WORDS if not word.startswith("##") and word != "dog"]

    def split(count: int) -> Dataset:
        labels = rng.integers(0, 2, count)
        first = [
            " ".join([*rng.choice(words, rng.integers(1, 9)), "dog" if label else "bark"])
            for label in labels
        ]
        second = [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in labels]
        columns = dict(zip(("sentence1", "sentence2"), (first, second), strict=True))
        return Dataset.from_dict(
            {
                "idx": (100 + rng.permutation(count)).tolist(),
                **{name: columns[name] for name in task.columns},
                "label": (5.0 * labels if task.is_regression else labels).tolist(),
            }
        )

    DatasetDict(train=split(train), validation=split(validation)).save_to_disk(folder)
    return folder
