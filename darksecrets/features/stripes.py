"""Stripes of a feature before and after fine-tuning, supplementary to Figure 6 (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.labels import FEATURES, file_name
from darksecrets.features.tables import STRIPES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import DIFFERENCE, Row, head_grid, largest, maps_of, subtract
from darksecrets.plotting.style import check_columns
from darksecrets.run.columns import RANDOM, STATES_OF_FIGURES

SPECIAL = {"cls": "[CLS]", "sep": "[SEP]"}
"""Features whose names cannot be part of a file name."""


def stripes(table: pd.DataFrame, feature: str, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a feature's weights before and after, their difference, and the excess over control.

    The first row has random weights, on the scale of the next two.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``layer``, ``head``, ``weight``,
            ``control``.
        feature: The feature; `cls` and `sep` for the special tokens.
        tasks: The tasks to draw, in this order; the panel of one without the feature says so.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "feature", "layer", "head", "weight", "control"]
    check_columns(table, columns, "stripes.csv")
    rows = table[table["feature"] == SPECIAL.get(feature, feature)]
    states = {state: rows[rows["state"] == state] for state in STATES_OF_FIGURES}
    by_chance, before, after = (maps_of(part, tasks, "weight") for part in states.values())
    change = subtract(after, before)
    excess = subtract(after, maps_of(states["finetuned"], tasks, "control"))
    weight = largest(by_chance, before, after)
    return head_grid(
        [
            Row(RANDOM, by_chance, "Mean weight", weight),
            Row("pretrained", before, "Mean weight", weight),
            Row("finetuned", after, "Mean weight", weight),
            Row("difference", change, "Change", largest(change), DIFFERENCE),
            Row("over control", excess, "Over control", largest(excess), DIFFERENCE),
        ],
        tasks,
        run_label,
    )


def draw(sources: Sources) -> dict[str, Figure]:
    """Draw a figure per feature from a run's table."""
    table = sources.table(STRIPES)
    names = map(file_name, FEATURES)
    return {f"stripes_{n}": stripes(table, n, sources.tasks, sources.label) for n in names}
