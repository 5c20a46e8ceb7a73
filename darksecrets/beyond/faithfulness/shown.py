"""Figures of attention as an explanation, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.faithfulness.declared import (
    ATTENTION_GRADIENTS,
    COMPARED,
    ERASURE,
    FAITHFULNESS,
    IMPORTANCE,
)
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR, WORD
from darksecrets.core.run.numbers import written
from darksecrets.core.run.states import RANDOM, STATE_NAMES
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

# Whether attention and gradients rank tokens alike, and how soon erased tokens change a decision.
#
# After Jain and Wallace (2019) and Serrano and Smith (2019), section 5.

_PAIRS = list(COMPARED)
LOOKS = {
    _PAIRS[0]: kit.line(kit.BLUE, "o"),
    _PAIRS[1]: kit.line(kit.VERMILLION, "s"),
    _PAIRS[2]: kit.line(kit.GREEN, "^"),
}
"""Lines of the pairs of rankings that are drawn: those with gradients."""
_OTHER_TEXT = kit.line(kit.INK, dash=":", width=0.8)
_RANDOM_WEIGHTS = kit.line(kit.GREY, dash="--", width=0.8)
_MOST = kit.dot(kit.INK, size=3.0)
_LEAST = {**_MOST, "markerfacecolor": "none"}
_ANY = kit.line(kit.INK, dash=":", width=0.8)


def draw_faithfulness(sources: kit.Sources) -> kit.Figure:
    """Draw rank correlations against the layer, and below how many tokens had to be erased.

    Several seeds are averaged. Controls are those of the first pair of rankings. Tasks of
    regression have no decisions that could change.
    """
    table, erasure = sources.table(FAITHFULNESS), sources.table(ERASURE)
    table = table[table["layer"].notna() & table["head"].isna() & table["compared"].isin(LOOKS)]
    low, high = table["tau_low"].min(), table["tau_high"].max()
    margin, first = 0.05 * (high - low), next(iter(LOOKS))

    def correlations(axes: kit.Axes, task: str) -> None:
        own, by_chance = (
            kit.pick(table, task=task, state=state) for state in ("finetuned", RANDOM)
        )
        axes.axhline(0, color=kit.INK, linewidth=0.4)
        kit.lines(axes, own, "layer", "other_text", {first: _OTHER_TEXT}, by="compared")
        kit.lines(axes, by_chance, "layer", "tau", {first: _RANDOM_WEIGHTS}, by="compared")
        kit.lines(axes, own, "layer", "tau", LOOKS, by="compared", ends=("tau_low", "tau_high"))
        if margin > 0:
            axes.set_ylim(min(low, 0) - margin, max(high, 0) + margin)

    def erased(axes: kit.Axes, task: str) -> None:
        rows = erasure[erasure["task"] == task]
        if rows.empty:
            kit.say(axes, "no classes")
            return
        means = rows.groupby("importance").mean(numeric_only=True).reset_index()
        where: dict[str, Any] = {"at": "importance", "places": {name: name for name in IMPORTANCE}}
        kit.intervals(axes, means, "reversed", {"": _LEAST}, **where)
        ends = ("erased_low", "erased_high")
        kit.intervals(axes, means, "erased", {"": _MOST}, ends=ends, **where)
        axes.axvline(float(means["random"].mean()), **_ANY)
        axes.set_xlim(0, 1.02)

    panels = [
        [kit.Panel(correlations, "tau", x="Layer", y="Kendall's τ", height=1.3, share="columns")],
        [kit.Panel(erased, "erased", x="Share erased", height=0.85, share="columns")],
    ]
    legend = LOOKS | {"other text": _OTHER_TEXT, "untrained": _RANDOM_WEIGHTS}
    legend |= {"most important first": _MOST, "least important first": _LEAST, "random order": _ANY}
    what = (
        "Above: Kendall's τ of two rankings. Below: share of tokens erased until decisions change."
    )
    rows = kit.pick(table, state="finetuned", compared=first)
    headline = sources.headline(
        lambda tasks: _agreement_in_words(kit.pick(rows, task=tasks), first)
    )
    return kit.page(sources, headline, panels, most=4, legend=legend, what=what)


def _agreement_in_words(rows: pd.DataFrame, compared: str) -> str:
    """How alike two rankings are, mean over layers, tasks and seeds; and those of other texts."""
    tau, other = (written(rows[name].mean(), ".2f") for name in ("tau", "other_text"))
    return f"{compared.capitalize()} rank tokens with τ = {tau}, those of another text with {other}"


# How much a change of attention to a kind of token would change the loss, by layer (section 5).
#
# After Figure 3 of Clark et al. (2019), relative to tokens of all kinds.

_GRADIENT_LOOKS = {
    FIRST: kit.line(kit.VERMILLION, "o"),
    SEPARATOR: kit.line(kit.BLUE, "s"),
    PUNCTUATION: kit.line(kit.PINK, "D"),
    WORD: kit.line(kit.INK, "v", "--"),
}
"""Line of every kind of token."""
NAMES = {FIRST: "[CLS]", SEPARATOR: "[SEP]", WORD: "words"}
DRAWN = (RANDOM, "finetuned")
_ALIKE = kit.line(kit.INK, dash=":", width=0.6)


def draw_attention_gradients(sources: kit.Sources) -> kit.Figure:
    """Draw relative gradients against the layer: a column of panels per task, a row per state.

    Bands are 95% intervals; several seeds are averaged. At 1, all kinds are alike.
    """
    table = sources.table(ATTENTION_GRADIENTS)
    table = table[table["layer"].notna() & table["head"].isna()]
    top = 1.05 * max(1.0, float(table["relative"].max()))

    def gradients(axes: kit.Axes, task: str, state: str) -> None:
        rows, ends = kit.pick(table, task=task, state=state), ("relative_low", "relative_high")
        axes.axhline(1, **_ALIKE)
        kit.lines(axes, rows, "layer", "relative", _GRADIENT_LOOKS, by="kind", ends=ends)
        axes.set_ylim(0, top)

    states = {state: STATE_NAMES[state] for state in DRAWN}
    panels = kit.rows(gradients, states, "Layer", "{}\nRelative gradient")
    legend = {NAMES.get(kind, kind): look for kind, look in _GRADIENT_LOOKS.items()} | {
        "all alike": _ALIKE
    }
    on_separator = kit.pick(table, state="finetuned", kind=SEPARATOR)

    def describe(tasks: list[str]) -> str:
        times = f"{kit.pick(on_separator, task=tasks)['relative'].mean():.1f}"
        return f"Attention to [SEP] changes the loss {times} times as much as that to any token"

    headline = sources.headline(describe)
    return kit.page(sources, headline, panels, most=4, legend=legend)


_MODEL = ["state", "seed"]


def separator_in_upper_layers(gradients: pd.DataFrame) -> pd.DataFrame:
    """The gradient by attention to [SEP], relative to other tokens, in the upper half of layers.

    Args:
        gradients: The table ``attention_gradients``.

    Returns:
        Columns ``state``, ``seed``; ``value``, with ``low`` and ``high``: means of those of the
        layers, which is valid for any dependence.
    """
    _, upper = _halves(_separator_gradients(gradients))
    return means_of_independent(upper, _MODEL)


def separator_upper_over_lower(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the lower half of the layers; see above.

    Returns:
        No rows for encoders of one layer.
    """
    lower, upper = _halves(_separator_gradients(gradients))
    return means_of_independent(minus(upper, lower, ["task", *_MODEL]), _MODEL)


