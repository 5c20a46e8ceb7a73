"""Tables of the paper's analyses by several measures of attention."""

from __future__ import annotations

from darksecrets.features import tables as features
from darksecrets.framenet import tables as framenet
from darksecrets.run.columns import by_measure

OF_HEADS = tuple(
    by_measure(table)
    for table in (
        features.STRIPES,
        features.CLS_ATTENTION,
        features.TOKEN_PAIRS,
        features.EQUAL_WORDS,
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

LINKED_HEADS = by_measure(framenet.HEADS)

TABLES = (*OF_HEADS, *OF_MODELS, LINKED_HEADS)
