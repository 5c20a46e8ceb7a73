"""Numbers about syntax that claims need: of the pre-trained encoder."""

from __future__ import annotations

import pandas as pd

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
    names = {"over_offset": "value", "over_offset_low": "low", "over_offset_high": "high"}
    found = best.rename(columns=names)[["state", "seed", "label", *names.values()]]
    return found.assign(label=found["label"].replace(_SAME))
