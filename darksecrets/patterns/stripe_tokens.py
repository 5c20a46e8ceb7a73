"""Which token the stripe is, in maps that are classified as having columns (section 4.1)."""

from __future__ import annotations

from typing import Any

from matplotlib.patheffects import withStroke

from darksecrets.patterns.tables import SPECIAL, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.plotting import kit
from darksecrets.run.columns import FIRST, PUNCTUATION, SEPARATOR, STATES_OF_FIGURES, WORD

COLOURS = {
    WORD: kit.PATTERNS["heterogeneous"],
    PUNCTUATION: kit.ORANGE,
    SEPARATOR: kit.SKY,
    FIRST: kit.BLUE,
}
NAMES = {FIRST: "[CLS], first special", SEPARATOR: "[SEP], other special"}
"""What the legend says of kinds whose names are not enough."""
_NUMBERS = ["maps", "share", "ci_low", "ci_high", "control"]


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw, for every task and state, the shares of the kinds of the strongest columns.

    A tick on a bar is the share of special tokens among random columns, a whisker the interval of
    their share. Beside it is the number of maps. Several seeds are averaged.
    """
    table, places = sources.table(STRIPE_TOKENS), kit.bars_of(sources.tasks, STATES_OF_FIGURES)
    rows = table[table["layer"].isna()]

    def kinds(axes: kit.Axes, pattern: str) -> None:
        own = kit.pick(rows, pattern=pattern, task=sources.tasks)
        kit.shares(axes, own.dropna(subset="share"), "share", "kind", COLOURS, places)
        for (task, state), place in places.items():
            of_model = kit.pick(own, task=task, state=state, kind=SPECIAL)
            special = of_model[_NUMBERS].mean()
            small: dict[str, Any] = {"va": "center", "ha": "left", "color": kit.GREY}
            axes.text(1.02, place, f"{special['maps']:.0f}", **small)
            if not special["maps"]:
                axes.text(0.02, place, "no maps", **small)
                continue
            ends = special[["ci_low", "ci_high"]]
            if ends.notna().all():
                halo = [withStroke(linewidth=1.6, foreground="white")]
                axes.plot(ends, [place] * 2, color=kit.INK, linewidth=0.7, path_effects=halo)
            tick = [place - kit.BAR / 2, place + kit.BAR / 2]
            axes.plot([special["control"]] * 2, tick, color=kit.INK, linewidth=1)

    legend: dict[str, Any] = {NAMES.get(kind, kind): COLOURS[kind] for kind in reversed(COLOURS)}
    legend |= {"special, by chance": kit.dot(kit.INK, "|", 5.0)}
    legend |= {"special, 95% interval": kit.line(kit.INK, width=0.7)}
    height = 0.115 * (max(places.values()) + 3)
    panel = kit.Panel(kinds, x="Share of maps", height=height, fixed=True, share="columns")
    headline = "Which tokens the columns of maps are"
    grids = kit.Grid(WITH_COLUMNS, panel)
    return kit.page(sources, headline, grids, legend=legend, width=kit.COLUMN)
