"""What compressed models retain of the score against the time that they take."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.compression.points import draw_points, points_page
from darksecrets.beyond.compression.tables import BATCH, COMPRESSION_TIMES, RANDOM, SINGLE
from darksecrets.core.plotting import kit

_MARK = kit.dot(kit.GREY, "h", 4.0)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the share of the score that every compressed model retains against its time."""
    times = sources.table(COMPRESSION_TIMES, "times")

    def panel(axes: kit.Axes, task: str, rows: pd.DataFrame) -> pd.DataFrame:
        for name in (SINGLE, BATCH):
            part = with_times(rows, times[times["task"] == task], name)
            draw_points(axes, part, "time", filled=name == BATCH, ends=name == BATCH)
        return part

    more = {"in a batch": _MARK, "one example": kit.hollow(_MARK)}
    x, headline = "Time (% of the whole model's)", "Score of compressed models by time"
    return points_page(sources, panel, "time", "speedup", x=x, headline=headline, more=more)


def with_times(rows: pd.DataFrame, times: pd.DataFrame, inputs: str) -> pd.DataFrame:
    """Rows with their time in percent of the whole model's, and its interval; means over seeds.

    Args:
        rows: From `points.rows_of`.
        times: Rows of ``compression_times`` of the task.
        inputs: What was timed.

    Returns:
        The rows of timed models, and that of random weights without a time.
    """
    part = times[times["inputs"] == inputs]
    share = part.assign(
        time=100 / part["speedup"], time_low=100 / part["ci_high"], time_high=100 / part["ci_low"]
    )
    means = share.groupby(["method", "amount"])[["time", "time_low", "time_high"]].mean()
    joined = rows.merge(means.reset_index(), on=["method", "amount"], how="left")
    return joined[joined["time"].notna() | (joined["method"] == RANDOM)]
