"""Which features have stripes in which task: an index to the figures of stripes (section 4.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.features.figures.figure7 import FEATURES
from darksecrets.paper.features.tables import ATTENTION_CHANGES, ATTENTION_LEVELS, GREATEST

_LONG = 5  # names with more letters are written upwards
_STRENGTH = "after fine-tuning, relative to random tokens"
_CHANGE = "change by fine-tuning, over random tokens"
_LABELS = {
    _STRENGTH: "Attention ÷ that of random tokens",
    _CHANGE: "Change × 100, minus that of random tokens",
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw how strong the stripes of every feature are in every task, and how they change.

    Left is the attention after fine-tuning relative to that of random tokens, on a logarithmic
    scale; right is its change by fine-tuning, minus that of random tokens. Both are means over the
    heads of the encoder. Bold numbers differ from their control.
    """
    levels, changes = sources.table(ATTENTION_LEVELS), sources.table(ATTENTION_CHANGES)
    chosen = (levels["state"] == "finetuned") & (levels["measure"] == GREATEST)
    levels, changes = levels[chosen & levels["layer"].isna()], changes[changes["layer"].isna()]
    tasks = sources.tasks
    weight, low, high, control = (
        _cells(levels, tasks, name) for name in ("weight", "weight_low", "weight_high", "control")
    )
    ratio = weight / control.where(control > 0)
    powers = ratio.where(ratio > 0).map(np.log2)
    over, over_low, over_high = (
        PERCENT * _cells(changes, tasks, f"over_control{end}") for end in ("", "_low", "_high")
    )
    half = (over_high - over_low).to_numpy() / 2
    noise = float(np.sqrt(np.nanmean(half**2))) if np.isfinite(half).any() else 0.0
    least = max(noise, PERCENT * kit.LEAST_DIFFERENCE)
    sure = (low > control) | (high < control), _cells(changes, tasks, "q_value") < LEVEL
    parts: dict[str, Any] = {
        _STRENGTH: (powers, ratio.map(_text, form=".1f"), sure[0], max(1.0, kit.largest(powers))),
        _CHANGE: (
            over,
            over.map(_text, form="+.1f"),
            sure[1],
            max(least, kit.largest(over)),
        ),
    }
    groups, beside = kit.blocks(len(tasks), kit.MOST)

    def features(axes: kit.Axes, side: str, group: str) -> None:
        some = tasks[int(group) * beside :][:beside]
        values, texts, bold, limit = parts[side]
        shown = texts[some].to_numpy(dtype=str), bold[some].to_numpy()
        named = values[some].rename(columns=sources.marked)
        mesh = kit.matrix(axes, named, kit.CHANGE, limit, texts=shown[0], bold=shown[1])
        axes.tick_params(axis="x", rotation=90 if max(map(len, tasks)) > _LONG else 0)
        bar = kit.scale(axes.figure, mesh, _LABELS[side], ax=axes, location="bottom", aspect=40)
        bar.locator = MaxNLocator(7 if side == _STRENGTH else 5, integer=side == _STRENGTH)
        bar.ax.xaxis.set_major_formatter(
            _power if side == _STRENGTH else lambda value, _: written(value, "g")
        )

    look: dict[str, Any] = {"x": "Task", "height": 1.5, "share": "columns"}
    panels = [[kit.Panel(features, of=(str(group),), **look)] for group in range(groups)]
    grid = kit.Grid(list(parts), panels)
    headline = sources.headline(lambda tasks: _headline(ratio[tasks].mean(axis=1)))
    return kit.page(sources, headline, grid, width=kit.PAGE, what="Bold: not as random tokens.")


def _headline(ratios: pd.Series[float]) -> str:
    """The feature with the strongest stripes, mean over tasks, and the next one."""
    (first, strongest), (second, next_one) = ratios.nlargest(2).items()
    return (
        f"{str(first).capitalize() if not str(first).startswith('[') else first} gets "
        f"{strongest:.1f} times the attention of random tokens; next, {second}: {next_one:.1f}"
    )


def _cells(rows: pd.DataFrame, tasks: list[str], column: str) -> pd.DataFrame:
    """[feature, task] values of a column; NaN where the table has none."""
    wide = rows.pivot(index="feature", columns="task", values=column)
    return wide.reindex(index=list(FEATURES), columns=tasks).astype(float)


def _text(value: float, form: str) -> str:
    """A number without the sign of 0; empty if there is none."""
    text = "" if np.isnan(value) else written(value, form)
    return text[1:] if text in ("+0.0", "−0.0") else text


def _power(power: float, _: object) -> str:
    return f"{2**power:g}" if power >= 0 else f"1/{2**-power:g}"
