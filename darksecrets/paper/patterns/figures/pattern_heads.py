"""The most frequent pattern of every head, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import STATE_NAMES
from darksecrets.paper.patterns.tables import PATTERN_HEADS

STATES = ("pretrained", "finetuned")
_CELL = 0.115  # inches between two heads: room for a letter
_MARGIN = 0.3  # inches of a panel that are not heads
_FULL = 0.94  # side of the square of a head with one pattern, in cells
_DARK = "vertical"  # the only colour dark enough for white letters


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a square per head with the letter and colour of its most frequent pattern.

    The area of the square is that pattern's share of the head's maps: a head with one pattern fills
    its cell. Several seeds are averaged.
    """
    table = sources.table(PATTERN_HEADS)
    layers, heads = int(table["layer"].max()), int(table["head"].max())
    beside = int(kit.PAGE / len(STATES) / (max(heads, 4) * _CELL + _MARGIN))
    beside = max(1, min(len(sources.tasks), beside))  # tasks
    cell = min(1.4 * _CELL, (kit.PAGE / len(STATES) / beside - _MARGIN) / heads)

    def squares(axes: kit.Axes, task: str, state: str) -> None:
        rows = kit.pick(table, task=task, state=state)
        pattern_rows = (rows[rows["pattern"] == name] for name in kit.PATTERNS)
        shares = np.stack([kit.grid(each, "share") for each in pattern_rows])
        sides, names = _FULL * np.sqrt(shares.max(axis=0)), np.array(list(kit.PATTERNS))
        names = names[shares.argmax(axis=0)]
        layer, head = np.indices(sides.shape) + 1
        corners = {"x": (head - sides / 2).ravel(), "bottom": (layer - sides / 2).ravel()}
        colours = [kit.PATTERNS[name] for name in names.flat]
        axes.bar(height=sides.ravel(), width=sides.ravel(), color=colours, align="edge", **corners)
        for place, name in np.ndenumerate(names):
            look: dict[str, Any] = {"color": "white" if name == _DARK else kit.INK, "ha": "center"}
            axes.text(
                place[1] + 1, place[0] + 1, kit.PATTERN_LETTERS[name], va="center_baseline", **look
            )
        axes.set(xlim=(0.5, heads + 0.5), ylim=(layers + 0.5, 0.5), aspect="equal")
        axes.set(xticks=kit.ticks(heads, 6), yticks=kit.ticks(layers, 6))
        axes.set_xticks(np.arange(heads + 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(layers + 1) + 0.5, minor=True)
        axes.grid(which="minor", color=kit.FAINT, linewidth=0.25)
        axes.set_axisbelow(True)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)

    legend: dict[str, Any] = {
        f"{kit.PATTERN_LETTERS[n]}  {n}": kit.PATTERNS[n] for n in kit.PATTERNS
    }
    look: dict[str, Any] = {"x": "Head", "height": layers * cell + 0.45, "fixed": True}
    panels = [
        kit.Panel(squares, of=STATES[:1], title=STATE_NAMES[STATES[0]], y="Layer", **look),
        kit.Panel(squares, of=STATES[1:], title=STATE_NAMES[STATES[1]], share="left", **look),
    ]
    what = (
        "Each head's most frequent pattern. The area of a square is its share of the head's maps."
    )
    look = {"most": beside, "align": "left", "width": kit.PAGE, "what": what}
    headline = sources.headline(partial(_headline, table))
    return kit.page(sources, headline, [panels], legend=legend, **look)


def _headline(table: pd.DataFrame, tasks: Sequence[str]) -> str:
    """The pattern that most heads show most often after fine-tuning, over all tasks."""
    rows = kit.pick(table, task=tasks, state=STATES[1])
    shares = rows.groupby(["task", "layer", "head", "pattern"])["share"].mean().unstack()
    commonest = shares[list(kit.PATTERNS)].idxmax(axis=1).value_counts()
    whose = "heads" if len(tasks) == 1 else "heads and tasks"
    said = [f"{count} mostly {pattern}" for pattern, count in commonest.items()][:2]
    return f"Of {len(shares)} {whose}, {' and '.join(said)} after fine-tuning"
