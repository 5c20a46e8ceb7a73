"""Figure 5: how much fine-tuning changes the attention of every head (section 4.3)."""

from __future__ import annotations

import math
from functools import partial

from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.paper.finetuning.findings import describe_changed_layers
from darksecrets.paper.finetuning.tables import COSINE

STEP = 0.05
"""The colour scale begins at a multiple of this, and is at least as wide."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a grid of heads per task; several seeds are averaged.

    Colours and orientation are the paper's: layer 1 at the top, darker = lower cosine = greater
    difference. All tasks share a scale, from the lowest cosine to 1, or, as in the paper, from 0
    (the option ``scale: full``).
    """
    table = sources.table(COSINE)
    grids = {task: kit.grid(kit.pick(table, task=task), "similarity") for task in sources.tasks}
    lowest = min(float(values.min().min()) for values in grids.values())
    low = STEP * min(math.floor(lowest / STEP), round(1 / STEP) - 1)
    if sources.options["scale"] == "full":
        low = 0.0

    def heads(axes: kit.Axes, task: str) -> kit.QuadMesh:
        return kit.matrix(axes, grids[task], kit.SIMILARITY, 1, low, labels=8)

    def finish(bar: kit.Colorbar) -> None:
        bar.ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))

    bar = kit.Bar("Cosine similarity before and after fine-tuning", below=True, finish=finish)
    panel = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.3, bar=bar)
    what = "A square is a head; darker: fine-tuning changed its attention more."
    headline = sources.headline(partial(describe_changed_layers, table))
    return kit.page(sources, headline, [[panel]], most=4, what=what)
