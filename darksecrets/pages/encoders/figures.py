"""Figures 2, 5 and 8 of several encoders, side by side and on one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.plotting.drawing import Given
from darksecrets.core.run.tables import Table
from darksecrets.pages.encoders.reading import FinishedRun, common_tasks
from darksecrets.paper.ablation.findings import significant
from darksecrets.paper.ablation.tables import HEAD_ABLATION
from darksecrets.paper.finetuning.tables import COSINE
from darksecrets.paper.patterns.classes import STRICT
from darksecrets.paper.patterns.tables import PATTERN_SHARES

STATE = "finetuned"
THIRD = 3


def draw_all(runs: Sequence[FinishedRun]) -> dict[str, kit.Figure]:
    """Draw those figures of which all runs have the table for a task that all have learned."""
    parts: Mapping[str, tuple[Table, Callable[..., kit.Figure]]] = {
        "figure2": (PATTERN_SHARES, draw_patterns),
        "figure5": (COSINE, draw_changes),
        "figure8": (HEAD_ABLATION, draw_effects),
    }
    return {
        name: draw(runs, tasks)
        for name, (declared, draw) in parts.items()
        if (tasks := common_tasks(runs, declared))
    }


def _sources(tasks: Sequence[str]) -> Given:
    """Small print: the tasks whose mean is drawn."""
    return Given({}, f"mean over {', '.join(tasks)} and over seeds")


def draw_patterns(runs: Sequence[FinishedRun], tasks: Sequence[str]) -> kit.Figure:
    """Draw the shares of patterns, a bar for each encoder."""
    rows = pd.concat(
        [
            kit.pick(run.tables[PATTERN_SHARES.name], definition=STRICT, state=STATE, task=tasks)
            .groupby("pattern", as_index=False)["share"]
            .mean()
            .assign(task=run.name, state=STATE)
            for run in runs
        ]
    )
    places = {(run.name, STATE): number for number, run in enumerate(runs)}

    def bars(axes: kit.Axes, _: str) -> None:
        kit.shares(axes, rows, "share", "pattern", kit.PATTERNS, places, written=0.02)
        axes.set_yticks(range(len(runs)), [run.name for run in runs], fontweight="normal")
        axes.set(ylim=(len(runs) - 0.5, -0.5), xlim=(0, 1), ylabel="")

    heterogeneous = 100 * rows[rows["pattern"] == "heterogeneous"].set_index("task")["share"]
    least, most = heterogeneous.idxmin(), heterogeneous.idxmax()
    headline = (
        f"Heterogeneous maps are {heterogeneous[least]:.0f}% ({least}) to "
        f"{heterogeneous[most]:.0f}% ({most}) of all"
    )
    panel = kit.Panel(
        bars, x="Share of maps; numbers are percentages", height=0.3 + 0.3 * len(runs), fixed=True
    )
    grid = kit.Grid([""], panel)
    return kit.page(_sources(tasks), headline, grid, legend=kit.PATTERNS, width=kit.PAGE)


def draw_changes(runs: Sequence[FinishedRun], tasks: Sequence[str]) -> kit.Figure:
    """Draw how much fine-tuning changes each head, a panel for each encoder."""
    grids = {
        run.name: kit.grid(kit.pick(run.tables[COSINE.name], task=tasks), "similarity")
        for run in runs
    }
    low = min(float(values.min().min()) for values in grids.values())
    changed_last = 0
    for values in grids.values():
        means = values.mean(axis=1).to_numpy()
        last = max(1, len(means) // THIRD)
        changed_last += bool(means[-last:].mean() < means[:-last].min(initial=1.0))
    headline = (
        f"The last third of the layers changes more than every other layer in {changed_last} of "
        f"{len(runs)} encoders"
    )
    bar = kit.Bar("Cosine similarity before and after fine-tuning", below=True)

    def heads(axes: kit.Axes, name: str) -> kit.QuadMesh:
        return kit.matrix(axes, grids[name], kit.SIMILARITY, 1, low)

    panel = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.3, bar=bar)
    return kit.page(_sources(tasks), headline, kit.Grid(list(grids), panel), width=kit.PAGE)


def draw_effects(runs: Sequence[FinishedRun], tasks: Sequence[str]) -> kit.Figure:
    """Draw what disabling a head changes, on tasks' first metrics, a panel for each encoder."""
    effects = {run.name: _effects(run, tasks) for run in runs}
    grids = {name: kit.grid(table, "delta") for name, table in effects.items()}
    high = max(float(values.abs().max().max()) for values in grids.values()) or 1.0
    said = ", ".join(
        f"{needed_heads(table)} of {grids[name].size} ({name})" for name, table in effects.items()
    )
    bar = kit.Bar("Change of the score, points", below=True)

    def heads(axes: kit.Axes, name: str) -> kit.QuadMesh:
        return kit.matrix(axes, grids[name], kit.CHANGE, high)

    panel = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.3, bar=bar)
    headline = f"Heads that some task needs in every seed: {said}"
    return kit.page(_sources(tasks), headline, kit.Grid(list(grids), panel), width=kit.PAGE)


def _effects(run: FinishedRun, tasks: Sequence[str]) -> pd.DataFrame:
    """Effects of the heads of fine-tuned models on the first metrics of tasks."""
    table = kit.pick(run.tables[HEAD_ABLATION.name], state=STATE, task=tasks)
    main = table["task"].map({task: run.metrics[task][0] for task in tasks})
    return table[table["metric"] == main]


def needed_heads(effects: pd.DataFrame) -> int:
    """Heads whose loss costs a task something significant in each of its seeds."""
    in_every_seed = [significant(rows, -1) == 1 for _, rows in effects.groupby("task")]
    return int(pd.concat(in_every_seed, axis="columns").any(axis="columns").sum())
