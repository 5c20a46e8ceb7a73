"""Numbers about syntax that claims need."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.syntax.tables import ALL, ANY, OPEN
from darksecrets.core.stats.independent import ESTIMATE, named

_SAME = {"obj": "dobj"}
"""Labels of Universal Dependencies, and what Clark et al. call them."""


def over_offset(syntactic_heads: pd.DataFrame) -> pd.DataFrame:
    """By how much the best head of every relation exceeds the best offset.

    Args:
        syntactic_heads: The table.

    Returns:
        Columns ``state``, ``seed``, ``label``; ``value``, with ``low`` and ``high``.
    """
    best = syntactic_heads[syntactic_heads["selected"]]
    found = named(best, "over_offset")[["state", "seed", "label", *ESTIMATE]]
    return found.assign(label=found["label"].replace(_SAME))


def tests_of_relations(syntactic_heads: pd.DataFrame) -> pd.DataFrame:
    """The q-value of the best head of every single relation, if all controls could be made.

    Args:
        syntactic_heads: The table.

    Returns:
        Columns ``state``, ``seed``, ``label``; ``value``, with ``low`` and ``high``: 0 and the
        value.
    """
    best = syntactic_heads[
        syntactic_heads["selected"]
        & (syntactic_heads["label"] != ALL)
        & (syntactic_heads["syntactic"] != OPEN)
    ]
    found = best.assign(value=best["q_value"], low=0.0, high=best["q_value"])
    return found[["state", "seed", "label", *ESTIMATE]]


def subjects(distractors: pd.DataFrame) -> pd.DataFrame:
    """By how much the subject's share of a verb's weight exceeds controls, over all layers.

    Args:
        distractors: The table.

    Returns:
        Columns ``state``, ``seed``, ``control``; ``value``, with ``low`` and ``high``.
    """
    controls = [
        _of_encoder(distractors, ANY, f"over_{control}").assign(control=control)
        for control in ("uniform", "places", "rank")
    ]
    return pd.concat(controls, ignore_index=True)[["state", "seed", "control", *ESTIMATE]]


def _of_encoder(distractors: pd.DataFrame, count: str, column: str) -> pd.DataFrame:
    """Rows of all layers together, with what exceeds a control and its interval."""
    rows = distractors[distractors["layer"].isna() & (distractors["distractors"] == count)]
    return named(rows, column)
