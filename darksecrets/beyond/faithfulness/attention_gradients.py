"""How much a change of attention to a kind of token would change the loss, by layer (section 5).

After Figure 3 of Clark et al. (2019), relative to tokens of all kinds.
"""

from __future__ import annotations

from darksecrets.beyond.faithfulness.tables import ATTENTION_GRADIENTS
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FIRST, PUNCTUATION, RANDOM, SEPARATOR, WORD

LOOKS = {
    FIRST: kit.line(kit.VERMILLION, "o"),
    SEPARATOR: kit.line(kit.BLUE, "s"),
    PUNCTUATION: kit.line(kit.PINK, "D"),
    WORD: kit.line(kit.INK, "v", "--"),
}
"""Line of every kind of token."""
NAMES = {FIRST: "[CLS]", SEPARATOR: "[SEP]", WORD: "words"}
DRAWN = (RANDOM, "finetuned")
_ALIKE = kit.line(kit.INK, dash=":", width=0.6)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw relative gradients against the layer: a column of panels per task, a row per state.

    Bands are 95% intervals; several seeds are averaged. At 1, all kinds are alike.
    """
    table = sources.table(ATTENTION_GRADIENTS)
    table = table[table["layer"].notna() & table["head"].isna()]
    top = 1.05 * max(1.0, float(table["relative"].max()))

    def gradients(axes: kit.Axes, task: str, state: str) -> None:
        rows, ends = kit.pick(table, task=task, state=state), ("relative_low", "relative_high")
        axes.axhline(1, **_ALIKE)
        kit.lines(axes, rows, "layer", "relative", LOOKS, by="kind", ends=ends)
        axes.set_ylim(0, top)

    panels = kit.rows(gradients, DRAWN, "Layer", "{}\nRelative gradient")
    legend = {NAMES.get(kind, kind): look for kind, look in LOOKS.items()} | {"all alike": _ALIKE}
    headline = "Gradients of attention to kinds of tokens"
    return kit.page(sources, headline, panels, most=4, legend=legend)
