"""Cross-validation of the pattern classifier (section 4.1).

Folds are stratified by class, and no sentence is in both the training and the test part of a fold,
because two heads' maps of the same sentence can be very similar. The network is compared with two
baselines: always the most frequent class, and a small model on hand-made features.

A run may classify maps of a model of which no maps were labelled. So, if the labelled maps are of
several models, the maps of each model are also classified by training on the other models only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.patterns import cnn
from darksecrets.patterns.annotations import Annotations
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.features import features
from darksecrets.patterns.quality import of_network
from darksecrets.patterns.tables import (
    EXAMPLE,
    FEATURES,
    MAJORITY,
    MODEL,
    NETWORK,
    PATTERN_PREDICTIONS,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Split = tuple[Integers, Integers]
Classify = Callable[[Annotations, Integers, Integers], Floats]
"""Train on the maps of the first rows and return [maps, classes] log probabilities, up to an
additive constant, for those of the second."""

_log = logging.getLogger(__name__)


def folds(annotations: Annotations, count: int, seed: int) -> Integers:
    """[maps] number of the fold, from 1, in which each map is tested."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed)
    numbers = np.zeros(len(annotations.table), dtype=np.int64)
    splits = splitter.split(numbers, annotations.labels, annotations.groups)
    for number, (_, tested) in enumerate(splits, start=1):
        numbers[tested] = number
    return numbers


def cross_validate(annotations: Annotations, count: int, training: cnn.Training) -> pd.DataFrame:
    """Classify every labelled map by classifiers that were not trained on its example, or model.

    Args:
        annotations: Labelled maps.
        count: Number of folds.
        training: Settings of the network's training; its seed is also that of the folds.

    Returns:
        The table `PATTERN_PREDICTIONS`: a row per classifier, map and what was left out of the
        training. A model is left out only if the maps of the others have at least two classes.
        Probabilities are calibrated, see `_calibrate`.
    """
    classifiers: dict[str, Classify] = {
        NETWORK: lambda data, learned, tested: _network(data, learned, tested, training),
        FEATURES: lambda data, learned, tested: _features(data, learned, tested, training.seed),
        MAJORITY: _majority,
    }
    parts = {
        EXAMPLE: _by_fold(folds(annotations, count, training.seed)),
        MODEL: _by_model(annotations),
    }
    tables = []
    for name, classify in classifiers.items():
        inside, outside = (
            _table(annotations, splits, classify).assign(classifier=name, left_out=left_out)
            for left_out, splits in parts.items()
        )
        for table in (inside, outside):
            table[probability_columns()] = softmax(_calibrate(table, inside))
        tables += [table for table in (inside, outside) if len(table)]
    return pd.concat(tables, ignore_index=True)[list(PATTERN_PREDICTIONS.names)]


def _by_fold(numbers: Integers) -> list[Split]:
    """Training rows and test rows of every fold."""
    counted = range(1, numbers.max() + 1)
    return [(np.flatnonzero(numbers != one), np.flatnonzero(numbers == one)) for one in counted]


def _by_model(annotations: Annotations) -> list[Split]:
    """For every model: rows of the other models without the tested sentences, and its own rows."""
    models, groups = annotations.table["model"].to_numpy(), annotations.groups
    labels = np.array(annotations.labels)
    splits = []
    for model in pd.unique(models):
        tested = models == model
        learned = ~tested & ~np.isin(groups, groups[tested])
        if len(set(labels[learned])) > 1:
            splits.append((np.flatnonzero(learned), np.flatnonzero(tested)))
    return splits


def _table(annotations: Annotations, splits: Sequence[Split], classify: Classify) -> pd.DataFrame:
    """Outputs of a classifier for the test maps of all splits."""
    known = annotations.table[["map", "model", "label"]].assign(example=annotations.groups)
    tables = [pd.DataFrame(columns=[*known.columns, "fold", "predicted", *logit_columns()])]
    for number, (learned, tested) in enumerate(splits, start=1):
        outputs = classify(annotations, learned, tested)
        guesses = np.array(list(PATTERNS))[outputs.argmax(axis=1)]
        table = known.iloc[tested].assign(fold=number, predicted=guesses)
        table[logit_columns()] = outputs
        tables.append(table)
        _log.info("Classified split %d of %d", number, len(splits))
    return pd.concat(tables[1:] or tables).sort_index(kind="stable")


