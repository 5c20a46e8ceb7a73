"""Stripes of a feature before and after fine-tuning, supplementary to Figure 6 (section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.features.labels import FEATURES, file_name
from darksecrets.features.tables import STRIPES
from darksecrets.plotting import kit
from darksecrets.run.columns import STATES_OF_FIGURES

SCALES = {"weight": "Mean weight", "difference": "Change", "over control": "Over control"}
"""Rows of panels that are not weights of a state, and labels of all colour bars."""


def draw(sources: kit.Sources) -> dict[str, kit.Figure]:
    """Draw a figure per feature: weights before and after, their change, and over the control.

    The first row has random weights, on the scale of the next two. The figures of all features have
    the same scales, so that they can be compared. The panel of a task without the feature says so.
    """
    table = sources.table(STRIPES)
    ends = limits(table[table["task"].isin(sources.tasks)])
    return {
        f"stripes_{file_name(feature)}": _figure(sources, table, feature, ends)
        for feature in FEATURES
    }


def _figure(
    sources: kit.Sources, table: pd.DataFrame, feature: str, ends: Mapping[str, float]
) -> kit.Figure:
    """Draw one feature."""
    table = table[table["feature"] == feature]

    def heads(axes: kit.Axes, task: str, name: str) -> kit.QuadMesh | None:
        of_task = table[table["task"] == task]
        if of_task.empty:
            kit.say(axes, "none")
            return None
        rows = {state: of_task[of_task["state"] == state] for state in STATES_OF_FIGURES}
        if name in rows:
            return kit.matrix(axes, kit.grid(rows[name], "weight"), kit.WEIGHT, ends["weight"], 0)
        other = ("control", "finetuned") if name == "over control" else ("weight", "pretrained")
        change = kit.grid(rows["finetuned"], "weight") - kit.grid(rows[other[1]], other[0])
        return kit.matrix(axes, change, kit.CHANGE, ends[name])

    bars = {name: kit.Bar(label) for name, label in SCALES.items()}
    panels = [
        *kit.rows(heads, STATES_OF_FIGURES, "", "{}\nLayer", height=1.0, bar=bars["weight"]),
        *kit.rows(heads, ["difference"], "", "{}\nLayer", height=1.0, bar=bars["difference"]),
        *kit.rows(
            heads, ["over control"], "Head", "{}\nLayer", height=1.0, bar=bars["over control"]
        ),
    ]
    headline = f"Attention to tokens with the feature: {feature}"
    return kit.page(sources, headline, panels)


def limits(table: pd.DataFrame) -> dict[str, float]:
    """Greatest weight, change by fine-tuning and difference to the control, over all features.

    They are those of means over seeds; never 0.
    """
    keys = ["task", "feature", "layer", "head", "state"]
    means = table.groupby(keys)[["weight", "control"]].mean()
    states = means["weight"].unstack().reindex(columns=STATES_OF_FIGURES)
    over = (means["weight"] - means["control"]).unstack().reindex(columns=STATES_OF_FIGURES)
    change = states["finetuned"] - states["pretrained"]
    every: list[Any] = [states, change, over["finetuned"]]
    values = zip(SCALES, every, strict=True)
    return {
        name: max(1e-6, float(np.nan_to_num(np.abs(each.to_numpy(np.float64))).max(initial=0)))
        for name, each in values
    }
