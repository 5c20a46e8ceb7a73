"""Stripes of one feature before and after fine-tuning, supplementary to Figure 6 (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.plotting.head_grid import DIFFERENCE, Row, head_grid, largest, maps_of, subtract
from darksecrets.plotting.style import check_columns

SPECIAL = {"cls": "[CLS]", "sep": "[SEP]"}
"""Features whose names cannot stand in a file's name."""


def stripes(table: pd.DataFrame, feature: str, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a feature's weights before and after, their difference, and what the control leaves.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``layer``, ``head``, ``weight``,
            ``control``.
        feature: The feature, `cls` and `sep` for the special tokens.
        tasks: The tasks to draw, in this order; one without the feature says so.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "feature", "layer", "head", "weight", "control"]
    check_columns(table, columns, "stripes.csv")
    rows = table[table["feature"] == SPECIAL.get(feature, feature)]
    states = {state: rows[rows["state"] == state] for state in ("pretrained", "finetuned")}
    before, after = (maps_of(part, tasks, "weight") for part in states.values())
    change = subtract(after, before)
    excess = subtract(after, maps_of(states["finetuned"], tasks, "control"))
    weight = largest(before, after)
    return head_grid(
        [
            Row("pretrained", before, "Mean weight", weight),
            Row("finetuned", after, "Mean weight", weight),
            Row("difference", change, "Change", largest(change), DIFFERENCE),
            Row("over control", excess, "Over control", largest(excess), DIFFERENCE),
        ],
        tasks,
        run_label,
    )
