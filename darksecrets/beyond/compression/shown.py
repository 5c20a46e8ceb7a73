"""Figures of smaller models, and numbers that claims need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.compression import declared
from darksecrets.beyond.compression.declared import BATCH, COMPRESSION_TIMES, RANDOM, SINGLE
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.metrics import main_metric_rows, titles
from darksecrets.core.plotting import kit
from darksecrets.core.stats.independent import ESTIMATE

# What both figures of compressed models share: points, the best of them, the page.

LOOKS = {
    method: kit.line(colour, marker, width=0.6, markersize=size, markeredgewidth=0.5)
    for method, colour, marker, size in (
        (declared.WHOLE, kit.INK, "*", 6.0),
        (declared.HEADS, kit.BLUE, "o", 4.0),
        (declared.HEADS_AND_MLPS, kit.ORANGE, "^", 4.0),
        (declared.WEIGHTS, kit.PINK, "D", 4.0),
        (declared.LAYERS, kit.VERMILLION, "v", 4.0),
        (declared.EMBEDDINGS, kit.GREEN, "s", 4.0),
        (declared.EIGHT_BITS, kit.SKY, "P", 4.0),
    )
}
_NAMES = {
    declared.WHOLE: "whole model",
    declared.HEADS: "heads",
    declared.HEADS_AND_MLPS: "heads, MLPs",
    declared.WEIGHTS: "weights",
    declared.LAYERS: "layers",
    declared.EMBEDDINGS: "embeddings",
    declared.EIGHT_BITS: "8 bits",
}
"""Names of methods in legends, which have two columns."""
_FRONT: dict[str, Any] = kit.line(kit.INK, width=0.6, drawstyle="steps-post", zorder=1)
_PUBLISHED = kit.dot(kit.GREY, size=3.0, markerfacecolor="none", markeredgewidth=0.5, zorder=1)
_RANDOM: dict[str, Any] = kit.line(kit.INK, dash=":", width=0.7, zorder=1)


def points_page(
    sources: kit.Sources,
    draw: Callable[[kit.Axes, str, pd.DataFrame], pd.DataFrame],
    cost: str,
    by: str,
    *,
    x: str,
    headline: Callable[[pd.DataFrame], str],
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> kit.Figure:
    """Draw what every compressed model retains against a cost, a panel per task.

    Args:
        sources: Inputs of the figure.
        draw: Draws the points of a task, and returns its rows of `rows_of` with the cost.
        cost: Column of the cost.
        by: Column of the published table with the factor by which the cost is divided.
        x: What the cost is, for the axis.
        headline: What was found, from the rows of the learned tasks, with their costs.
        more: Further entries of the legend.
    """
    table, metrics = sources.table(declared.COMPRESSION), sources.main_metrics
    published = sources.table(declared.PUBLISHED)

    def points(axes: kit.Axes, task: str) -> None:
        rows = draw(axes, task, rows_of(table, task, metrics[task]))
        _draw_rest(axes, rows, cost, published, by)

    legend: dict[str, Any] = {_NAMES[method]: look for method, look in LOOKS.items()}
    legend |= dict(more or {})
    legend |= {"best for its cost": _FRONT, "untrained": _RANDOM}
    legend |= {"published, other data": _PUBLISHED}
    panel = kit.Panel(points, x=x, y="Score retained (%)", height=1.4)

    def describe(tasks: list[str]) -> str:
        rows = [rows_of(table, task, metrics[task]).assign(task=task) for task in tasks]
        return headline(pd.concat(rows))

    what = "Marks say what was removed, set to 0 (weights), factorised (embeddings) or rounded."
    said = sources.headline(describe)
    return kit.page(
        sources,
        said,
        panel,
        most=4,
        title=titles(metrics, sources.marked),
        legend=legend,
        what=what,
    )


KEPT = 95
"""Percent of the score that a smaller model should keep."""


def describe_cheapest(rows: pd.DataFrame, cost: str, words: str) -> str:
    """The cheapest compressed model that keeps nearly all of the score, by means over tasks.

    Args:
        rows: From `rows_of`, with the cost in percent of the whole model's.
        cost: Its column.
        words: What the cost is of, such as ``of the size``.
    """
    means = rows[rows["method"].isin(LOOKS) & (rows["method"] != declared.WHOLE)]
    means = means.groupby(["method", "amount"])[[cost, "retention"]].mean().reset_index()
    enough = means[(means["retention"] >= KEPT) & (means[cost] < 100)]
    if enough.empty:
        return f"No compressed model keeps {KEPT}% of the score with less {cost}"
    best = enough.nsmallest(1, cost).iloc[0]
    kept = f"keeps at least {KEPT}% of the score ({best['method']})"
    return f"A model with {best[cost]:.0f}% {words} {kept}"


def rows_of(table: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    """Means over seeds of what a task's compressed models retain.

    Args:
        table: The table ``compression``.
        task: The task.
        metric: One of its metrics.

    Returns:
        A row for every method and amount: ``size`` (% of the whole model's bytes, without zeros),
        ``retention`` and its ends; the table's order.
    """
    rows = kit.pick(table, task=task, state="finetuned", metric=metric)
    whole = rows[rows["method"] == declared.WHOLE].set_index("seed")["packed_bytes"]
    sized = rows.assign(size=100 * rows["packed_bytes"] / rows["seed"].map(whole))
    numbers = ["size", "retention", "retention_low", "retention_high"]
    return sized.groupby(["method", "amount"], sort=False)[numbers].mean().reset_index()


def draw_points(
    axes: kit.Axes, rows: pd.DataFrame, x: str, *, filled: bool = True, ends: bool = True
) -> None:
    """Draw what is retained against a cost, a line for the amounts of each method.

    All points are within the limits of the axes; intervals of the cost may end beyond them.

    Args:
        axes: Where to draw.
        rows: From `rows_of`, with the cost.
        x: Its column; with columns of that name and ``_low`` and ``_high``, if it has an interval.
        filled: Whether markers are filled.
        ends: Whether to draw the interval of what is retained.
    """
    for method, look in LOOKS.items():
        part = rows[rows["method"] == method].sort_values("amount")
        shown = look if filled else kit.hollow(look)
        up = _around(part, "retention") if ends else None
        across = _around(part, x) if f"{x}_low" in part else None
        places = part[x], part["retention"]
        axes.errorbar(*places, yerr=up, xerr=across, elinewidth=0.5, label=method, **shown)
    before = 0.0 if axes.get_autoscalex_on() else axes.get_xlim()[1]
    axes.set_xlim(0, max(before, 1.05 * max(100.0, float(rows[x].max()))))


def _around(part: pd.DataFrame, name: str) -> Floats:
    """[2, rows] how far the ends of an interval are from its estimate."""
    below, above = part[name] - part[f"{name}_low"], part[f"{name}_high"] - part[name]
    ends: Floats = np.stack([below.to_numpy(float), above.to_numpy(float)])
    return ends.clip(min=0)


def front(costs: Floats, kept: Floats) -> Integers:
    """The points that no other one beats: nothing cheaper retains as much.

    Args:
        costs: [points], less is better.
        kept: [points], more is better.

    Returns:
        Their numbers, the cheapest first.
    """
    order = np.lexsort([-kept, costs])
    best = np.maximum.accumulate(kept[order])
    new = np.concatenate([[True], best[1:] > best[:-1]])
    return order[new]


def _draw_rest(
    axes: kit.Axes, rows: pd.DataFrame, x: str, published: pd.DataFrame, by: str
) -> None:
    """Draw the front, what random weights retain, and the published models."""
    random = rows.loc[rows["method"] == declared.RANDOM, "retention"]
    own = rows[rows["method"].isin(LOOKS) & rows["retention"].notna()]
    best = own.iloc[front(own[x].to_numpy(float), own["retention"].to_numpy(float))]
    axes.plot(best[x], best["retention"], label="front", **_FRONT)
    for value in random:
        axes.axhline(value, label=declared.RANDOM, **_RANDOM)
    others = published.dropna(subset=[by, "retention"])
    axes.set_ylim(*axes.get_ylim())  # of the own models
    axes.plot(100 / others[by], others["retention"], label="published", **_PUBLISHED)


# What compressed models retain of the score against their size (Rogers et al. 2020, table 1).


def draw_compression(sources: kit.Sources) -> kit.Figure:
    """Draw the share of the score that every compressed model retains against its size."""

    def sizes(axes: kit.Axes, _: str, rows: pd.DataFrame) -> pd.DataFrame:
        draw_points(axes, rows, "size")
        return rows

    def headline(rows: pd.DataFrame) -> str:
        return describe_cheapest(rows, "size", "of the size")

    x = "Size (% of the whole model)"
    return points_page(sources, sizes, "size", "smaller", x=x, headline=headline)


# What compressed models retain of the score against the time that they take.

_FASTEST = 3
"""Percent of the whole model's time at which the axis begins."""
_MARK = kit.dot(kit.GREY, "h", 4.0)


def draw_compression_times(sources: kit.Sources) -> kit.Figure:
    """Draw the share of the score that every compressed model retains against its time."""
    times = sources.table(COMPRESSION_TIMES)

    def panel(axes: kit.Axes, task: str, rows: pd.DataFrame) -> pd.DataFrame:
        for name in (SINGLE, BATCH):
            part = add_times(rows, times[times["task"] == task], name)
            draw_points(axes, part, "time", filled=name == BATCH, ends=name == BATCH)
        _, high = axes.get_xlim()
        axes.set(xscale="log", xlim=(_FASTEST, 1.3 * high))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        return part

    more = {"in a batch": _MARK, "one example": kit.hollow(_MARK)}

    def headline(rows: pd.DataFrame) -> str:
        by_task = rows.groupby("task")
        parts = [add_times(own, times[times["task"] == task], BATCH) for task, own in by_task]
        return describe_cheapest(pd.concat(parts), "time", "of the time in a batch")

    x = "Time (% of the whole model's)"
    return points_page(sources, panel, "time", "speedup", x=x, headline=headline, more=more)


def add_times(rows: pd.DataFrame, times: pd.DataFrame, inputs: str) -> pd.DataFrame:
    """Rows with their time in percent of the whole model's, and its interval; means over seeds.

    Args:
        rows: From `rows_of`.
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


def retention(table: pd.DataFrame) -> pd.DataFrame:
    """Percent of the whole model's score that is retained."""
    return _first_metric(table, "retention", "retention_low", "retention_high")


def change(table: pd.DataFrame) -> pd.DataFrame:
    """Points of the score that are gained."""
    return _first_metric(table, "delta", "ci_low", "ci_high")


def smaller(table: pd.DataFrame) -> pd.DataFrame:
    """The factor by which the weights are smaller, which has no uncertainty."""
    return _first_metric(table, "smaller", "smaller", "smaller")


def _first_metric(table: pd.DataFrame, value: str, low: str, high: str) -> pd.DataFrame:
    """The first metric of every task, with a number and the ends of its interval."""
    rows = main_metric_rows(table)
    rows = rows.assign(value=rows[value], low=rows[low], high=rows[high])
    return rows[["on", "state", "seed", "method", "amount", *ESTIMATE]]
