"""Baselines that ignore sentence structure: bag of words, and the most frequent label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.core.data import metrics
from darksecrets.core.data.tasks import Task, sentence_columns
from darksecrets.core.data.words import words_of
from darksecrets.core.stats.units import numbered_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

Columns = Mapping[str, Sequence[Any]]


def bag_of_words(train: Columns, validation: Columns, task: Task) -> NDArray[np.generic]:
    """Logistic regression (ridge regression for STS-B) on the counts of each sentence's words.

    Where a script puts no spaces between words, characters are counted.

    Args:
        train: Columns ``sentence1``, ``sentence2`` (of pairs) and ``label``.
        validation: The same columns, to predict; labels are not used.
        task: The task.

    Returns:
        [examples] predictions.
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    blocks: dict[str, list[Any]] = {"train": [], "validation": []}
    for column in task.columns:
        # Punctuation marks and one-letter words are words, too.
        vectorizer = CountVectorizer(tokenizer=words_of, token_pattern=None)
        blocks["train"].append(vectorizer.fit_transform(train[column]))
        blocks["validation"].append(vectorizer.transform(validation[column]))
    features = {split: hstack(parts).tocsr() for split, parts in blocks.items()}
    model = Ridge(alpha=10.0) if task.is_regression else LogisticRegression(max_iter=2000)
    model.fit(features["train"], list(train["label"]))
    return model.predict(features["validation"])


def majority(train: Columns, validation: Columns, task: Task) -> NDArray[np.generic]:
    """Always predict the most frequent label of the training set (for STS-B, the mean).

    Of labels that are equally frequent, it is the first in the task's list.
    """
    labels = list(train["label"])
    if task.is_regression:
        guess: float = sum(labels) / len(labels)
    else:
        counts = Counter(labels)
        guess = min(counts, key=lambda label: (-counts[label], label))
    return np.full(len(validation["label"]), guess)


BASELINES = {"majority": majority, "bag of words": bag_of_words}


def evaluate_baselines(
    train: Columns, validation: Columns, task: Task
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the baselines on the validation split.

    Args:
        train: Columns ``sentence1``, ``sentence2`` (of pairs) and ``label``.
        validation: The same columns, and ``idx``.
        task: The task.

    Returns:
        Rows of `tables.BASELINES` and of `tables.BASELINE_PREDICTIONS`.
    """
    scores, predictions = [], []
    texts = numbered_texts(validation[column] for column in sentence_columns(validation))
    for name, predict in BASELINES.items():
        run = {"task": task.name, "baseline": name}
        predicted, labels = predict(train, validation, task), np.asarray(validation["label"])
        values = metrics.score(task, predicted, labels)
        scores += [{**run, "metric": m, "score": 100 * value} for m, value in values.items()]
        columns = {"idx": validation["idx"], "text": texts, "label": labels}
        columns |= {"prediction": predicted}
        predictions.append(pd.DataFrame({**run, **columns}))
    return pd.DataFrame(scores), pd.concat(predictions, ignore_index=True)
