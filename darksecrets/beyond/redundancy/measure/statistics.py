"""How near heads are to each other, over all models of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy import declared
from darksecrets.core.arrays import Floats
from darksecrets.core.run.columns import MAPS, names
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import FEWEST, mean_intervals
from darksecrets.core.stats.permutation import nearer_within_groups

RESAMPLES = 1000
"""Bootstrap samples of the examples."""
PERMUTATIONS = 999
"""Random assignments of heads to layers."""

_MODEL = list(names(*MAPS))
_COMPARED = (declared.SAME_LAYER, declared.DIFFERENT_LAYERS, declared.NEAREST)
_SIDES = ("a", "b")


def summarize(examples: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """Mean distances of every model, compared with those of random pairs of heads.

    Args:
        examples: The tables `example_distances` of all models.
        distances: Their tables `head_distances`.

    Returns:
        The table `redundancy`.
    """
    p_values = {model: _same_layer(rows) for model, rows in _group_by_model(distances)}
    parts = [
        _model_rows(part, p_values.get(model, np.nan)).assign(
            **dict(zip(_MODEL, model, strict=True))
        )
        for model, part in _group_by_model(examples)
    ]
    every = pd.concat(parts, ignore_index=True)
    return _corrected(every.reindex(columns=list(declared.REDUNDANCY.names)))


def _model_rows(examples: pd.DataFrame, p_value: float) -> pd.DataFrame:
    """The rows of one model."""
    by_kind = examples.pivot_table(index="idx", columns="pairs", values="distance")
    kinds = [kind for kind in declared.PAIRS if kind in by_kind]
    found = _means(by_kind[kinds], "distance", "ci")
    if compared := [kind for kind in _COMPARED if kind in by_kind]:
        apart = by_kind[compared].sub(by_kind[declared.ALL_PAIRS], axis=0)
        found = found.join(_means(apart, "difference", "difference"))
        found["control"] = found["distance"] - found["difference"]
    is_same = found.index == declared.SAME_LAYER
    return found.assign(
        pairs=kinds, p_value=np.where(is_same, p_value, np.nan), examples=by_kind[kinds].count()
    )


def _means(values: pd.DataFrame, name: str, ends_of: str) -> pd.DataFrame:
    """A row for every column: its mean over the examples, and the interval of the mean."""
    means = values.mean()
    ends = np.full((2, len(means)), np.nan)
    if len(values) >= FEWEST:
        ends = mean_intervals(values.to_numpy(np.float64), RESAMPLES, np.random.default_rng(0))
    return pd.DataFrame({name: means, f"{ends_of}_low": ends[0], f"{ends_of}_high": ends[1]})


def _corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Add q-values over all rows with a p-value."""
    known = table["p_value"].dropna()
    q = pd.Series(benjamini_hochberg(known), known.index)
    return table.assign(q_value=q)


def _same_layer(distances: pd.DataFrame) -> float:
    """P-value of heads of one layer being near to each other; NaN if there is one layer."""
    square, heads = _square(distances)
    layers = heads["layer"].to_numpy() - 1
    if not layers.any():
        return np.nan
    return nearer_within_groups(square, layers, PERMUTATIONS, np.random.default_rng(0))


def _group_by_model(table: pd.DataFrame) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Task, state and seed (None if there is none) and rows of every model, in their order."""
    for _, rows in table.groupby(_MODEL, sort=False, dropna=False):
        model = rows[_MODEL].iloc[0]
        yield tuple(None if pd.isna(name) else name for name in model), rows


def _square(distances: pd.DataFrame) -> tuple[Floats, pd.DataFrame]:
    """[heads, heads] distances of one model; and the ``layer`` and ``head`` of each."""
    pairs = {side: distances[[f"layer_{side}", f"head_{side}"]].to_numpy() for side in _SIDES}
    heads, numbers = np.unique(np.concatenate(list(pairs.values())), axis=0, return_inverse=True)
    first, second = np.split(numbers.ravel(), 2)
    square = np.zeros((len(heads), len(heads)))
    square[first, second] = square[second, first] = distances["distance"]
    return square, pd.DataFrame(heads, columns=["layer", "head"])
