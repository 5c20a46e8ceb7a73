"""Figure 7: what [CLS] attends to in the last layer, after fine-tuning (section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM
from darksecrets.core.words import listed
from darksecrets.paper.features.profiles import ROUNDING
from darksecrets.paper.features.tables import CLS_ATTENTION

FEATURES = (
    "[CLS]",
    "[SEP]",
    "punctuation",
    "noun",
    "pronoun",
    "verb",
    "subject",
    "object",
    "negation",
)
"""Rows of a panel, from the top."""
_WITHOUT_ARTICLE = ("[CLS]", "[SEP]", "punctuation")
HEIGHT = 1.6
"""Inches of a narrow panel, so that its rows are as high as their words."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a heatmap of features × heads per task, as in the paper; several seeds are averaged.

    Dots mark weights above the control, which random tokens get: the greatest weight favours
    features that many tokens have. Cells of a feature that is absent from the task are grey.
    """
    table = sources.table(CLS_ATTENTION)
    by_chance = table.loc[table["state"] == RANDOM, "weight"].max()
    weights = {task: values(table, task, "weight") for task in sources.tasks}
    controls = {task: values(table, task, "control") for task in sources.tasks}
    tuned = kit.pick(table, state="finetuned", task=sources.tasks)
    limit = kit.end_of_weights(float(tuned["uniform"].mean()), *weights.values())

    def features(axes: kit.Axes, task: str) -> kit.QuadMesh:
        mesh = kit.matrix(axes, weights[task], kit.WEIGHT, limit, 0, labels=8)
        kit.mark(axes, weights[task] > controls[task], label="above the control", markersize=2)
        return mesh

    bar = kit.Bar("Weight", below=True)
    panel = kit.Panel(features, x="Head", height=HEIGHT, share="columns", bar=bar)
    legend = {"more than random tokens get": kit.dot(kit.MARK, size=2.5)}
    what = "Largest weight from [CLS] to such a token, mean over examples."
    if pd.notna(by_chance):
        what += f" Without training it is at most {by_chance:.2f}."
    headline = sources.headline(
        lambda tasks: _headline(
            *({task: cells[task] for task in tasks} for cells in (weights, controls))
        )
    )
    return kit.page(sources, headline, [[panel]], most=4, legend=legend, what=what)


def values(table: pd.DataFrame, task: str, column: str) -> pd.DataFrame:
    """A column of the fine-tuned models of a task, features × heads; NaN for absent features."""
    rows = kit.pick(table, state="finetuned", task=task)
    heads = range(1, int(rows["head"].max()) + 1)
    wide = kit.cells(rows, column, "feature", "head")
    return wide.reindex(index=list(FEATURES), columns=heads)


def _headline(weights: Mapping[str, pd.DataFrame], controls: Mapping[str, pd.DataFrame]) -> str:
    """The cell that is furthest above its control, and both of its numbers.

    If the head attends to other features as much, which one is furthest is chance: all are named.
    """
    tasks = list(weights)
    of_cells = np.stack([weights[task].to_numpy(dtype=np.float64) for task in tasks])
    of_tokens = np.stack([controls[task].to_numpy(dtype=np.float64) for task in tasks])
    excess = np.nan_to_num(of_cells - of_tokens, nan=-np.inf)
    if not excess.max() > 0:
        return "In the last layer, [CLS] attends to no feature more than to random tokens"
    place = np.unravel_index(excess.argmax(), excess.shape)
    task, head = tasks[place[0]], place[2] + 1
    of_head = of_cells[place[0], :, place[2]]
    as_much = np.abs(of_head - of_cells[place]) <= ROUNDING * of_cells[place]
    tied = np.flatnonzero(as_much & (excess[place[0], :, place[2]] > 0))
    features = listed([_some(FEATURES[number]) for number in tied])
    each, at_most = (" each", "at most ") if len(tied) > 1 else ("", "")
    found = f"In the last layer, {task}'s [CLS] gives {features} up to"
    share = f"{100 * of_cells[place]:.0f}%{each} (head {head})"
    by_chance = of_tokens[place[0], tied, place[2]].max()
    return f"{found} {share}, random tokens {at_most}{100 * by_chance:.0f}%"


def _some(feature: str) -> str:
    """A token with a feature, such as ``a noun``."""
    article = "" if feature in _WITHOUT_ARTICLE else "an " if feature[0] in "aeiou" else "a "
    return f"{article}{feature}"
