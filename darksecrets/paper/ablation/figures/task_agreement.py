"""Whether the same heads matter for different tasks (section 4.6): rank correlations of effects."""

from __future__ import annotations

import numpy as np

from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.findings import STATE
from darksecrets.paper.ablation.tables import TASK_AGREEMENT


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a matrix of tasks: the rank correlation of the heads' effects on every two of them.

    On the diagonal are the correlations between seeds of one task, the most that can be expected
    between tasks; it is grey with one seed. Bold numbers are significant after correction: beyond
    what layers explain.
    """
    tasks = sources.tasks
    rows = kit.pick(sources.table(TASK_AGREEMENT), state=STATE, task=tasks, other_task=tasks)
    pairs = [sorted(pair, key=tasks.index) for pair in rows[["task", "other_task"]].to_numpy()]
    rows = rows.assign(**dict(zip(("column", "row"), zip(*pairs, strict=True), strict=True)))
    places = {"index": "row", "columns": "column"}
    values, q_values = (
        kit.cells(rows, name, **places).reindex(index=tasks, columns=tasks)
        for name in ("spearman", "q_value")
    )
    bold = (q_values < LEVEL).to_numpy()
    texts = np.vectorize(lambda value: written(value, ".2f"))(values)

    def agreement(axes: kit.Axes, _: str) -> kit.QuadMesh:
        low = min(0.0, float(values.min().min()))
        names = [sources.marked(task) for task in tasks]
        named = values.set_axis(names, axis="index").set_axis(names, axis="columns")
        mesh = kit.matrix(axes, named, kit.SCORE, 1, low, texts=texts, bold=bold)
        axes.set_xticks(axes.get_xticks(), names, rotation=45, ha="right")
        above = np.triu(np.ones(values.shape, dtype=bool), 1)
        axes.pcolormesh(np.where(above, 1.0, np.nan), cmap="binary", zorder=2)
        return mesh

    bar = kit.Bar("Rank correlation of heads' effects", below=True)
    panels = [[kit.Panel(agreement, "tasks", x="Task", y="Task", height=2.0, bar=bar)]]
    different = np.tril(np.ones(values.shape, dtype=bool), -1) & values.notna().to_numpy()

    def describe(some: list[str]) -> str:
        chosen = np.isin(tasks, some)
        pairs = different & np.outer(chosen, chosen)
        return f"The same heads matter on {(bold & pairs).sum()} of {pairs.sum()} pairs of tasks"

    headline = sources.headline(describe)
    return kit.page(sources, headline, kit.Grid([""], panels), width=kit.COLUMN)
