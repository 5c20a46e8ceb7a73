"""What important heads attend to: are those that survive removal the interpretable ones?

Voita et al. (2019) say that specialised heads do the heavy lifting and survive; Prasanna et al.
(2020) find no such relation in BERT. Here, importance is correlated over heads with every measure
that the run has of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import ABSOLUTE, EXACT, IMPORTANT_HEADS, MODE
from darksecrets.core.arrays import Floats
from darksecrets.core.run.series import Series, average, find_series, shape_of
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.states import FINETUNED, PRETRAINED
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.ranks import Draws, agreement

DEFINITIONS = (ABSOLUTE, EXACT)
STATES = (PRETRAINED, FINETUNED)
_RESAMPLES = 400
"""Bootstrap samples of the heads; there are hundreds of intervals."""


OfHeads = tuple[
    Sequence[Shown], Mapping[str, pd.DataFrame], Mapping[str, Sequence[str]], Mapping[str, int]
]
"""Measures of heads, the run's tables by name, the metrics of every task, and numbers of draws:
``permutations`` and ``seed``."""


def important_heads(importance: pd.DataFrame, *measures: *OfHeads) -> pd.DataFrame:
    """Correlate the importance of heads with what they do.

    Importance and measures are means over seeds; a head of the pre-trained encoder is compared with
    the importance that it has after fine-tuning.

    Args:
        importance: The table ``head_importance``.
        measures: What heads do, see `OfHeads`.

    Returns:
        `IMPORTANT_HEADS`.
    """
    needed = (
        ({"task": task, "definition": definition}, values)
        for (task, definition), values in _importances(importance)
    )
    return correlated(needed, IMPORTANT_HEADS, *measures)


def correlated(
    needed: Iterable[tuple[Mapping[str, str], Floats]], declared: Table, *measures: *OfHeads
) -> pd.DataFrame:
    """Correlate numbers of heads, such as importances, with every measure of these heads.

    Args:
        needed: The values of the columns that identify them, among these the task; and the numbers,
            [1, heads].
        declared: The table to make.
        measures: What heads do, see `OfHeads`.

    Returns:
        The table; without rows if there are no numbers.
    """
    shown, tables, metrics, draws = measures
    shape = shape_of(tables)
    layers = np.repeat(np.arange(shape[0]), shape[1])
    head_draws = Draws(layers, _RESAMPLES, draws["permutations"], draws["seed"])
    every = [one for each in shown for one in find_series(each, tables, metrics, shape)]
    columns = [name for name in declared.names if not name.startswith("q_")]
    parts = [pd.DataFrame(columns=list(declared.names))]
    for about, values in needed:
        found = []
        for series, state, measured in _measures(every, about["task"]):
            own = agreement(values, measured.reshape(1, -1), head_draws)
            if own.pairs:
                found.append(
                    {"measure": series.key, "name": series.name, "measured": state}
                    | {"heads": len(layers), **own.columns}
                )
        table = pd.DataFrame(found, columns=columns).assign(**about)
        table["q_value"] = benjamini_hochberg(table["p_value"])
        parts.append(table)
    return pd.concat(parts[1:] or parts, ignore_index=True)[list(declared.names)]


def _importances(importance: pd.DataFrame) -> Iterator[tuple[tuple[str, str], Floats]]:
    """[1, heads] mean importances over seeds, of every task and definition."""
    rows = importance[
        importance["definition"].isin(DEFINITIONS)
        & (importance["mode"] == MODE)
        & (importance["state"] == FINETUNED)
    ]
    places = ["task", "definition", "layer", "head"]
    means = rows.groupby(places, sort=False)["importance"].mean().reset_index()
    for (task, definition), part in means.groupby(["task", "definition"], sort=False):
        ordered = part.sort_values(["layer", "head"])["importance"]
        yield (str(task), str(definition)), ordered.to_numpy(dtype=np.float64)[None]


def _measures(every: Sequence[Series], task: str) -> Iterator[tuple[Series, str, Floats]]:
    """Every measure of a task's heads that has a value for each of them, before and after."""
    for series in every:
        for state in STATES:
            found = average(series, task, state).get(series.shown.value)
            if found is not None and not np.isnan(found).any():
                yield series, state, found
