"""Baselines that read words but no sentences: the bag of words, and the commonest label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from darksecrets.tasks import TASKS

Columns = Mapping[str, Sequence[Any]]


def _scores(name: str, predictions: Sequence[float], labels: Sequence[float]) -> dict[str, float]:
    """The task's metrics, in [-1, 1]; a correlation with constant predictions is 0."""
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import accuracy_score, f1_score

    if TASKS[name].is_regression:
        if len(set(predictions)) < 2 or len(set(labels)) < 2:
            return {"pearson": 0.0, "spearman": 0.0}
        return {
            "pearson": float(pearsonr(predictions, labels)[0]),
            "spearman": float(spearmanr(predictions, labels)[0]),
        }
    scores = {"accuracy": float(accuracy_score(labels, predictions))}
    if "f1" in TASKS[name].metrics:
        scores["f1"] = float(f1_score(labels, predictions))
    return scores


def bag_of_words(train: Columns, validation: Columns, name: str, seed: int = 0) -> dict[str, float]:
    """Logistic regression (ridge regression for STS-B) on the counts of each sentence's words.

    Args:
        train: Columns ``sentence1``, ``sentence2`` (of pairs) and ``label``.
        validation: The same columns, to score.
        name: The task.
        seed: Seed of the solver.

    Returns:
        The task's metrics, named as in its registry, in [-1, 1].
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    blocks: dict[str, list[Any]] = {"train": [], "validation": []}
    for column in TASKS[name].columns:
        # Marks and one-letter words count as words too.
        vectorizer = CountVectorizer(token_pattern=r"\w+|[^\w\s]")
        blocks["train"].append(vectorizer.fit_transform(train[column]))
        blocks["validation"].append(vectorizer.transform(validation[column]))
    features = {split: hstack(parts).tocsr() for split, parts in blocks.items()}
    if TASKS[name].is_regression:
        model = Ridge(alpha=10.0, random_state=seed)
    else:
        model = LogisticRegression(max_iter=2000, random_state=seed)
    model.fit(features["train"], list(train["label"]))
    predictions = model.predict(features["validation"]).tolist()
    return _scores(name, predictions, list(validation["label"]))


def majority(train: Columns, validation: Columns, name: str) -> dict[str, float]:
    """Always the commonest label of the training set (its mean for STS-B)."""
    labels = list(train["label"])
    if TASKS[name].is_regression:
        guess: float = sum(labels) / len(labels)
    else:
        guess = Counter(labels).most_common(1)[0][0]
    truth = list(validation["label"])
    return _scores(name, [guess] * len(truth), truth)