def logit_columns() -> list[str]:
    """Names of the columns with logits, in the order of the classes."""
    return [f"logit_{name}" for name in PATTERNS]


def probability_columns() -> list[str]:
    """Names of the columns with probabilities, in the order of the classes."""
    return [f"probability_{name}" for name in PATTERNS]


def _network(
    data: Annotations, learned: Integers, tested: Integers, training: cnn.Training
) -> Floats:
    pictures = cnn.images(data.maps)
    net = cnn.train(pictures[learned], [data.labels[i] for i in learned], training)
    return cnn.logits(net, pictures[tested])


def _features(data: Annotations, learned: Integers, tested: Integers, seed: int) -> Floats:
    """Gradient-boosted trees on hand-made features, with the network's class weights."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    values = feature_table(data)
    labels = np.array(data.labels)
    model = HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)
    model.fit(values[learned], labels[learned])
    outputs = np.full((len(tested), len(PATTERNS)), _IMPOSSIBLE)
    places = [list(PATTERNS).index(name) for name in model.classes_]
    outputs[:, places] = np.log(model.predict_proba(values[tested]).clip(np.exp(_IMPOSSIBLE)))
    return outputs


_IMPOSSIBLE = -30.0  # log probability of a class that was not learned


def feature_table(data: Annotations) -> Floats:
    """[maps, features] hand-made features of all maps."""
    marks = zip(data.table["special"], data.table["segments"], strict=True)
    rows = [
        features(one, _digits(special) == 1, _digits(segments))
        for one, (special, segments) in zip(data.maps, marks, strict=True)
    ]
    return np.stack(rows)


def _digits(text: str) -> Integers:
    return np.array([int(digit) for digit in text], dtype=np.int64)


def _majority(data: Annotations, learned: Integers, tested: Integers) -> Floats:
    """The class shares of the training maps, for every map."""
    counts = pd.Series([data.labels[i] for i in learned]).value_counts().reindex(list(PATTERNS))
    shares = counts.fillna(0).to_numpy() / len(learned)
    return np.tile(np.log(shares.clip(np.exp(_IMPOSSIBLE))), (len(tested), 1))


def softmax(outputs: Floats) -> Floats:
    """Probabilities from logits, over the last axis."""
    powers = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    probabilities: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return probabilities


def temperature(outputs: Floats, labels: Sequence[str]) -> float:
    """The temperature that maximizes the likelihood of the labels.

    Args:
        outputs: [maps, classes] logits of maps that the classifier was not trained on.
        labels: [maps] their classes.
    """
    from scipy.optimize import minimize_scalar

    places = [list(PATTERNS).index(label) for label in labels]
    rows = np.arange(len(places))

    def loss(logarithm: float) -> float:
        probabilities = softmax(outputs / np.exp(logarithm))[rows, places]
        return float(-np.log(probabilities.clip(np.finfo(float).tiny)).mean())

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded")
    return float(np.exp(best.x))


def _calibrate(table: pd.DataFrame, folds: pd.DataFrame) -> Floats:
    """Logits divided by a temperature that was fitted without the test maps.

    Args:
        table: Outputs of one classifier.
        folds: Its cross-validation over folds. The temperature for the test maps of a split of
            ``table`` is fitted to the outputs in ``folds`` for the other maps: those of the other
            folds, or of the models in the training set.

    Returns:
        [maps, classes].
    """
    calibrated = table[logit_columns()].to_numpy(np.float64)
    for number in table["fold"].unique():
        tested = (table["fold"] == number).to_numpy()
        others = folds[~folds["map"].isin(table["map"][tested])]
        calibrated[tested] /= temperature(others[logit_columns()].to_numpy(), list(others["label"]))
    return calibrated


def network_temperature(predictions: pd.DataFrame) -> float:
    """The temperature that calibrates the network, from all folds."""
    rows = of_network(predictions)
    return temperature(rows[logit_columns()].to_numpy(), list(rows["label"]))
