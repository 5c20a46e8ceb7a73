"""How often models of entailment are right where a heuristic is wrong (McCoy et al. 2019)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.inputs.hans import ENTAILMENT, OTHER, Hans
from darksecrets.beyond.inputs.measure import logits_of
from darksecrets.core.data import metrics
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.devices import place
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.stats.ratios import share
from darksecrets.paper.finetuning.baselines import bag_of_words


def words_of_task(task: Task, dataset: Path, hans: Hans) -> np.ndarray:
    """[examples] whether a bag of words that is trained on a task says *entailment*."""
    from datasets import load_from_disk

    train = load_from_disk(str(dataset))["train"]
    columns = {name: train[name] for name in (*task.columns, "label")}
    return np.asarray(bag_of_words(columns, hans.columns, task) == task.labels.index(ENTAILMENT))


def hans_rows(reading: Reading, task: Task, hans: Hans, words: np.ndarray) -> pd.DataFrame:
    """Rows of `HANS` of one fine-tuned model.

    Every other label of the task counts as *non-entailment*, as in the paper.

    Args:
        reading: The model.
        task: Its task.
        hans: The examples.
        words: See `words_of_task`.
    """
    loaded, _ = load_classifier(reading.folder, task, seed=0)
    tokenizer = load_tokenizer(reading.folder)
    logits = logits_of(place(loaded), tokenizer, hans.columns, reading)
    said = metrics.predict(task, logits) == task.labels.index(ENTAILMENT)
    rows = []
    for heuristic in dict.fromkeys(hans.heuristic.tolist()):
        for label, entailed in ((ENTAILMENT, True), (OTHER, False)):
            own = (hans.heuristic == heuristic) & (hans.entailed == entailed)
            if own.any():
                right = (said[own] == entailed).astype(np.float64)
                rows.append(
                    {
                        "heuristic": heuristic,
                        "label": label,
                        **share(right, np.ones(len(right))).columns("accuracy", 0, 1),
                        "bag_of_words": float((words[own] == entailed).mean()),
                        "examples": int(own.sum()),
                    }
                )
    return pd.DataFrame(rows)
