"""Tables of the paper's analyses by several measures of attention."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from darksecrets.core.run.columns import MEASURE, WEIGHTS, by_measure
from darksecrets.paper.features import tables as features
from darksecrets.paper.framenet import tables as framenet

OF_HEADS = tuple(
    by_measure(table)
    for table in (
        features.STRIPES,
        features.CLS_ATTENTION,
        features.TOKEN_PAIRS,
        features.EQUAL_WORDS,
        features.PAIR_CONTROLS,
        features.HEAD_STATISTICS,
    )
)
"""Measures of single heads, gathered from all tasks."""

OF_MODELS = tuple(
    by_measure(table)
    for table in (
        features.TOKEN_PAIR_CORRELATIONS,
        features.ATTENTION_LEVELS,
        features.ATTENTION_CHANGES,
        features.ATTENTION_TRENDS,
        features.ATTENTION_ORIGINS,
    )
)
"""Comparisons of models, features and tasks."""

LINKED = LINKED_HEADS, LINKED_CONTROLS = (
    by_measure(framenet.HEADS),
    by_measure(framenet.CONTROLS_OF_HEADS),
)
"""Heads along frame-semantic links."""

TABLES = (*OF_HEADS, *OF_MODELS, *LINKED)


def with_weights(weights: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """A table by measure: rows of attention weights, then those of the other measures.

    Args:
        weights: The table of attention weights, without the column ``measure``.
        others: The same of other measures, with it.
    """
    named = weights.assign(**{MEASURE.name: WEIGHTS})[[MEASURE.name, *weights.columns]]
    return pd.concat([named, others], ignore_index=True)


def profiles_in(folder: Path, measure: str, model: str) -> Path:
    """Where the profiles of a model by a measure are, in the folder of a task."""
    return folder / measure / f"{model}.npz"
