"""How much heads attend to kinds of tokens, by weights and by norms (section 4.4).

After Figure 4 of Kobayashi et al. (2020), with shares instead of sums.
"""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.norms.tables import FREQUENT, NORM_LEVELS, OTHER
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR, STATES_OF_FIGURES

LOOKS = {
    FIRST: kit.line(kit.VERMILLION, "o"),
    SEPARATOR: kit.line(kit.BLUE, "s"),
    PUNCTUATION: kit.line(kit.PINK, "D"),
    FREQUENT: kit.line(kit.GREEN, "^", "--"),
    OTHER: kit.line(kit.INK, "v", "--"),
}
"""Line of every kind of token; together, they get all of the weight, and all of the norm."""
NAMES = {FIRST: "[CLS]", SEPARATOR: "[SEP]", FREQUENT: "frequent words", OTHER: "other words"}
"""What the legend calls kinds whose names do not read well."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the share of every kind of token against the layer: weights beside norms.

    Bands are 95% intervals; several seeds are averaged.
    """
    table = sources.table(NORM_LEVELS)
    table = table[table["layer"].notna() & table["kind"].isin(LOOKS)]
    top = min(1.0, 1.1 * float(table[["weight", "norm"]].to_numpy().max()))

    def share(axes: kit.Axes, task: str, state: str, side: str) -> None:
        rows = kit.pick(table, task=task, state=state)
        kit.lines(axes, rows, "layer", side, LOOKS, by="kind", ends=(f"{side}_low", f"{side}_high"))
        axes.set_ylim(0, top)

    left: dict[str, Any] = {"title": "weights", "share": "columns"}
    panels = [
        [
            kit.Panel(share, of=(state, "weight"), x=x, y=f"{state}\nShare", **left),
            kit.Panel(share, of=(state, "norm"), x=x, title="norms", share="left"),
        ]
        for state, x in zip(STATES_OF_FIGURES, ("", "", "Layer"), strict=True)
    ]
    legend = {NAMES.get(kind, kind): look for kind, look in LOOKS.items()}
    headline = "Attention to kinds of tokens, by weights and by norms"
    return kit.page(sources, headline, panels, most=4, align="left", legend=legend)
