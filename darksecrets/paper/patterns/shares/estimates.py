"""Shares of the five patterns among all maps of a model, with their uncertainty (Figure 2).

Shares are as classified, as in the paper. Their intervals follow from how far off the network was
on encoders that its training had not seen: for each encoder of the labelled maps, the network was
trained on the others, and classified that encoder's maps. The encoder of a run is taken to be one
more of the same kind, pre-trained or not, whether maps of it were labelled or not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.run.states import FROM_NORMAL, RANDOM
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.resampling import multinomial_weights
from darksecrets.paper.patterns.classes import (
    DEFINITIONS,
    FIRST_THREE,
    LENIENT,
    PATTERNS,
    STRICT,
    Definition,
)
from darksecrets.paper.patterns.network import quality
from darksecrets.paper.patterns.tables import CNN, MODEL

COLUMNS_OF: dict[Definition, str] = {LENIENT: "lenient", STRICT: "pattern"}
"""Column of classified maps with the class under each definition."""
GROUPS: dict[str, tuple[str, ...]] = {**{name: (name,) for name in PATTERNS}, **FIRST_THREE}
"""Whose shares are counted: every class, and the paper's first three together."""
PRIOR = 10
"""Maps that the confusions of all encoders count for, beside those of one encoder's class."""
_CLASSES = list(PATTERNS)
_MEMBERS = np.array([[float(name in some) for some in GROUPS.values()] for name in _CLASSES])


def shares_by_example(maps: pd.DataFrame) -> Floats:
    """[examples, classes] share of each class among an example's maps.

    Args:
        maps: Columns ``idx`` and ``pattern``, a row per map.
    """
    counts = pd.crosstab(maps["idx"], maps["pattern"]).reindex(columns=_CLASSES, fill_value=0)
    numbers = counts.to_numpy(dtype=np.float64)
    return numbers / numbers.sum(axis=1, keepdims=True)


def is_pretrained(state: str) -> bool:
    """Whether the models of a state were ever pre-trained.

    Nearly all maps of others are alike and easily classified. Counted among the pre-trained ones,
    they would make errors seem smaller than they are.
    """
    return state not in (RANDOM, FROM_NORMAL)


def count_confusions(
    predictions: pd.DataFrame, definition: Definition, *, pretrained: bool
) -> Floats:
    """How the network confused the maps of each encoder that its training left out.

    Args:
        predictions: The table `PATTERN_PREDICTIONS`.
        definition: Of the classes.
        pretrained: Which encoders, see `is_pretrained`.

    Returns:
        [encoders, label, class] numbers of maps.
    """
    rows = quality.predictions_of(CNN, predictions, MODEL, definition)
    rows = rows[rows["state"].fillna("").map(is_pretrained) == pretrained]
    counts = [quality.confusion(own) for _, own in rows.groupby("encoder")]
    return np.array(counts).reshape(-1, len(_CLASSES), len(_CLASSES))


def errors_of_encoders(confusions: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """How far off shares are, as each labelled encoder tells it in two ways.

    Args:
        confusions: [encoders, label, class] from `count_confusions`.
        shares: [classes] the run's shares as classified.

    Returns:
        Two arrays [encoders, groups]: how far off the encoder's own shares were; and how far off
        the run's would be if its maps were confused as the encoder's. Few maps of a class say
        little of its confusions, so these are drawn towards those of all encoders, as if there
        were `PRIOR` more; and every confusion counts once more, so that none is impossible.
    """
    own = (confusions.sum(axis=2) - confusions.sum(axis=1)) / confusions.sum(axis=(1, 2))[:, None]
    together = confusions.sum(axis=0) + 1
    together /= together.sum(axis=1, keepdims=True)
    rates = confusions + PRIOR * together
    rates /= rates.sum(axis=2, keepdims=True)
    return own @ _MEMBERS, (shares - shares @ rates) @ _MEMBERS


def table(
    maps: pd.DataFrame, confusions: Mapping[Definition, Floats], resamples: int, seed: int
) -> pd.DataFrame:
    """Shares of the patterns in one model's maps on one task.

    Args:
        maps: Columns ``idx``, ``pattern`` and ``lenient``, a row per map.
        confusions: From `count_confusions`, under every definition, of encoders like the model's.
        resamples: Number of resamples of the examples.
        seed: Seed of the resamples.

    Returns:
        A row per definition and group: ``definition``, ``pattern``, ``share``, ``ci_low``,
        ``ci_high``.
    """
    tables = []
    for definition in DEFINITIONS:
        shares = shares_by_example(maps.assign(pattern=maps[COLUMNS_OF[definition]]))
        found = estimate(shares, confusions[definition], resamples, np.random.default_rng(seed))
        tables.append(found.assign(definition=definition))
    return pd.concat(tables, ignore_index=True)


def estimate(
    shares: Floats, confusions: Floats, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Shares, and the prediction intervals that unseen encoders give them.

    The interval is share ± t · s, with the quantile t of n - 1 degrees of freedom. The variance s²
    is that of a bootstrap over the run's examples, plus (1 + 1 / n) times the mean square of the n
    encoders' errors. Of both errors in `errors_of_encoders`, the greater counts: the second misses
    errors that are off in one direction, the first those in classes that the labelled encoders
    hardly have. With fewer than two encoders nothing is known of others, and the interval is
    everything.

    Args:
        shares: [examples, classes] from `shares_by_example`.
        confusions: [encoders, label, class] from `count_confusions`.
        resamples: Number of resamples.
        rng: Source of random numbers.

    Returns:
        A row per group: ``pattern``, ``share``, ``ci_low``, ``ci_high``.
    """
    from scipy import stats

    means, count = shares.mean(axis=0), len(confusions)
    share = means @ _MEMBERS
    low, high = np.zeros_like(share), np.ones_like(share)
    if count > 1:
        once = np.ones(len(shares), dtype=np.int64)
        drawn = multinomial_weights(resamples, once, rng) @ (shares @ _MEMBERS) / len(shares)
        squares = [(each**2).sum(axis=0) for each in errors_of_encoders(confusions, means)]
        between = np.maximum(*squares) / (count - 1)
        spread = np.sqrt(drawn.var(axis=0) + (1 + 1 / count) * between)
        reach = stats.t.ppf(1 - LEVEL / 2, count - 1) * spread
        low, high = (share - reach).clip(min=0), (share + reach).clip(max=1)
    return pd.DataFrame({"pattern": list(GROUPS), "share": share, "ci_low": low, "ci_high": high})
