"""Heads and MLPs of the good subnetworks of every task (Prasanna et al. 2020, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from darksecrets.beyond.importance.tables import HEADS, MLPS
from darksecrets.beyond.subnetworks.tables import GOOD, SUBNETWORK_AGREEMENT, SUBNETWORKS
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw, per task, the share of seeds in which each head and each MLP survives.

    Above each panel is Fleiss' kappa of the heads.
    """
    table = sources.table(SUBNETWORKS)
    agreement = kit.pick(sources.table(SUBNETWORK_AGREEMENT, "agreement"), part=HEADS)
    notes = {row["task"]: _note(row) for row in agreement.to_dict("records")}

    def shares(axes: kit.Axes, task: str, part: str) -> kit.QuadMesh:
        rows = kit.pick(table, task=task, subnetwork=GOOD, part=part)
        values = kit.cells(rows.assign(head=rows["head"].fillna(1)), "kept", "layer", "head")
        mesh = kit.matrix(axes, values, kit.WEIGHT, 1, 0, labels=8)
        if part == MLPS:
            axes.set(xticks=[], yticks=[])
        return mesh

    bar = kit.Bar("Share of seeds")
    panels = [
        kit.Panel(shares, of=(HEADS,), x="Head", y="Layer", height=1.3, width=7, bar=bar),
        kit.Panel(shares, of=(MLPS,), x="MLP"),
    ]
    headline = "Heads and MLPs that survive in good subnetworks"
    titles = {task: f"{task}\n{notes[task]}" for task in sources.tasks}
    return kit.page(sources, headline, [panels], most=3, title=titles.__getitem__)


def _note(row: Mapping[Any, Any]) -> str:
    """How well the seeds agree, in a line."""
    seeds = int(row["seeds"])
    if seeds == 1:
        return "one seed"
    if np.isnan(row["kappa"]):
        return f"{seeds} seeds, all alike"
    kappa, low, high = (written(row[name], ".2f") for name in ("kappa", "ci_low", "ci_high"))
    return f"{seeds} seeds, κ = {kappa} ({low} to {high})"
