"""Quality of classifiers of patterns: scores, intervals, calibration (section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.stats.correlation import ratio
from darksecrets.core.stats.resampling import cluster_weights, interval
from darksecrets.paper.patterns.classes import PATTERNS, Definition
from darksecrets.paper.patterns.tables import BY_CLASS, EXAMPLE, MODEL, OVERALL, PATTERN_CV

ALL = "all"
BINS = 10  # of probabilities, for the calibration


def predictions_of(
    classifier: str,
    predictions: pd.DataFrame,
    left_out: str,
    definition: Definition | None = None,
) -> pd.DataFrame:
    """The predictions of a classifier.

    Args:
        classifier: Its name.
        predictions: The table `PATTERN_PREDICTIONS`.
        left_out: `EXAMPLE` or `MODEL`: what it was not trained on.
        definition: Of the classes; both if None.
    """
    rows = (predictions["classifier"] == classifier) & (predictions["left_out"] == left_out)
    if definition is not None:
        rows &= predictions["definition"] == definition
    return predictions[rows].reset_index(drop=True)


def unseen(encoder: str) -> str:
    """Name, in the scores, of the maps of an encoder that was left out of the training."""
    return f"unseen {encoder}"


def confusion(table: pd.DataFrame, weights: Values | None = None) -> Floats:
    """Maps by label and predicted class.

    Args:
        table: A row per map, columns ``label`` and ``predicted``.
        weights: [..., maps] how often each map counts; once if None.

    Returns:
        [..., label, predicted] numbers of maps.
    """
    names = list(PATTERNS)
    labels, predicted = (table[column].map(names.index).to_numpy() for column in _COLUMNS)
    cells = np.eye(len(names) ** 2)[labels * len(names) + predicted]
    counts = cells.sum(axis=0) if weights is None else np.asarray(weights, np.float64) @ cells
    return counts.reshape(*counts.shape[:-1], len(names), len(names))


_COLUMNS = ("label", "predicted")


def scores(table: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    """Scores of every classifier with bootstrap intervals over examples.

    Intervals take the labels for the truth. The calibration error gets none: its bootstrap is
    biased upwards, because resamples are less even than the maps that they are drawn from.

    Args:
        table: Predictions from `crossvalidation.cross_validate`.
        resamples: Number of resamples for the intervals; all classifiers have the same ones.
        seed: Seed of the resamples.

    Returns:
        The table `PATTERN_CV`. ``maps_of`` is ``ALL``; if the maps are of several encoders, each of
        them; and, for training on the other encoders only, each as `unseen` names it.
    """
    parts = []
    for maps_of, some in _parts(table):
        resample = _resampler(resamples, seed)
        for (definition, name), rows in some.groupby(["definition", "classifier"], sort=False):
            value, low, high = _estimate(rows, resample)
            part = pd.DataFrame(_keys(rows), columns=["metric", "pattern", "maps"])
            part = part.assign(maps_of=maps_of, definition=str(definition), classifier=str(name))
            for column, numbers in {"score": value, "ci_low": low, "ci_high": high}.items():
                part[column] = PERCENT * numbers
            part.loc[part["metric"] == "calibration_error", ["ci_low", "ci_high"]] = np.nan
            parts.append(part.dropna(subset="score"))
    return pd.concat(parts, ignore_index=True)[list(PATTERN_CV.names)]


Resample = Callable[[Values], Integers]


def _resampler(resamples: int, seed: int) -> Resample:
    """A function that draws resamples of examples; the same for the same examples, drawn once."""
    known: dict[bytes, Integers] = {}

    def resample(examples: Values) -> Integers:
        key = examples.tobytes()
        if key not in known:
            known[key] = cluster_weights(resamples, examples, np.random.default_rng(seed))
        return known[key]

    return resample


def _estimate(rows: pd.DataFrame, resample: Resample) -> tuple[Floats, Floats, Floats]:
    """Scores of one classifier with their intervals, each in the order of `_keys`."""
    rows = rows.sort_values("map")
    weights = resample(rows["example"].to_numpy())
    value = _values(rows, np.ones((1, len(rows))))[0]
    low, high = interval(_values(rows, weights, calibration=False))
    return value, low, high


def _parts(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The sets of predictions to score, with their names."""
    inside, outside = (table[table["left_out"] == left_out] for left_out in (EXAMPLE, MODEL))
    yield ALL, inside
    if inside["encoder"].nunique() > 1:
        yield from ((str(one), rows) for one, rows in inside.groupby("encoder", sort=False))
    yield from ((unseen(str(one)), rows) for one, rows in outside.groupby("encoder", sort=False))


def _keys(rows: pd.DataFrame) -> list[tuple[str, str, int]]:
    counts = rows["label"].value_counts()
    single = [(metric, name, int(counts.get(name, 0))) for metric in BY_CLASS for name in PATTERNS]
    return [*((metric, "", len(rows)) for metric in OVERALL), *single]


def _values(rows: pd.DataFrame, weights: Values, *, calibration: bool = True) -> Floats:
    """[resamples, scores] in the order of `_keys`; the score of a class without maps is 0.

    Without ``calibration``, its error, which takes half of the time, is NaN.
    """
    error = calibration_error(rows, weights) if calibration else np.full(len(weights), np.nan)
    return _insert_calibration(_scores_of_counts(confusion(rows, weights)), error)


def _insert_calibration(scores: Floats, error: Floats) -> Floats:
    """Put the calibration error where `_keys` has it."""
    return np.insert(scores, OVERALL.index("calibration_error"), error, axis=1)


def _scores_of_counts(counts: Floats) -> Floats:
    """[resamples, scores] all but the calibration error, from counts [resamples, label, class]."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    labelled, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    precision, recall = ratio(hits, predicted), ratio(hits, labelled)
    f1 = ratio(2 * hits, labelled + predicted)
    total = labelled.sum(axis=-1)
    present = labelled > 0
    overall = [
        hits.sum(axis=-1) / total,
        (f1 * labelled).sum(axis=-1) / total,
        (f1 * present).sum(axis=-1) / present.sum(axis=-1),
    ]
    return np.concatenate([np.stack(overall, axis=-1), precision, recall, f1], axis=-1)


def bins(table: pd.DataFrame, weights: Values) -> tuple[Floats, Floats, Floats]:
    """Number, confidence and accuracy of maps, binned by the probability of the predicted class.

    Args:
        table: Predictions of one classifier.
        weights: [resamples, maps] how often each map counts.

    Returns:
        Three arrays [resamples, BINS]: number of maps, sum of their probabilities, and number of
        maps that are classified correctly.
    """
    sure = table.filter(like="probability_").max(axis=1).to_numpy(np.float64)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    inside = np.eye(BINS)[place]
    right = (table["label"] == table["predicted"]).to_numpy()
    counted = np.asarray(weights, np.float64)
    numbers, sums, hits = (
        counted @ (inside * column[:, None]) for column in (np.ones(len(sure)), sure, right)
    )
    return numbers, sums, hits


def calibration_error(table: pd.DataFrame, weights: Values) -> Floats:
    """[resamples] expected calibration error; NaN without probabilities.

    This is the mean absolute difference between confidence and accuracy over `BINS` bins of the
    probability, weighted by their numbers of maps.
    """
    if table.filter(like="probability_").isna().to_numpy().any():
        return np.full(len(weights), np.nan)
    numbers, sums, hits = bins(table, weights)
    return np.abs(sums - hits).sum(axis=-1) / numbers.sum(axis=-1)
