"""Whether attention and gradients rank tokens alike, and how soon erased tokens change a decision.

After Jain and Wallace (2019) and Serrano and Smith (2019), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.faithfulness.tables import COMPARED, ERASURE, FAITHFULNESS, IMPORTANCE
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    INK,
    PAGE,
    SMALL,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    ticks,
    wrapped,
)
from darksecrets.run.columns import RANDOM
from darksecrets.run.errors import InputError

LOOKS: dict[str, dict[str, Any]] = dict(
    zip(
        COMPARED,
        (
            {"color": "#0072B2", "marker": "o"},
            {"color": "#D55E00", "marker": "s"},
            {"color": "#009E73", "marker": "^"},
        ),
        strict=False,
    )
)
"""Lines of the pairs of rankings that are drawn: those with gradients."""
BASELINES: dict[str, dict[str, Any]] = {
    "other text": {"color": INK, "linestyle": ":", "linewidth": 0.8},
    "random weights": {"color": GREY, "linestyle": "--", "linewidth": 0.8},
}
"""Lines of the controls of the first pair."""
_MARKS: dict[str, dict[str, Any]] = {
    "most important first": {"color": INK, "marker": "o", "linestyle": "none", "markersize": 3},
    "least important first": {
        **{"color": INK, "marker": "o", "linestyle": "none", "markersize": 3},
        "markerfacecolor": "none",
    },
    "random order": {"color": INK, "linestyle": ":", "linewidth": 0.8},
}
_FINETUNED = "finetuned"
_MOST = 4  # tasks in a row


def faithfulness(
    table: pd.DataFrame, erasure: pd.DataFrame, tasks: Sequence[str], run_label: str
) -> Figure:
    """Draw rank correlations against the layer, and below how many tokens had to be erased.

    Several seeds are averaged. Tasks of regression have no decisions that could change.

    Args:
        table: Columns ``task``, ``state``, ``compared``, ``layer``, ``head`` (only rows of layers
            are drawn), ``tau``, ``tau_low``, ``tau_high``, ``other_text``.
        erasure: Columns ``task``, ``importance``, ``erased``, ``erased_low``, ``erased_high``,
            ``reversed``, ``random``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, states or tasks are missing.
    """
    names = ["task", "state", "compared", "layer", "head", "tau", "tau_low", "tau_high"]
    check_columns(table, [*names, "other_text"], "faithfulness.csv")
    names = ["task", "importance", "erased", "erased_low", "erased_high", "reversed", "random"]
    check_columns(erasure, names, "erasure.csv")
    table = table[table["layer"].notna() & table["head"].isna()]
    with style():
        groups, beside = blocks(len(tasks), _MOST)
        width = COLUMN if len(tasks) <= 2 else PAGE
        figure = new_figure(width, 0.85 + 2.1 * groups)
        shape = 2 * groups, beside
        axes = figure.subplots(*shape, height_ratios=[1.3, 0.8] * groups, squeeze=False)
        drawn = table[table["compared"].isin(LOOKS)]
        ends = drawn["tau_low"].min(), drawn["tau_high"].max()
        for number, task in enumerate(tasks):
            group, column = divmod(number, beside)
            above, below = axes[2 * group : 2 * group + 2, column]
            above.set_label(f"tau {task}")
            _correlations(above, _of_task(table, task), ends)
            above.set_title(wrapped(task, width / beside))
            above.set_ylabel("" if column else "Kendall's τ")
            below.set_label(f"erased {task}")
            _erased(below, erasure[erasure["task"] == task], named=column == 0)
        for panel in axes.ravel():
            if not panel.get_label():
                panel.remove()
        _legend(figure)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    table, erasure = sources.table(FAITHFULNESS), sources.table(ERASURE, "erasure")
    return faithfulness(table, erasure, sources.tasks, sources.label)


def _of_task(table: pd.DataFrame, task: str) -> pd.DataFrame:
    rows = table[table["task"] == task]
    if missing := {_FINETUNED, RANDOM} - set(rows["state"]):
        raise InputError(
            f"The table faithfulness.csv has no rows for {', '.join(sorted(missing))} {task}. Make "
            "the table again."
        )
    return rows


def _correlations(axes: Axes, rows: pd.DataFrame, ends: tuple[float, float]) -> None:
    """Rank correlations of one task's fine-tuned models, with the controls of the first pair."""
    means = rows.groupby(["state", "compared", "layer"], as_index=False).mean(numeric_only=True)
    of_state = {state: means[means["state"] == state] for state in (_FINETUNED, RANDOM)}
    axes.axhline(0, color=INK, linewidth=0.4)
    for name, look in LOOKS.items():
        own, random = (part[part["compared"] == name] for part in of_state.values())
        if name == next(iter(LOOKS)):
            axes.plot(own["layer"], own["other_text"], **BASELINES["other text"])
            axes.plot(random["layer"], random["tau"], **BASELINES["random weights"])
        layers = own["layer"].to_numpy(dtype=int)
        low, high = (own[f"tau_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        axes.fill_between(layers, low, high, color=look["color"], alpha=0.2, linewidth=0)
        axes.plot(layers, own["tau"], **look)
    margin = 0.05 * (ends[1] - ends[0])
    if margin > 0:
        axes.set_ylim(min(ends[0], 0) - margin, max(ends[1], 0) + margin)
    axes.set_xticks(ticks(int(rows["layer"].max()), 6))
    axes.set_xlabel("Layer")


def _erased(axes: Axes, rows: pd.DataFrame, *, named: bool) -> None:
    """Share of the tokens that had to be erased on one task, by what orders them."""
    marks = list(_MARKS.values())
    means = rows.groupby("importance").mean(numeric_only=True).reindex(IMPORTANCE)
    places = range(len(IMPORTANCE))
    axes.set(xlim=(0, 1.02), ylim=(len(IMPORTANCE) - 0.5, -0.5), yticks=places)
    axes.set_yticklabels(IMPORTANCE if named else [])
    axes.tick_params(labelsize=SMALL, length=0)
    axes.set_xlabel("Share erased", fontsize=SMALL)
    if rows.empty:
        axes.text(0.5, 0.5, "no classes", transform=axes.transAxes, ha="center", va="center")
        return
    axes.grid(axis="y", linewidth=0.25, color="0.9")
    axes.set_axisbelow(True)
    axes.hlines(places, means["erased_low"], means["erased_high"], color=INK, linewidth=0.7)
    axes.plot(means["reversed"], places, **marks[1])
    axes.plot(means["erased"], places, **marks[0])
    axes.axvline(float(means["random"].mean()), **marks[2])


def _legend(figure: Figure) -> None:
    """Name lines and marks."""
    looks = {**LOOKS, **BASELINES, **_MARKS}
    handles = [Line2D([], [], **look) for look in looks.values()]
    beside = 2 if figure.get_figwidth() <= COLUMN else 4
    figure.legend(handles, list(looks), loc="outside upper center", ncols=beside)