def separator_over_random(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the encoder with random weights; see above."""
    _, upper = _halves(_separator_gradients(gradients))
    is_random = upper["state"] == RANDOM
    return means_of_independent(minus(upper[~is_random], upper[is_random], ["task"]), _MODEL)


def agreement(faithfulness: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of the whole encoder.

    Args:
        faithfulness: The table ``faithfulness``.

    Returns:
        Columns ``state``, ``seed``, ``compared``; ``value``, with ``low`` and ``high``.
    """
    rows = faithfulness[faithfulness["layer"].isna()]
    return means_of_independent(named(rows, "tau"), [*_MODEL, "compared"])


def gain_over_random_order(erasure: pd.DataFrame) -> pd.DataFrame:
    """How many more tokens must be erased than in random order.

    Args:
        erasure: The table ``erasure``.

    Returns:
        Columns ``state``, ``seed``, ``importance``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(named(erasure, "over_random"), [*_MODEL, "importance"])


def _separator_gradients(gradients: pd.DataFrame) -> pd.DataFrame:
    """Relative gradients by attention to [SEP], of layers."""
    rows = gradients[gradients["kind"] == SEPARATOR]
    return named(rows[rows["layer"].notna() & rows["head"].isna()], "relative")


def _halves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Means over the lower and the upper half of the layers, without a middle one."""
    last, key = int(rows["layer"].max()), ["task", *_MODEL]
    first = last // 2 if last > 1 else 0
    halves = rows[rows["layer"] <= first], rows[rows["layer"] > last - max(first, 1)]
    lower, upper = (
        half.groupby(key, sort=False, dropna=False)[ESTIMATE].mean().reset_index()
        for half in halves
    )
    return lower, upper
