"""Baselines that ignore sentence structure: bag of words, and the most frequent label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from darksecrets.data import metrics
from darksecrets.data.tasks import Task

Columns = Mapping[str, Sequence[Any]]


def bag_of_words(train: Columns, validation: Columns, task: Task) -> dict[str, float]:
    """Logistic regression (ridge regression for STS-B) on the counts of each sentence's words.

    Args:
        train: Columns ``sentence1``, ``sentence2`` (of pairs) and ``label``.
        validation: The same columns, to score.
        task: The task.

    Returns:
        The task's metrics by name, in [-1, 1].
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    blocks: dict[str, list[Any]] = {"train": [], "validation": []}
    for column in task.columns:
        # Punctuation marks and one-letter words are words, too.
        vectorizer = CountVectorizer(token_pattern=r"\w+|[^\w\s]")
        blocks["train"].append(vectorizer.fit_transform(train[column]))
        blocks["validation"].append(vectorizer.transform(validation[column]))
    features = {split: hstack(parts).tocsr() for split, parts in blocks.items()}
    model = Ridge(alpha=10.0) if task.is_regression else LogisticRegression(max_iter=2000)
    model.fit(features["train"], list(train["label"]))
    predictions = model.predict(features["validation"])
    return metrics.score(task, predictions, np.asarray(validation["label"]))


def majority(train: Columns, validation: Columns, task: Task) -> dict[str, float]:
    """Always predict the most frequent label of the training set (for STS-B, the mean)."""
    labels = list(train["label"])
    if task.is_regression:
        guess: float = sum(labels) / len(labels)
    else:
        guess = Counter(labels).most_common(1)[0][0]
    truth = np.asarray(validation["label"])
    return metrics.score(task, np.full(len(truth), guess), truth)
