"""Agreement of two passes over the same maps: Cohen's kappa, agreement per class, confusions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.mapset import SETTLED
from darksecrets.patterns.tables import AGREEMENT, CONFUSION
from darksecrets.run.errors import InputError
from darksecrets.stats.agreement import cohens_kappa, positive_agreement
from darksecrets.stats.resampling import interval, multinomial_weights

RESAMPLES = 2000


@dataclass(frozen=True)
class Agreement:
    """Agreement of two passes over the maps that both labelled.

    Attributes:
        first: Annotator and pass, in words.
        second: The other annotator and pass.
        confusion: [class, class] numbers of maps; rows are the labels of ``first``, classes in the
            order of ``PATTERNS``.
        kappa: Cohen's kappa; NaN where both gave every map the same class.
        interval: 95% interval of kappa, from a percentile bootstrap over maps.
    """

    first: str
    second: str
    confusion: npt.NDArray[np.int64]
    kappa: float
    interval: tuple[float, float]

    @property
    def maps(self) -> int:
        """Number of maps that both labelled."""
        return int(self.confusion.sum())

    @property
    def share(self) -> float:
        """Share of maps that got the same label."""
        return float(np.trace(self.confusion) / self.maps)

    def per_class(self) -> npt.NDArray[np.float64]:
        """[class] share of the labels of a class that the other pass confirms."""
        return positive_agreement(self.confusion)


def agreements(labels: pd.DataFrame, seed: int = 2019) -> list[Agreement]:
    """Compare every two passes, of one annotator or of two, that have maps in common.

    Pass ``SETTLED`` is left out, because it covers only the maps on which the others disagree.

    Args:
        labels: A row per label, see `darksecrets.patterns.mapset`.
        seed: Seed of the bootstrap.

    Raises:
        InputError: No two passes have maps in common, or a pass has two labels for a map.
    """
    first = labels[labels["pass"] < SETTLED]
    raters = {
        f"{annotator} (pass {number})": rows.set_index("map")["label"]
        for (annotator, number), rows in first.groupby(["annotator", "pass"])
    }
    for rater, given in raters.items():
        if not given.index.is_unique:
            twice = given.index[given.index.duplicated()][0]
            raise InputError(f"Found two labels of {rater} for the map {twice}; expected one.")
    compared = [_compare(*pair, raters, seed) for pair in itertools.combinations(raters, 2)]
    if not (common := [pair for pair in compared if pair]):
        found = "; ".join(raters) or "no labels"
        raise InputError(f"Found {found}; expected two passes that have maps in common.")
    return common


def _compare(
    first: str, second: str, raters: dict[str, pd.Series[str]], seed: int
) -> Agreement | None:
    from sklearn.metrics import confusion_matrix

    common = raters[first].index.intersection(raters[second].index)
    if common.empty:
        return None
    one, other = (raters[rater].loc[common] for rater in (first, second))
    confusion = confusion_matrix(one, other, labels=list(PATTERNS)).astype(np.int64)
    # Drawing maps with replacement is drawing cells of the confusion matrix, weighted by counts.
    resampled = multinomial_weights(RESAMPLES, confusion.ravel(), np.random.default_rng(seed))
    kappas = cohens_kappa(resampled.reshape(RESAMPLES, *confusion.shape))
    known = kappas[~np.isnan(kappas)]
    low, high = interval(known) if len(known) else (np.nan, np.nan)
    kappa = float(cohens_kappa(confusion))
    return Agreement(first, second, confusion, kappa, (float(low), float(high)))


def describe(pair: Agreement) -> str:
    """Agreement, confusion and classes as text."""
    counts = pd.DataFrame(pair.confusion, index=list(PATTERNS), columns=list(PATTERNS))
    shares = pd.Series(pair.per_class(), index=list(PATTERNS))
    lines = [
        f"{pair.first} against {pair.second}: {pair.maps} maps",
        f"  same label     {pair.share:.1%}",
        f"  Cohen's kappa  {pair.kappa:.3f} (95% interval {pair.interval[0]:.3f} to "
        f"{pair.interval[1]:.3f}, bootstrap over maps)",
        "",
        f"Labels of {pair.first} (rows) and {pair.second} (columns):",
        counts.to_string(),
        "",
        "Of the labels that name a class, the share that the other pass confirms:",
        shares.to_string(float_format="{:.1%}".format, na_rep="not used"),
    ]
    return "\n".join(lines)


def write_tables(pairs: list[Agreement], folder: Path) -> None:
    """Write ``agreement.csv`` (table `AGREEMENT`) and ``confusion.csv`` (`CONFUSION`).

    Rows of the pattern ``all`` are over all classes. The others have the shares of `per_class`, and
    their ``maps`` is the number of labels, of both passes, that name the class.
    """
    shares: list[tuple[str | float, ...]] = []
    counts: list[tuple[str | int, ...]] = []
    for pair in pairs:
        names = (pair.first, pair.second)
        shares.append((*names, "all", pair.maps, pair.share, pair.kappa, *pair.interval))
        used = pair.confusion.sum(axis=0) + pair.confusion.sum(axis=1)
        shares += [
            (*names, pattern, labels, share, np.nan, np.nan, np.nan)
            for pattern, labels, share in zip(PATTERNS, used, pair.per_class(), strict=True)
        ]
        cells = itertools.product(PATTERNS, repeat=2)
        counts += [
            (*names, *cell, int(count))
            for cell, count in zip(cells, pair.confusion.ravel(), strict=True)
        ]
    AGREEMENT.write(pd.DataFrame(shares, columns=list(AGREEMENT.names)), folder / AGREEMENT.file)
    CONFUSION.write(pd.DataFrame(counts, columns=list(CONFUSION.names)), folder / CONFUSION.file)
