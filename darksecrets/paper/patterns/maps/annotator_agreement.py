"""Agreement of two labelling passes over the same maps: Cohen's kappa, under both definitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Integers
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.agreement import cohens_kappa
from darksecrets.core.stats.resampling import interval_of_known, multinomial_weights
from darksecrets.paper.patterns import classes
from darksecrets.paper.patterns.maps.mapset import (
    ANSWERS,
    SETTLED,
    MapSet,
    label_table,
    strict_labels,
)
from darksecrets.paper.patterns.tables import AGREEMENT, ALL, SHOWN

RESAMPLES = 2000
SETTLED_NAME = "settled labels"
"""Who is named as the annotator of a set's settled labels."""


def _lenient(labels: pd.DataFrame) -> pd.Series[str]:
    return labels["label"]


def _strict(labels: pd.DataFrame) -> pd.Series[str]:
    """The class under the strict definition, of labels with second answers.

    Without them it is known for some classes only; their agreement alone would mislead.
    """
    return strict_labels(labels).where(labels["columns"] != "", "")


CLASSES: dict[str, Callable[[pd.DataFrame], pd.Series[str]]] = {
    classes.LENIENT: _lenient,
    classes.STRICT: _strict,
}
"""The class of every label under a definition; empty where it is unknown."""


def compare_passes(mapset: MapSet, seed: int = 2019) -> pd.DataFrame:
    """Compare every two passes, of one annotator or of several, that have maps in common.

    Annotators who divided a pass among themselves, with no map in common, count as one. Pass
    ``SETTLED`` is left out, because it covers only the maps on which the others disagree.

    Args:
        mapset: Maps and labels.
        seed: Seed of the bootstrap over maps.

    Returns:
        The table `AGREEMENT`: for every two passes, over all maps and over each model's, and for
        each definition, Cohen's kappa with its 95 % interval; NaN where both passes gave every map
        the same class.

    Raises:
        InputError: No two passes have maps in common, or a pass has two labels for a map.
    """
    raters = _raters(mapset.labels[mapset.labels["pass"] < SETTLED])
    for rater, given in raters.items():
        if not given.index.is_unique:
            twice = given.index[given.index.duplicated()][0]
            raise InputError(f"{rater} gave two labels to the map {twice}. Remove one of them.")
    rows = []
    for first, second in itertools.combinations(raters, 2):
        for maps_of, maps in _maps_by_model(mapset.table).items():
            for definition, classify in CLASSES.items():
                confusion = _confusion(raters[first], raters[second], maps, classify)
                if confusion.sum():
                    names = (first, second, maps_of, definition)
                    rows.append((*names, *_describe(confusion, seed)))
    if not rows:
        known = "; ".join(raters) or "no labels"
        raise InputError(f"Labels: {known}. Agreement needs two passes with maps in common.")
    return pd.DataFrame(rows, columns=list(AGREEMENT.names))


def compare_with_set(mapset: MapSet, labelled: MapSet, seed: int = 2019) -> pd.DataFrame:
    """Compare labels of some maps of a set with the settled labels of the set.

    Args:
        mapset: Some of the set's maps, with labels that were given without seeing those of the set.
        labelled: The set.
        seed: See `compare_passes`.

    Returns:
        As `compare_passes`; the settled labels come first.

    Raises:
        InputError: No map is labelled yet.
    """
    if mapset.labels.empty:
        raise InputError("No map is labelled yet; agreement needs at least one label.")
    return compare_passes(replace(mapset, labels=_beside(mapset, labelled)), seed)


def confusions(mapset: MapSet, labelled: MapSet) -> pd.DataFrame:
    """Maps by settled class, in rows, and by the class that annotators gave (strict definition).

    As in `compare_passes`, the pass that settles disputed maps is left out.
    """
    settled = labelled.settled().set_index("map")["strict"]
    own = mapset.labels[mapset.labels["pass"] < SETTLED]
    given = _strict(own)
    first = own["map"].map(settled)
    known = (given != "") & (first != "")
    names = list(classes.PATTERNS)
    counts = pd.crosstab(first[known], given[known])
    return counts.reindex(index=names, columns=names, fill_value=0)


def _beside(mapset: MapSet, labelled: MapSet) -> pd.DataFrame:
    """The settled labels of a set as if an annotator had given them, and those of some maps."""
    own = mapset.labels[mapset.labels["pass"] < SETTLED]
    settled = labelled.settled()
    settled = settled[settled["map"].isin(own["map"])]
    first = label_table(
        [
            (*answers, SETTLED_NAME, own["pass"].min(), SHOWN, "")
            for answers in settled[["map", *ANSWERS]].itertuples(index=False)
        ]
    )
    return pd.concat([first, own], ignore_index=True)


def _raters(labels: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Labels by map, for each annotator and pass, or for a pass that annotators divided."""
    raters: dict[str, pd.DataFrame] = {}
    for number in sorted(labels["pass"].unique()):
        rows = labels[labels["pass"] == number].set_index("map")
        names = list(rows["annotator"].unique())
        given = rows.set_index("annotator", append=True).index.drop_duplicates()
        if given.get_level_values("map").is_unique:
            raters[f"{', '.join(names)} (pass {number})"] = rows
        else:
            whose = rows["annotator"]
            raters |= {f"{name} (pass {number})": rows[whose == name] for name in names}
    return raters


def _maps_by_model(table: pd.DataFrame) -> dict[str, pd.Index[str]]:
    """Names of all maps, and of each model's if there are several models."""
    named = table.set_index("map")
    maps = {ALL: named.index}
    models = named["model"].unique()
    if len(models) > 1:
        for model in models:
            maps[model] = named.index[named["model"] == model]
    return maps


def _confusion(
    first: pd.DataFrame,
    second: pd.DataFrame,
    maps: pd.Index[str],
    classify: Callable[[pd.DataFrame], pd.Series[str]],
) -> Integers:
    """[class, class] numbers of maps that both passes gave a class; rows are the first pass."""
    from sklearn.metrics import confusion_matrix

    common = first.index.intersection(second.index).intersection(maps)
    one = classify(first.loc[common])
    other = classify(second.loc[common])
    known = (one != "") & (other != "")
    names = list(classes.PATTERNS)
    if not known.any():
        return np.zeros((len(names), len(names)), dtype=np.int64)
    counts: Integers = confusion_matrix(one[known], other[known], labels=names).astype(np.int64)
    return counts


def _describe(confusion: Integers, seed: int) -> tuple[int, float, float, float, float]:
    """Maps, share with the same class, kappa, and both ends of kappa's interval."""
    # Drawing maps with replacement is drawing cells of the confusion matrix, weighted by counts.
    resampled = multinomial_weights(RESAMPLES, confusion.ravel(), np.random.default_rng(seed))
    kappas = cohens_kappa(resampled.reshape(RESAMPLES, *confusion.shape))
    low, high = interval_of_known(kappas)
    maps = int(confusion.sum())
    share = float(np.trace(confusion)) / maps
    return maps, share, float(cohens_kappa(confusion)), float(low), float(high)
