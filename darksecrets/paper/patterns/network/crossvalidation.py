"""Cross-validation of the pattern classifier (section 4.1).

Folds are stratified by class, and no sentence is in both the training and the test part of a fold,
because two heads' maps of the same sentence can be very similar.

A run may classify maps of an encoder of which no maps were labelled. So, if the labelled maps are
of several encoders, the maps of each are also classified by training on the others only. This is
the score that counts for an encoder without labelled maps.

The network is compared with the regression that teaches it, and with a second labelling.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import (
    DEFINITIONS,
    LENIENT,
    PATTERNS,
    STRICT,
    Definition,
)
from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.maps.mapset import strict_labels
from darksecrets.paper.patterns.network import cnn, teaching
from darksecrets.paper.patterns.network.kinds import members
from darksecrets.paper.patterns.network.quality import predictions_of
from darksecrets.paper.patterns.tables import (
    AGAIN,
    CNN,
    EXAMPLE,
    FEATURES,
    MODEL,
    PATTERN_PREDICTIONS,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Split = tuple[Integers, Integers]

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
    """Classify every labelled map by classifiers that were not trained on its example, or encoder.

    Args:
        annotations: Labelled maps.
        count: Number of folds.
        training: Settings of the network's training; its seed is also that of the folds and of the
            composed maps.

    Returns:
        The table `PATTERN_PREDICTIONS`. An encoder is left out only if the maps of the others have
        at least two classes. A definition has rows for the maps whose class under it is known.

    Raises:
        InputError: Without the maps of a fold, those that are left have one class.
    """
    prepared = teaching.Prepared.of(annotations, training.seed)
    drawn = teaching.prepare_drawn(training)
    parts = {
        EXAMPLE: _split_by_fold(folds(annotations, count, training.seed), annotations.labels),
        MODEL: _split_by_encoder(annotations),
    }
    tables = []
    for left_out, splits in parts.items():
        if not splits:
            continue
        found = {
            FEATURES: _feature_outputs(prepared, splits),
            CNN: _network_outputs(prepared, splits, drawn, training),
        }
        for name, outputs in found.items():
            table = _table(annotations, splits, outputs)
            tables.append(table.assign(classifier=name, left_out=left_out))
        _log.info("Left out the %s", left_out)
    columns = list(PATTERN_PREDICTIONS.names)
    return pd.concat(tables, ignore_index=True)[columns]


def label_again(annotations: Annotations, labels: pd.DataFrame) -> pd.DataFrame:
    """The second labelling pass as if it predicted the first: how well people can do.

    Args:
        annotations: Labelled maps.
        labels: All labels given to them, see `MapSet`.

    Returns:
        Rows of the table `PATTERN_PREDICTIONS` for the maps that both passes labelled.
    """
    given = labels.assign(strict=strict_labels(labels))
    passes = [
        given[given["pass"] == number].drop_duplicates("map", keep="last") for number in (1, 2)
    ]
    both = passes[0].merge(passes[1], on="map", suffixes=("_1", "_2"))
    known = annotations.table[["map", "state"]]
    known = known.assign(encoder=annotations.encoders, example=annotations.groups)
    tables = []
    for definition, left_out in itertools.product(DEFINITIONS, (EXAMPLE, MODEL)):
        name = "label" if definition == LENIENT else "strict"
        pair = both[["map"]].assign(label=both[f"{name}_1"], predicted=both[f"{name}_2"])
        pair = pair[(pair["label"] != "") & (pair["predicted"] != "")]
        table = known.merge(pair, on="map", validate="one_to_one")
        tables.append(table.assign(definition=definition, left_out=left_out))
    found = pd.concat(tables, ignore_index=True)
    found[[*probability_columns(), "temperature"]] = np.nan
    found = found.assign(classifier=AGAIN, fold=1)
    return found[list(PATTERN_PREDICTIONS.names)]


def _split_by_fold(numbers: Integers, labels: Sequence[str]) -> list[Split]:
    """Training rows and test rows of every fold."""
    counted = range(1, numbers.max() + 1)
    splits = [(np.flatnonzero(numbers != one), np.flatnonzero(numbers == one)) for one in counted]
    for number, (learned, _) in enumerate(splits, start=1):
        classes = {labels[int(row)] for row in learned}
        if len(classes) < 2:
            raise InputError(
                f"Fold {number} of the labelled maps would be classified by training on "
                f"{', '.join(classes) or 'no class'} alone, expected maps of at least two classes "
                "outside every fold. Label maps of more classes and sentences, or use fewer folds "
                "(`patterns.folds`)."
            )
    return splits


def _split_by_encoder(annotations: Annotations) -> list[Split]:
    """For every encoder: rows of the others without the tested sentences, and its own rows."""
    names, groups = annotations.encoders, annotations.groups
    labels = np.array(annotations.labels)
    splits = []
    for name in pd.unique(names):
        tested = names == name
        learned = ~tested & ~np.isin(groups, groups[tested])
        if len(set(labels[learned])) > 1:
            splits.append((np.flatnonzero(learned), np.flatnonzero(tested)))
    return splits


def _feature_outputs(prepared: teaching.Prepared, splits: Sequence[Split]) -> Floats:
    """[maps, kinds] outputs of the regression for the test maps of all splits; NaN for others."""
    found = np.full(prepared.kinds.shape, np.nan)
    for learned, tested in splits:
        regression = teaching.train_regression(prepared, learned)
        found[tested] = regression(prepared.inputs.features[tested]).double().numpy()
    return found


def _network_outputs(
    prepared: teaching.Prepared,
    splits: Sequence[Split],
    drawn: teaching.Inputs,
    training: cnn.Training,
) -> Floats:
    """Likewise of the network."""
    found = np.full(prepared.kinds.shape, np.nan)
    for learned, tested in splits:
        net = teaching.train_network(prepared, learned, drawn, training)
        with torch.inference_mode():
            outputs = torch.log_softmax(net(prepared.inputs.images[tested]), dim=1)
        found[tested] = outputs.double().numpy()
    return found


_IMPOSSIBLE = -30.0  # log probability of a kind that was not learned


def _table(data: Annotations, splits: Sequence[Split], outputs: Floats) -> pd.DataFrame:
    """Calibrated predictions of one classifier under all definitions."""
    known = data.table[["map", "state", "label", "strict"]]
    known = known.assign(encoder=data.encoders, example=data.groups)
    tables = []
    degrees_of_splits = temperatures(outputs, known["label"].to_numpy(), splits)
    for number, (_, tested) in enumerate(splits, start=1):
        degrees = degrees_of_splits[number - 1]
        rows = known.iloc[tested].assign(fold=number, temperature=degrees)
        tables += [_read(rows, outputs[tested], definition, degrees) for definition in DEFINITIONS]
    return pd.concat(tables).sort_index(kind="stable")


def _read(
    rows: pd.DataFrame, outputs: Floats, definition: Definition, degrees: float
) -> pd.DataFrame:
    """Predictions under one definition, for the maps whose class under it is known."""
    chances = softmax(class_log_probabilities(outputs, definition) / degrees)
    table = rows.assign(definition=definition)
    table["label"] = table["strict"] if definition == STRICT else table["label"]
    table["predicted"] = np.array(list(PATTERNS))[chances.argmax(axis=1)]
    table[probability_columns()] = chances
    return table[table["label"] != ""]


def class_log_probabilities(outputs: Floats, definition: Definition) -> Floats:
    """[maps, classes] log probabilities from those of kinds, [maps, kinds]."""
    found: Floats = np.log((softmax(outputs) @ members(definition)).clip(min=np.exp(_IMPOSSIBLE)))
    return found


def probability_columns() -> list[str]:
    """Names of the columns with probabilities, in the order of the classes."""
    return [f"probability_{name}" for name in PATTERNS]


def softmax(outputs: Floats) -> Floats:
    """Probabilities from logits, over the last axis."""
    powers = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    probabilities: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return probabilities


def temperature(outputs: Floats, labels: Sequence[str]) -> float:
    """The temperature that maximizes the likelihood of the labels.

    Args:
        outputs: [maps, classes] log probabilities of maps that the classifier was not trained on.
        labels: [maps] their classes.
    """
    from scipy.optimize import minimize_scalar

    places = [list(PATTERNS).index(label) for label in labels]
    rows = np.arange(len(places))

    def loss(logarithm: float) -> float:
        chances = softmax(outputs / np.exp(logarithm))[rows, places]
        return float(-np.log(chances.clip(np.finfo(float).tiny)).mean())

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded")
    return float(np.exp(best.x))


def temperatures(
    outputs: Floats, labels: npt.NDArray[np.object_], splits: Sequence[Split]
) -> list[float]:
    """The temperature for the test maps of every split, fitted to those of the other splits.

    It is fitted under the lenient definition, in which every labelled map has a class. A class that
    a split was not trained on has no probability there, at any temperature; its maps are left out.

    Args:
        outputs: [maps, kinds] log probabilities of each map, in the split that tests it.
        labels: [maps] their classes.
        splits: Training rows and test rows of every split.

    Returns:
        A temperature for each split; 1, which changes nothing, if no map is left to fit it to.
    """
    read = class_log_probabilities(outputs, LENIENT)
    tested = [rows[np.isin(labels[rows], labels[learned])] for learned, rows in splits]
    found = []
    for number, own in enumerate(tested):
        others = [rows for place, rows in enumerate(tested) if place != number] or [own]
        rows = np.concatenate(others)
        found.append(temperature(read[rows], list(labels[rows])) if len(rows) else 1.0)
    return found


def mean_temperature(predictions: pd.DataFrame) -> float:
    """The temperature of the network that is trained on all maps.

    It is the mean over the encoders that were left out, because the classifier is less certain of
    what it says about another encoder's maps than about those of examples that were left out. If no
    encoder was left out, it is the mean over folds.
    """
    rows = predictions_of(CNN, predictions, MODEL)
    rows = rows if len(rows) else predictions_of(CNN, predictions, EXAMPLE)
    return float(rows.groupby("fold")["temperature"].first().mean())
