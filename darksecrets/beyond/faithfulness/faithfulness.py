"""Whether attention and gradients rank tokens alike, and how soon erased tokens change a decision.

After Jain and Wallace (2019) and Serrano and Smith (2019), section 5.
"""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.faithfulness.tables import COMPARED, ERASURE, FAITHFULNESS, IMPORTANCE
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM

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


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw rank correlations against the layer, and below how many tokens had to be erased.

    Several seeds are averaged. Controls are those of the first pair of rankings. Tasks of
    regression have no decisions that could change.
    """
    table, erasure = sources.table(FAITHFULNESS), sources.table(ERASURE, "erasure")
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
    legend = LOOKS | {"other text": _OTHER_TEXT, "random weights": _RANDOM_WEIGHTS}
    legend |= {"most important first": _MOST, "least important first": _LEAST, "random order": _ANY}
    headline = "Whether attention and gradients rank tokens alike, and what erasing them takes"
    return kit.page(sources, headline, panels, most=4, legend=legend)
