"""How strong stripes at special tokens are, by several measures of attention (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.beyond.attention_measures.declared import LEVELS
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import (
    EFFECTIVE,
    MEASURE,
    MEASURES,
    NORMS,
    WEIGHTS,
)
from darksecrets.core.run.states import FINETUNED, RANDOM
from darksecrets.paper.features.tables import GREATEST

LOOKS = {
    WEIGHTS: kit.line(kit.INK, "o"),
    NORMS: kit.line(kit.BLUE, "s"),
    EFFECTIVE: kit.line(kit.VERMILLION, "^"),
}
"""Line of every measure."""
FEATURES = ("[CLS]", "[SEP]")
_BY_CHANCE = {WEIGHTS: kit.line(kit.GREY, dash=":", width=0.8)}


def draw_stripes_by_measure(sources: kit.Sources) -> kit.Figure:
    """Draw the attention to [CLS] and to [SEP] against the layer, a line for every measure.

    Lines are of the fine-tuned models, means over seeds and learned tasks, with bands from the task
    with the least mean to the one with the greatest, or the intervals of a single task; dotted
    lines are of an encoder with random weights, by attention weights.
    """
    table = kit.pick(sources.table(LEVELS), task=sources.averaged, measure=GREATEST)
    table = table[table["layer"].notna()]
    by = MEASURE.name
    keys = ["state", "feature", by, "layer"]
    means = kit.average_over_tasks(table, "weight", keys, ("weight_low", "weight_high"))
    shown = [name for name in MEASURES if (table[by] == name).any()]
    looks = {name: LOOKS[name] for name in shown}

    def levels(axes: kit.Axes, feature: str) -> None:
        rows = kit.pick(means, feature=feature)
        measured, by_chance = (kit.pick(rows, state=state) for state in (FINETUNED, RANDOM))
        kit.lines(axes, measured, "layer", "mean", looks, by=by, ends=kit.ENDS_OF_BAND)
        kit.lines(axes, by_chance, "layer", "mean", _BY_CHANCE, by=by)
        axes.set_ylim(bottom=0)

    panel = kit.Panel(levels, x="Layer", y="Attention", height=1.5)
    legend = {"effective attention" if name == EFFECTIVE else name: looks[name] for name in shown}
    legend["untrained"] = _BY_CHANCE[WEIGHTS]
    what = f"After fine-tuning, by layer. {kit.means_in_words(sources.averaged, intervals=True)}"
    rows = kit.pick(table, state=FINETUNED, feature="[SEP]")
    headline = sources.headline(lambda _: _headline(rows, shown))
    grid = kit.Grid(FEATURES, panel, title="Attention to {}".format)
    return kit.page(sources, headline, grid, legend=legend, what=what, averaged=True)


def _headline(rows: pd.DataFrame, measures: Sequence[str]) -> str:
    """How much attention [SEP] gets by each measure, mean over layers and tasks."""
    means = rows.groupby(MEASURE.name)["weight"].mean()
    said = [f"{100 * means[name]:.0f}% by {_WORDS[name]}" for name in measures]
    return f"[SEP] gets {', '.join(said)}"


_WORDS = {WEIGHTS: "weights", NORMS: "norms", EFFECTIVE: "effective attention"}
