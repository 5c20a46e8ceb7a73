"""How many decisions of a fine-tuned model stay the same on changed inputs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.beyond.inputs.changes import Annotations, change_all
from darksecrets.beyond.inputs.declared import CHANGES, EMPTY, TOLERANCE, Settings
from darksecrets.core.arrays import Flags, Floats
from darksecrets.core.attention.extraction import (
    batches_for,
    batches_of,
    encode_longest_first,
    pad,
    read_sample,
)
from darksecrets.core.data import metrics
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.devices import place
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.ratios import ratio, share
from darksecrets.paper.finetuning.baselines import bag_of_words


@dataclass(frozen=True)
class Examples:
    """Intact and changed examples of a task, and what a bag of words says of them.

    Attributes:
        task: The task.
        columns: Sentences of the intact examples.
        changed: By change, its sentences; and [examples] to which of them it applies.
        words: What a bag of words predicts: of the intact examples as ``""``, and by change.
    """

    task: Task
    columns: Mapping[str, list[str]]
    changed: Mapping[str, tuple[Mapping[str, list[str]], Flags]]
    words: Mapping[str, np.ndarray]


def read_examples(
    task: Task, dataset: Path, sample: Sequence[int], annotation: Path | None, settings: Settings
) -> Examples:
    """Change the sampled validation examples of a task.

    Args:
        task: The task.
        dataset: Its data, see the data contract.
        sample: Numbers of validation examples.
        annotation: Their annotated words, if the run has them.
        settings: How many are changed.
    """
    from datasets import load_from_disk

    wanted = sorted(sample)
    if len(wanted) > settings.examples:
        rng = np.random.default_rng(settings.seed)
        wanted = sorted(rng.choice(wanted, settings.examples, replace=False).tolist())
    chosen = read_sample(dataset, wanted)
    columns = {name: chosen[name] for name in task.columns}
    annotations: Annotations | None = None
    if annotation is not None:
        with annotation.open(encoding="utf-8") as stream:
            by_idx = {each["idx"]: each for each in map(json.loads, stream)}
        annotations = [by_idx[idx] for idx in wanted]
    found = change_all(columns, annotations, settings.seed)
    changed = {name: (each.columns, each.examples) for name, each in found.items()}
    train = load_from_disk(str(dataset))["train"]
    parts: dict[str, Mapping[str, list[str]]] = {"": columns}
    parts |= {name: texts for name, (texts, _) in changed.items()}
    return Examples(
        task=task,
        columns=columns,
        changed=changed,
        words=_bag_of_words({name: train[name] for name in (*task.columns, "label")}, parts, task),
    )


def _bag_of_words(
    train: Mapping[str, Any], parts: Mapping[str, Mapping[str, list[str]]], task: Task
) -> dict[str, np.ndarray]:
    """Predictions of one bag of words for lists of examples; a missing sentence is empty."""
    sizes = {name: len(columns["sentence1"]) for name, columns in parts.items()}
    joined = {
        column: [
            text
            for name, columns in parts.items()
            for text in columns.get(column, [""] * sizes[name])
        ]
        for column in task.columns
    }
    empty = {column: [*texts, ""] for column, texts in joined.items()}
    predicted = bag_of_words(train, empty, task)
    ends = np.cumsum(list(sizes.values()))
    found = dict(zip(sizes, np.split(predicted[:-1], ends[:-1]), strict=True))
    return {**found, EMPTY: np.repeat(predicted[-1:], sizes[""])}


def measure(reading: Reading, examples: Examples) -> pd.DataFrame:
    """Rows of `CHANGED_INPUTS` of one fine-tuned model.

    Args:
        reading: The model.
        examples: Intact and changed examples.
    """
    task, tokenizer = examples.task, load_tokenizer(reading.folder)
    loaded, _ = load_classifier(reading.folder, task, seed=0)
    model = place(loaded)
    intact = logits_of(model, tokenizer, examples.columns, reading)
    rows = []
    for change in CHANGES:
        if change == EMPTY:
            same = answer_without_words(model, tokenizer, pairs=len(task.columns) > 1)
            new, kept = np.repeat(same, len(intact), axis=0), np.ones(len(intact), dtype=bool)
        elif change in examples.changed and examples.changed[change][1].any():
            texts, kept = examples.changed[change]
            new = logits_of(model, tokenizer, texts, reading)
        else:
            continue
        words = examples.words[""][kept], examples.words[change]
        rows.append({"change": change, **compare(task, intact[kept], new, words)})
    return pd.DataFrame(rows)


def logits_of(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    columns: Mapping[str, list[str]],
    reading: Reading,
) -> np.ndarray:
    """[examples, outputs] of a classifier, in the order of the examples."""
    table, inputs = encode_longest_first(columns, tokenizer, reading.max_length, tolerant=True)
    lengths, parts = [len(ids) for ids in inputs["input_ids"]], []
    with progress("Changed inputs", len(lengths), "examples") as advance:
        for batch in batches_for(model, batches_of(len(lengths), reading.batch_size), lengths):
            padded = pad(inputs, batch, tokenizer.pad_token_id)
            with torch.inference_mode():
                given = devices.move(padded, model.device)
                parts.append(model(**given).logits.float().cpu().numpy())
            advance(len(batch))
    order = np.argsort(table["idx"].to_numpy())
    return np.concatenate(parts)[order]


def answer_without_words(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, pairs: bool
) -> np.ndarray:
    """[1, outputs] what a classifier says of special tokens alone."""
    # As lists: of a single pair, an empty second sentence counts as none, with its [SEP].
    columns = [[""], [""]] if pairs else [[""]]
    inputs = tokenizer(*columns, return_tensors="pt").to(model.device)
    with torch.inference_mode():
        found: np.ndarray = model(**inputs).logits.float().cpu().numpy()
    return found


def compare(
    task: Task,
    intact: np.ndarray,
    new: np.ndarray,
    words: tuple[np.ndarray, np.ndarray],
) -> dict[str, Any]:
    """What stays of the decisions on some examples.

    Args:
        task: Their task.
        intact: [examples, outputs] on the intact inputs.
        new: [examples, outputs] on the changed inputs.
        words: [examples] what a bag of words says of the intact, and of the changed ones.
    """
    before, after = metrics.predict(task, intact), metrics.predict(task, new)
    ones = np.ones(len(intact))
    row: dict[str, Any] = {
        **share(is_same(task, before, after).astype(np.float64), ones).columns("unchanged", 0, 1),
        "by_chance": float(np.mean([is_same(task, before, one).mean() for one in after])),
        "bag_of_words": float(is_same(task, *words).mean()),
        "confidence_kept": math.nan,
        "confidence_kept_low": math.nan,
        "confidence_kept_high": math.nan,
        "examples": len(intact),
    }
    if not task.is_regression:
        sure, now = greatest_probability(intact), greatest_probability(new)
        row |= ratio(now, sure).columns("confidence_kept", 0)
    return row


def is_same(task: Task, before: np.ndarray, after: np.ndarray) -> Flags:
    """[examples] whether a decision is the same."""
    if task.label_range is None:
        return np.asarray(before == after)
    low, high = task.label_range
    return np.asarray(np.abs(before - after) <= TOLERANCE * (high - low))


def greatest_probability(logits: np.ndarray) -> Floats:
    """[examples] the probability of the decision."""
    return torch.softmax(torch.from_numpy(logits).double(), dim=1).amax(dim=1).numpy()
