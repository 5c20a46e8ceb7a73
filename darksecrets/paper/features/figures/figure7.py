"""Figure 7: what [CLS] attends to in the last layer, after fine-tuning (section 4.5)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM
from darksecrets.paper.features.tables import CLS_ATTENTION

FEATURES = (
    *("[CLS]", "[SEP]", "punctuation", "noun", "pronoun"),
    *("verb", "subject", "object", "negation"),
)
"""Rows of a panel, from the top."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw two heatmaps of features × heads per task; several seeds are averaged.

    The upper one has the weights, as in the paper; the lower one subtracts the control, because the
    greatest weight favours features that many tokens have. Cells of a feature that is absent from
    the task are grey. The scale says how great the weights of an encoder with random weights are.
    """
    table = sources.table(CLS_ATTENTION)
    by_chance = table.loc[table["state"] == RANDOM, "weight"].max()
    table, tasks = kit.pick(table, state="finetuned"), sources.tasks

    def values(task: str, column: str) -> pd.DataFrame:
        wide = kit.cells(kit.pick(table, task=task), column, "feature", "head")
        return wide.reindex(index=list(FEATURES), columns=range(1, int(table["head"].max()) + 1))

    weights = {task: values(task, "weight") for task in tasks}
    excess = {task: weights[task] - values(task, "control") for task in tasks}

    def features(axes: kit.Axes, task: str, shown: str) -> kit.QuadMesh:
        maps, cmap = (excess, kit.CHANGE) if shown else (weights, kit.WEIGHT)
        limit = kit.largest(*maps.values())
        return kit.matrix(axes, maps[task], cmap, limit, None if shown else 0, labels=8)

    reference = "" if pd.isna(by_chance) else f" (random: ≤ {by_chance:.2f})"
    names = (
        f"Weight from [CLS] in the last layer{reference}",
        "The same minus random tokens (control)",
    )
    look: dict[str, Any] = {"height": 1.25, "share": "columns"}
    panels = [
        [kit.Panel(features, of=(shown,), x=x, bar=kit.Bar(name, below=True), **look)]
        for shown, x, name in zip(("", "over control"), ("", "Head"), names, strict=True)
    ]
    headline = "Attention of [CLS] in the last layer, after fine-tuning"
    return kit.page(sources, headline, panels, most=4)
