"""Heads and MLPs of the good subnetworks of every task (Prasanna et al. 2020, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec

from darksecrets.importance.tables import HEADS, MLPS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import SMALL, WEIGHT, check_columns, colour_bar, heatmap, wrapped
from darksecrets.run.errors import InputError
from darksecrets.run.numbers import written
from darksecrets.subnetworks.tables import GOOD, SUBNETWORK_AGREEMENT, SUBNETWORKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_COLUMNS = ["task", "seed", "subnetwork", "part", "layer", "head", "kept"]


def surviving_parts(
    table: pd.DataFrame, agreement: pd.DataFrame, tasks: list[str], run_label: str
) -> Figure:
    """Draw, per task, the share of seeds in which each head and each MLP survives.

    Args:
        table: `subnetworks.csv`.
        agreement: `subnetwork_agreement.csv`; each panel says Fleiss' kappa of the heads.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    check_columns(table, _COLUMNS, "subnetworks.csv")
    good = table[table["subnetwork"] == GOOD]
    tables = {task: good[good["task"] == task] for task in tasks}
    if missing := [task for task, rows in tables.items() if rows.empty]:
        raise InputError(
            f"The table subnetworks.csv has no rows for {', '.join(missing)}. Make the table again."
        )
    of_heads = agreement[agreement["part"] == HEADS].to_dict("records")
    notes = {row["task"]: _note(row) for row in of_heads}

    def draw_panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
        _panel(figure, slot, rows, f"{wrapped(task, 1.5)}\n{notes[task]}")

    return panel_figure(*(tables, draw_panel, lambda *_: None, run_label))


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    agreement = sources.table(SUBNETWORK_AGREEMENT, "agreement")
    return surviving_parts(sources.table(SUBNETWORKS), agreement, sources.tasks, sources.label)


def _note(row: Mapping[Any, Any]) -> str:
    """How well the seeds agree, in a line."""
    seeds = int(row["seeds"])
    if seeds == 1:
        return "one seed"
    if np.isnan(row["kappa"]):
        return f"{seeds} seeds, all alike"
    kappa, low, high = (written(row[name], ".2f") for name in ("kappa", "ci_low", "ci_high"))
    return f"{seeds} seeds, κ = {kappa} ({low} to {high})"


def _panel(figure: Figure, slot: SubplotSpec, rows: pd.DataFrame, title: str) -> None:
    """A heatmap of the heads, a column for the MLPs, and the colour bar."""
    inner = GridSpecFromSubplotSpec(1, 3, slot, width_ratios=[12, 1.6, 0.8], wspace=0.0)
    shares = {part: _shares(rows, part) for part in (HEADS, MLPS)}
    colours: dict[str, Any] = {"cmap": WEIGHT, "vmin": 0, "vmax": 1}
    axes = figure.add_subplot(inner[0, 0], label=f"{title} heads")
    mesh = heatmap(axes, shares[HEADS], **colours)
    axes.set_title(title, fontsize=SMALL)
    beside = figure.add_subplot(inner[0, 1], label=f"{title} MLPs")
    heatmap(beside, shares[MLPS], **colours)
    beside.set(xlabel="MLP", ylabel="", xticks=[], yticks=[])
    bar = figure.add_subplot(inner[0, 2], label=f"{title} bar")
    colour_bar(figure, mesh, cax=bar)
    bar.tick_params(labelsize=SMALL)
    if slot.is_last_col():
        bar.set_ylabel("Share of seeds", fontsize=SMALL)
    if not slot.is_first_col():
        axes.set_ylabel("")


def _shares(rows: pd.DataFrame, part: str) -> npt.NDArray[np.float64]:
    """[layers, heads, or 1] share of the seeds in which each part survives."""
    mine = rows[rows["part"] == part].assign(head=lambda table: table["head"].fillna(1))
    shares = mine.groupby(["layer", "head"])["kept"].mean().unstack()
    return shares.to_numpy(dtype=np.float64)
