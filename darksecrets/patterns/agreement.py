"""Agreement of two passes over the same maps: Cohen's kappa, agreement per class, confusions.

Passes are compared in the class, under both definitions, and in each second answer; over all maps,
for each model, and for each state of a model.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.arrays import Floats, Integers
from darksecrets.patterns import classes
from darksecrets.patterns.mapset import SETTLED, MapSet, strict_labels
from darksecrets.patterns.tables import AGREEMENT, ALL, CONFUSION
from darksecrets.run.errors import InputError
from darksecrets.stats.agreement import cohens_kappa, positive_agreement
from darksecrets.stats.resampling import interval_of_known, multinomial_weights

RESAMPLES = 2000


def _strict(labels: pd.DataFrame) -> pd.Series[str]:
    """The class under the strict definition, of labels with second answers.

    Without them it is known for some classes only; their agreement alone would mislead.
    """
    return strict_labels(labels).where(labels["columns"] != "", "")


def _columns(labels: pd.DataFrame) -> pd.Series[str]:
    """Kinds of the columns, in the order of `KINDS`, whichever is the strongest."""
    return labels["columns"].map(
        lambda kinds: "".join(sorted(kinds, key=[*classes.KINDS, classes.NO_COLUMN].index))
    )


def _number(name: str) -> Callable[[pd.DataFrame], pd.Series[str]]:
    return lambda labels: labels[name].astype("str").where(labels[name].notna(), "")


_SETS = ["".join(some) for n in range(1, 4) for some in itertools.combinations(classes.KINDS, n)]
QUESTIONS: dict[str, tuple[tuple[str, ...], Callable[[pd.DataFrame], pd.Series[str]]]] = {
    classes.LENIENT: (tuple(classes.PATTERNS), lambda labels: labels["label"]),
    classes.STRICT: (tuple(classes.PATTERNS), _strict),
    "columns": ((classes.NO_COLUMN, *_SETS), _columns),
    "number": (tuple(map(str, classes.NUMBERS)), _number("number")),
    "diagonal": (tuple(map(str, classes.STRENGTHS)), _number("diagonal")),
}
"""What passes are compared in: possible values, and those of labels, empty where unknown."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of two passes in one question over the maps that both labelled.

    Attributes:
        first: Annotator and pass, in words.
        second: The other annotator and pass.
        maps_of: `all`, a model, or a model and its state.
        question: One of `QUESTIONS`.
        values: Possible values.
        confusion: [value, value] numbers of maps; rows are the labels of ``first``.
        kappa: Cohen's kappa; NaN where both gave every map the same value.
        interval: 95% interval of kappa, from a percentile bootstrap over maps.
    """

    first: str
    second: str
    maps_of: str
    question: str
    values: tuple[str, ...]
    confusion: Integers
    kappa: float
    interval: tuple[float, float]

    @property
    def maps(self) -> int:
        """Number of maps that both labelled."""
        return int(self.confusion.sum())

    @property
    def share(self) -> float:
        """Share of maps that got the same value."""
        return float(np.trace(self.confusion) / self.maps)

    def per_value(self) -> Floats:
        """[value] share of the labels with a value that the other pass confirms."""
        return positive_agreement(self.confusion)

    def of_two(self, seed: int = 2019) -> Iterator[Agreement]:
        """Agreement for every two values, over the maps that both passes gave one of them."""
        for places in itertools.combinations(range(len(self.values)), 2):
            confusion = self.confusion[np.ix_(places, places)]
            if confusion.sum():
                values = tuple(self.values[place] for place in places)
                names = (self.first, self.second, self.maps_of, self.question)
                yield _agreement(names, values, confusion, seed)


def agreements(mapset: MapSet, seed: int = 2019) -> list[Agreement]:
    """Compare every two passes, of one annotator or of several, that have maps in common.

    Annotators who divided a pass among themselves, with no map in common, count as one. Pass
    ``SETTLED`` is left out, because it covers only the maps on which the others disagree.

    Args:
        mapset: Maps and labels.
        seed: Seed of the bootstrap.

    Raises:
        InputError: No two passes have maps in common, or a pass has two labels for a map.
    """
    raters = _raters(mapset.labels[mapset.labels["pass"] < SETTLED])
    for rater, given in raters.items():
        if not given.index.is_unique:
            twice = given.index[given.index.duplicated()][0]
            raise InputError(f"Found two labels of {rater} for the map {twice}; expected one.")
    parts = _parts(mapset.table)
    found = [
        one
        for pair in itertools.combinations(raters, 2)
        for maps_of, names in parts.items()
        for one in _compare(pair, [raters[rater] for rater in pair], maps_of, names, seed)
    ]
    if not found:
        known = "; ".join(raters) or "no labels"
        raise InputError(f"Found {known}; expected two passes that have maps in common.")
    return found


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


def _parts(table: pd.DataFrame) -> dict[str, pd.Index[str]]:
    """Names of all maps, of each model's if there are several, and of each of a model's states."""
    named = table.set_index("map")
    parts = {ALL: named.index}
    models = named["model"].unique()
    for model in models:
        rows = named[named["model"] == model]
        if len(models) > 1:
            parts[model] = rows.index
        states = rows["state"].unique()
        if len(states) > 1:
            parts |= {f"{model}, {state}": rows.index[rows["state"] == state] for state in states}
    return parts


def _compare(
    names: tuple[str, str],
    labels: Sequence[pd.DataFrame],
    maps_of: str,
    maps: pd.Index[str],
    seed: int,
) -> Iterator[Agreement]:
    """Compare two raters in every question."""
    from sklearn.metrics import confusion_matrix

    common = labels[0].index.intersection(labels[1].index).intersection(maps)
    for question, (values, answer) in QUESTIONS.items():
        one, other = (answer(some.loc[common]) for some in labels)
        known = (one != "") & (other != "")
        if known.any():
            confusion = confusion_matrix(one[known], other[known], labels=list(values))
            yield _agreement((*names, maps_of, question), values, confusion.astype(np.int64), seed)


def _agreement(
    names: tuple[str, str, str, str], values: tuple[str, ...], confusion: Integers, seed: int
) -> Agreement:
    # Drawing maps with replacement is drawing cells of the confusion matrix, weighted by counts.
    resampled = multinomial_weights(RESAMPLES, confusion.ravel(), np.random.default_rng(seed))
    kappas = cohens_kappa(resampled.reshape(RESAMPLES, *confusion.shape))
    low, high = interval_of_known(kappas)
    kappa = float(cohens_kappa(confusion))
    return Agreement(*names, values, confusion, kappa, (float(low), float(high)))


def describe(found: Sequence[Agreement]) -> str:
    """Agreements of one pair of passes as text: kappas, confusions, and classes."""
    wide = next(one for one in found if (one.maps_of, one.question) == (ALL, classes.LENIENT))
    kappas = pd.DataFrame(
        [(one.maps_of, one.question, f"{_kappa(one)}, {one.maps} maps") for one in found],
        columns=["maps of", "question", "kappa"],
    ).pivot(index="maps of", columns="question", values="kappa")
    shown = [name for name in QUESTIONS if name in kappas]
    counts = pd.DataFrame(
        wide.confusion, index=list(classes.PATTERNS), columns=list(classes.PATTERNS)
    )
    shares = pd.Series(wide.per_value(), index=list(classes.PATTERNS))
    pairs = [
        f"  {' and '.join(two.values)}: {_kappa(two)}, {two.maps} maps" for two in wide.of_two()
    ]
    lines = [
        f"{wide.first} against {wide.second}: {wide.maps} maps",
        f"  same label     {wide.share:.1%}",
        f"  Cohen's kappa  {_kappa(wide)} (95% interval, bootstrap over maps)",
        "",
        "Cohen's kappa of the class under both definitions and of second answers:",
        *(
            line
            for name in shown
            for line in (f" {name}", kappas[name].dropna().rename_axis(None).to_string())
        ),
        "",
        f"Labels of {wide.first} (rows) and {wide.second} (columns), lenient definition:",
        counts.to_string(),
        "",
        "Of the labels that name a class, the share that the other pass confirms:",
        shares.to_string(float_format="{:.1%}".format, na_rep="not used"),
        "",
        "Cohen's kappa of two classes, over the maps that both passes gave one of the two:",
        *pairs,
    ]
    return "\n".join(lines)


def _kappa(one: Agreement) -> str:
    return f"{one.kappa:.3f} ({one.interval[0]:.3f} to {one.interval[1]:.3f})"


def by_pair(found: Sequence[Agreement]) -> Mapping[tuple[str, str], list[Agreement]]:
    """Agreements of each pair of passes."""
    pairs: dict[tuple[str, str], list[Agreement]] = {}
    for one in found:
        pairs.setdefault((one.first, one.second), []).append(one)
    return pairs


def write_tables(found: Sequence[Agreement], folder: Path) -> None:
    """Write ``agreement.csv`` (table `AGREEMENT`) and ``confusion.csv`` (`CONFUSION`).

    Of each question, rows of the value ``all`` are over all values. Those of one value have the
    shares of `per_value`, and their ``maps`` is the number of labels, of both passes, with it.
    Those of two classes are of `Agreement.of_two`.
    """
    shares: list[tuple[str | float, ...]] = []
    counts: list[tuple[str | int, ...]] = []
    for one in found:
        names = (one.first, one.second, one.maps_of, one.question)
        shares.append((*names, ALL, one.maps, one.share, one.kappa, *one.interval))
        used = one.confusion.sum(axis=0) + one.confusion.sum(axis=1)
        shares += [
            (*names, value, labels, share, np.nan, np.nan, np.nan)
            for value, labels, share in zip(one.values, used, one.per_value(), strict=True)
        ]
        if one.question in classes.DEFINITIONS:
            shares += [
                (*names, " and ".join(two.values), two.maps, two.share, two.kappa, *two.interval)
                for two in one.of_two()
            ]
        counts += [
            (*names, one.values[row], one.values[column], int(one.confusion[row, column]))
            for row, column in zip(*np.nonzero(one.confusion), strict=True)
        ]
    AGREEMENT.write(pd.DataFrame(shares, columns=list(AGREEMENT.names)), folder / AGREEMENT.file)
    CONFUSION.write(pd.DataFrame(counts, columns=list(CONFUSION.names)), folder / CONFUSION.file)
