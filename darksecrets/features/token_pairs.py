"""Attention between verbs and subjects, pronouns and nouns (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.labels import RELATIONS
from darksecrets.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import (
    DIFFERENCE,
    Row,
    head_grid,
    largest,
    maps_of,
    only_where,
    subtract,
)
from darksecrets.plotting.style import check_columns
from darksecrets.stats import LEVEL


def token_pairs(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, *, correlations: pd.DataFrame
) -> Figure:
    """Draw, for each relation, the heads' weights and their excess over the control.

    Below each heatmap is the correlation, over heads, of its values with the diagonal score. A dot
    in the excess marks heads that exceed all four controls, with every seed (q < 0.05). Heads with
    local attention that can reach no related tokens are grey.

    Args:
        table: Columns ``task``, ``state``, ``relation``, ``layer``, ``head``, ``weight``,
            ``control``, ``q_value``, ``examples``; rows of `finetuned` are drawn, of both tables.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        correlations: Columns ``task``, ``state``, ``relation``, ``weight``, ``over_control``; means
            over seeds are shown.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "relation", "layer", "head", "weight", "control", "q_value"]
    columns.append("examples")
    check_columns(table, columns, "token_pairs.csv")
    columns = ["task", "state", "relation", "weight", "over_control"]
    check_columns(correlations, columns, "token_pair_correlations.csv")
    finetuned = table[table["state"] == "finetuned"]
    finetuned = finetuned.assign(passes=finetuned["q_value"] < LEVEL)
    parts = {name: finetuned[finetuned["relation"] == name] for name in RELATIONS}
    reached = {name: maps_of(part, tasks, "examples") for name, part in parts.items()}
    weights = {
        name: only_where(maps_of(part, tasks, "weight"), reached[name])
        for name, part in parts.items()
    }
    excess = {
        name: subtract(weights[name], maps_of(part, tasks, "control"))
        for name, part in parts.items()
    }
    limit, difference = largest(*weights.values()), largest(*excess.values())
    finetuned = correlations[correlations["state"] == "finetuned"]
    means = finetuned.groupby(["relation", "task"])[["weight", "over_control"]].mean().dropna()
    found = means.to_dict(orient="index")
    kinds = {
        "weight": ("", weights, "Weight", limit, Row.cmap),
        "over_control": ("\nover control", excess, "Over control", difference, DIFFERENCE),
    }
    rows = []
    for name in RELATIONS:
        passes = maps_of(parts[name], tasks, "passes")
        marks = {task: share == 1 for task, share in passes.items() if share is not None}
        for value, (kind, maps, scale, darkest, cmap) in kinds.items():
            notes = {
                task: f"r = {found[name, task][value]:.2f}"
                for task in tasks
                if (name, task) in found
            }
            label = name.replace(" to ", " → ") + kind
            dots = marks if value == "over_control" else {}
            rows.append(Row(label, maps[name], scale, darkest, cmap, notes, dots))
    return head_grid(rows, tasks, run_label)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    correlations = sources.table(TOKEN_PAIR_CORRELATIONS, "correlations")
    table = sources.table(TOKEN_PAIRS)
    return token_pairs(table, sources.tasks, sources.label, correlations=correlations)
