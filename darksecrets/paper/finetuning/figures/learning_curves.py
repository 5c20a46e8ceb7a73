"""Learning curves of the fine-tuned models behind Table 1 (section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.ticker import MaxNLocator

from darksecrets.core.data.metrics import titles
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import STATE_NAMES
from darksecrets.paper.finetuning.tables import BASELINES, LEARNING_CURVES

_MAJORITY = kit.line(kit.INK, dash="--", width=0.8)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw training loss above the validation score over epochs, for every task.

    One colour per state, one thin line per seed and, with several seeds, their mean as a thick
    line. A dashed line is the score of a model that always predicts the most frequent label; a task
    whose majority has no score gets none.
    """
    table, baselines = sources.table(LEARNING_CURVES), sources.table(BASELINES)
    metrics = sources.main_metrics

    def loss(axes: kit.Axes, task: str) -> None:
        _curves(axes, kit.pick(table, task=task, split="train", quantity="loss"))
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)

    def score(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task, split="validation", quantity=metrics[task])
        _curves(axes, rows, marker="o")
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        known = baselines[(baselines["task"] == task) & (baselines["baseline"] == "majority")]
        for value in known.loc[known["metric"] == metrics[task], "score"].dropna():
            axes.axhline(value, label="majority", zorder=1, **_MAJORITY)

    panels = [
        [kit.Panel(loss, "loss", y="Training loss", height=0.72)],
        [kit.Panel(score, "score", x="Epoch", y="Validation\nscore", height=0.78)],
    ]
    states = [state for state in kit.STATES if state in set(table["state"])]
    legend = {STATE_NAMES[state]: kit.line(kit.STATES[state]) for state in states}
    legend["most frequent label"] = _MAJORITY
    headline = sources.headline(partial(_headline, table=table, metrics=metrics))
    return kit.page(
        sources, headline, panels, most=4, title=titles(metrics, sources.marked), legend=legend
    )


def _headline(tasks: list[str], table: pd.DataFrame, metrics: Mapping[str, str]) -> str:
    """On how many tasks the mean final score is lower without pre-training."""
    lower = compared = 0
    for task in tasks:
        rows = kit.pick(table, task=task, split="validation", quantity=metrics[task])
        last = rows[rows["epoch"] == rows["epoch"].max()].groupby("state")["value"].mean()
        if {"finetuned", "finetuned-from-normal"} <= {*last.index}:
            compared += 1
            lower += int(last["finetuned-from-normal"] < last["finetuned"])
    if not compared:
        return "Losses and scores during fine-tuning"
    return f"Without pre-training, scores end lower on {lower or 'none'} of {compared} tasks"


def _curves(axes: kit.Axes, rows: pd.DataFrame, **look: Any) -> None:  # noqa: ANN401 - see `Line2D`
    """Draw a thin line per state and seed, and a thick one for the mean of several seeds."""
    state_looks = {"hue": "state", "palette": kit.STATES, "legend": False, "markeredgewidth": 0}
    several = rows["seed"].nunique() > 1
    thin = {"linewidth": 0.5, "alpha": 0.5} if several else look
    styles = [{"units": "seed", "estimator": None, **thin}, {"errorbar": None, **look}]
    for each in styles[: 1 + several]:
        sns.lineplot(rows, x="epoch", y="value", ax=axes, **state_looks, **each)
