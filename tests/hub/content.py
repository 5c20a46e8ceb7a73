"""Content of the stand-in: a small GLUE repository and a tiny BERT."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from glue import GLUE, GLUE_COMMIT, TASKS, on_hub
from hub.standin import Repository

from darksecrets.core.data.tasks import Task

BERT = "example/bert-tiny"
BERT_COMMIT = "0123456789abcdef0123456789abcdef01234567"

RUN = {
    "run": "hub",
    "tasks": ["SST-2"],
    "data": {"source": "hub"},
    "model": {"source": "hub", "id": BERT, "revision": BERT_COMMIT},
}
"""A configuration with this model and data, but for the size of the sample."""

# So many examples that one without text is within the share that a source may have.
TRAIN, VALIDATION, TEST = 1200, 40, 30


def rows(task: Task, split: str, size: int) -> list[dict[str, Any]]:
    """Examples in the columns of the Hub; QQP's training split has one without a question."""
    texts = [
        {column: f'{split} {column} "{i}, of {task.name}' for column in task.text}
        for i in range(size)
    ]
    if task.name == "QQP" and split == "train":
        texts[7]["question2"] = " "
    labels = [i * 5 / size if task.is_regression else i % task.num_labels for i in range(size)]
    if split.startswith("test"):
        labels = [-1] * size
    return [
        {**text, "label": label, "idx": i}
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def splits(task: Task) -> dict[str, int]:
    """Splits of a configuration of the real repository, with their sizes here."""
    if task.name == "MNLI":
        matched = {"validation_matched": VALIDATION, "validation_mismatched": VALIDATION}
        return {"train": TRAIN, **matched, "test_matched": TEST, "test_mismatched": TEST}
    return {"train": TRAIN, "validation": VALIDATION, "test": TEST}


def parquet(task: Task, examples: list[dict[str, Any]]) -> bytes:
    """A parquet file with the schema and the metadata that the `datasets` library writes."""
    label = pa.float32() if task.is_regression else pa.int64()
    texts = [(column, pa.string()) for column in task.text]
    schema = pa.schema([*texts, ("label", label), ("idx", pa.int32())])
    features: dict[str, Any] = {c: {"dtype": "string", "_type": "Value"} for c, _ in texts}
    features["label"] = (
        {"dtype": "float32", "_type": "Value"}
        if task.is_regression
        else {"names": list(task.labels), "_type": "ClassLabel"}
    )
    features["idx"] = {"dtype": "int32", "_type": "Value"}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.Table.from_pylist(examples, schema=schema.with_metadata(metadata))
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def glue() -> Repository:
    """All seven configurations, each with its test splits, and the card that lists them."""
    files, configs = {}, []
    for task in map(on_hub, TASKS):
        config = task.data.config
        for split, size in splits(task).items():
            path = f"{config}/{split}-00000-of-00001.parquet"
            files[path] = parquet(task, rows(task, split, size))
        data = [{"split": split, "path": f"{config}/{split}-*"} for split in splits(task)]
        configs.append({"config_name": config, "data_files": data})
    card = {"pretty_name": "GLUE in small", "configs": configs}
    files["README.md"] = f"---\n{yaml.safe_dump(card)}---\n# GLUE in small\n".encode()
    return Repository("datasets", GLUE, GLUE_COMMIT, files)


def bert(folder: Path) -> Repository:
    """A BERT of 2 layers and 2 heads with random weights, saved below ``folder``."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{letter}" for letter in words[5:]]
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizer(vocab={word: i for i, word in enumerate(words)}).save_pretrained(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    files["pytorch_model.bin"] = b"a pickle, which nobody should download"
    return Repository("models", BERT, BERT_COMMIT, files)
