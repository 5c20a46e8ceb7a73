"""Figure 7, supplement: attention of [CLS] minus that to random tokens (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.paper.features.figures.figure7 import HEIGHT, values
from darksecrets.paper.features.tables import CLS_ATTENTION


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a heatmap of features × heads per task: weight minus control; means over seeds."""
    table = sources.table(CLS_ATTENTION)
    excess = {
        task: values(table, task, "weight") - values(table, task, "control")
        for task in sources.tasks
    }
    limit = kit.end_of_differences(*excess.values())

    def features(axes: kit.Axes, task: str) -> kit.QuadMesh:
        return kit.matrix(axes, excess[task], kit.CHANGE, limit, labels=8)

    bar = kit.Bar("Weight minus that of random tokens", below=True)
    panel = kit.Panel(features, x="Head", height=HEIGHT, share="columns", bar=bar)
    headline = sources.headline(lambda tasks: _headline([excess[task] for task in tasks]))
    what = "Purple: more than as many random tokens at likely positions; orange: less."
    return kit.page(sources, headline, [[panel]], most=4, what=what)


def _headline(excess: Sequence[pd.DataFrame]) -> str:
    """In how many cells weights exceed the control, over all tasks."""
    cells = np.concatenate([each.to_numpy().ravel() for each in excess])
    above = 100 * float(np.mean(cells[~np.isnan(cells)] > 0))
    return f"In {above:.0f}% of cells [CLS] attends more to a feature than to random tokens"
