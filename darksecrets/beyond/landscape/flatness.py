"""How flat the loss is around fine-tuned models, by how they began (Hao et al. 2019)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.landscape import tables
from darksecrets.beyond.landscape.flatness_means import learned
from darksecrets.core.plotting import kit

_LOOKS = {tables.STATES[0]: kit.dot(kit.BLUE), tables.STATES[1]: kit.dot(kit.VERMILLION, "s")}
_WORDS = {tables.STATES[0]: "from pre-trained weights", tables.STATES[1]: "from random weights"}
_TITLES = {
    tables.RISE: "Mean rise",
    tables.SHARPNESS: "Sharpness (%)",
    tables.TRACE: "Trace of the Hessian",
    tables.TOP: "Top eigenvalue",
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a panel for each measure: both states on every task.

    Small marks are single seeds; large ones their means, with intervals, hollow for models that
    have not learned. Scales are logarithmic where all is positive and means differ by more than a
    factor of ten.
    """
    means, seeds = sources.table(tables.FLATNESS_MEANS), sources.table(tables.FLATNESS, "seeds")
    flags = learned(seeds).rename("learned").reset_index()
    means = means.merge(flags, on=["task", "state", "split"], how="left")
    means, seeds = (_chosen(rows) for rows in (means, seeds))
    means["learned"] = means["learned"].fillna(value=False).astype(bool)
    places = {task: task for task in sources.tasks}

    def states(axes: kit.Axes, title: str) -> None:
        of_seeds, rows = (table[table["measure"] == measure[title]] for table in (seeds, means))
        look: dict[str, Any] = {
            "at": "task",
            "by": "state",
            "spread": ["state"],
            "apart": 0.3,
            "upright": True,
        }
        small = {state: {**each, "markersize": 1.6, "alpha": 0.6} for state, each in _LOOKS.items()}
        beside = of_seeds.assign(task=of_seeds["task"].map(list(places).index) + 0.09)
        kit.intervals(axes, beside, "value", small, **look)
        ends = ("ci_low", "ci_high")
        kit.intervals(axes, rows, "value", _LOOKS, places=places, ends=ends, sure="learned", **look)
        axes.tick_params(axis="x", rotation=90 if len(places) > 3 else 0)
        if min(of_seeds["value"].min(), rows[["value", "ci_low"]].min().min()) > 0:
            if rows["value"].max() > 10 * rows["value"].min():
                axes.set_yscale("log")
        else:
            axes.axhline(0, color=kit.BAND, linewidth=0.6, zorder=0)

    measure = {title: name for name, title in _TITLES.items()}
    legend = {_WORDS[state]: look for state, look in _LOOKS.items()}
    legend["hollow: not learned"] = kit.hollow(kit.dot(kit.GREY))
    panel = kit.Panel(states, x="Task", y="Sharper →", height=1.6)
    headline = "How sharply the loss rises around fine-tuned models"
    return kit.page(sources, headline, kit.Grid(list(measure), panel, most=4), legend=legend)


def _chosen(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the training examples, or of the only split there is."""
    split = tables.TRAIN if (table["split"] == tables.TRAIN).any() else table["split"].iloc[0]
    return table[table["split"] == split].copy()
