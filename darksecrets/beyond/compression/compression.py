"""What compressed models retain of the score against their size (Rogers et al. 2020, table 1)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.compression.points import draw_points, points_page
from darksecrets.core.plotting import kit


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the share of the score that every compressed model retains against its size."""

    def sizes(axes: kit.Axes, _: str, rows: pd.DataFrame) -> pd.DataFrame:
        draw_points(axes, rows, "size")
        return rows

    names: dict[str, Any] = {
        "x": "Size (% of the whole model)",
        "headline": "Score of compressed models by size",
    }
    return points_page(sources, sizes, "size", "smaller", **names)
