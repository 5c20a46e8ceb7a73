"""Stripes of a feature before and after fine-tuning, supplementary to Figure 6 (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.labels import FEATURES, file_name
from darksecrets.features.tables import STRIPES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import DIFFERENCE, Row, head_grid, maps_of, subtract
from darksecrets.plotting.style import check_columns
from darksecrets.run.columns import RANDOM, STATES_OF_FIGURES

SPECIAL = {"cls": "[CLS]", "sep": "[SEP]"}
"""Features whose names cannot be part of a file name."""


def stripes(table: pd.DataFrame, feature: str, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a feature's weights before and after, their difference, and the excess over control.

    The first row has random weights, on the scale of the next two. The figures of all features of a
    run have the same scales, so that they can be compared.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``layer``, ``head``, ``weight``,
            ``control``; the rows of all features determine the scales.
        feature: The feature; `cls` and `sep` for the special tokens.
        tasks: The tasks to draw, in this order; the panel of one without the feature says so.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "feature", "layer", "head", "weight", "control"]
    check_columns(table, columns, "stripes.csv")
    name = SPECIAL.get(feature, feature)
    weight, change, over = limits(table[table["task"].isin(tasks)])
    rows = table[table["feature"] == name]
    states = {state: rows[rows["state"] == state] for state in STATES_OF_FIGURES}
    by_chance, before, after = (maps_of(part, tasks, "weight") for part in states.values())
    excess = subtract(after, maps_of(states["finetuned"], tasks, "control"))
    return head_grid(
        [
            Row(RANDOM, by_chance, "Mean weight", weight),
            Row("pretrained", before, "Mean weight", weight),
            Row("finetuned", after, "Mean weight", weight),
            Row("difference", subtract(after, before), "Change", change, DIFFERENCE),
            Row("over control", excess, "Over control", over, DIFFERENCE),
        ],
        tasks,
        run_label,
        title=f"Attention to tokens with the feature: {name}",
    )


def limits(table: pd.DataFrame) -> tuple[float, float, float]:
    """Greatest weight, change by fine-tuning and difference to the control, over all features.

    They are those of means over seeds; never 0.
    """
    keys = ["task", "feature", "layer", "head", "state"]
    means = table.groupby(keys)[["weight", "control"]].mean()
    states = means["weight"].unstack().reindex(columns=STATES_OF_FIGURES)
    over = (means["weight"] - means["control"]).unstack().reindex(columns=STATES_OF_FIGURES)
    change = states["finetuned"] - states["pretrained"]
    weight, changed, excess = (
        max(1e-6, float(np.nan_to_num(each.abs().to_numpy(np.float64)).max(initial=0)))
        for each in (states, change, over["finetuned"])
    )
    return weight, changed, excess


def draw(sources: Sources) -> dict[str, Figure]:
    """Draw a figure per feature from a run's table."""
    table = sources.table(STRIPES)
    names = map(file_name, FEATURES)
    return {f"stripes_{n}": stripes(table, n, sources.tasks, sources.label) for n in names}
