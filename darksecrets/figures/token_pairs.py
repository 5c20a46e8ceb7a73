"""Attention between verbs and subjects, pronouns and nouns (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from darksecrets.figures.head_maps import DIFFERENCE, Row, head_maps, largest, maps_of, subtract
from darksecrets.figures.style import check_columns

RELATIONS = ("verb to subject", "subject to verb", "pronoun to noun", "noun to pronoun")
"""Rows of the figure, from the top."""


def token_pairs(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw, for each relation, the heads' weights and how far they exceed the control.

    Under each heatmap stands the correlation over heads with their diagonal score.

    Args:
        table: Columns ``task``, ``state``, ``relation``, ``layer``, ``head``, ``weight``,
            ``control``, ``diagonal``; rows of `finetuned` are drawn.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "relation", "layer", "head", "weight", "control", "diagonal"]
    check_columns(table, columns, "token_pairs.csv")
    finetuned = table[table["state"] == "finetuned"]
    parts = {name: finetuned[finetuned["relation"] == name] for name in RELATIONS}
    weights = {name: maps_of(part, tasks, "weight") for name, part in parts.items()}
    excess = {
        name: subtract(weights[name], maps_of(part, tasks, "control"))
        for name, part in parts.items()
    }
    limit, difference = largest(*weights.values()), largest(*excess.values())
    rows = []
    for name, part in parts.items():
        arrow = name.replace(" to ", " → ")
        diagonal = maps_of(part, tasks, "diagonal")
        for kind, maps, scale, darkest, cmap in (
            ("", weights[name], "Weight", limit, Row.cmap),
            ("\nover control", excess[name], "Over control", difference, DIFFERENCE),
        ):
            notes = {
                task: f"r = {np.corrcoef(one.ravel(), other.ravel())[0, 1]:.2f}"
                for task, one in maps.items()
                if one is not None and (other := diagonal[task]) is not None
            }
            rows.append(Row(f"{arrow}{kind}", maps, scale, darkest, cmap, notes))
    return head_maps(rows, tasks, run_label)
