"""The figure of seeds: points, intervals, and a mark on those that the frame cuts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn import draw_with

from darksecrets.seeds.seed_variance import draw
from darksecrets.seeds.tables import EARLY_STOPPING, EXPECTED_MAXIMUM

MAXIMA, STOPPING = (
    pd.DataFrame(columns=[*table.names], dtype=float)
    for table in (EXPECTED_MAXIMUM, EARLY_STOPPING)
)


def deviations(high: float) -> pd.DataFrame:
    """Three components with a deviation of 1 each; the interval of the order reaches `high`."""
    return pd.DataFrame(
        {
            "task": "RTE",
            "metric": "accuracy",
            "component": ["init", "order", "residual"],
            "variance": [1.0, 1.0, 1.0],
            "sd": [1.0, 1.0, 1.0],
            "ci_low": [0.0, 0.0, 0.5],
            "ci_high": [4.0, high**2, 2.0],
            "q_value": [0.01, 0.5, np.nan],
        }
    )


@pytest.mark.parametrize(("high", "cut"), [(3.9, []), (4.5, [1.0])])
def test_an_interval_that_the_frame_cuts_is_marked(high: float, cut: list[float]) -> None:
    figure = draw_with(draw, ["RTE"], table=deviations(high), maxima=MAXIMA, stopping=STOPPING)
    (axes,) = (each for each in figure.axes if each.get_label() == "RTE deviations")
    ends = {str(line.get_marker()): np.asarray(line.get_xydata()) for line in axes.lines}
    marks = ends.pop("^", np.empty((0, 2)))
    assert marks[:, 0].tolist() == cut
    assert (marks[:, 1] < axes.get_ylim()[1]).all()
    assert {name: points[0, 1] for name, points in ends.items()} == dict.fromkeys("osD", 1.0)
    filled = {line.get_marker(): line.get_markerfacecolor() != "white" for line in axes.lines}
    assert [filled[name] for name in "osD"] == [True, False, True]
