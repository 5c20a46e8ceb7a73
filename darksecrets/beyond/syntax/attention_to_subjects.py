"""How much verbs attend to their subjects, beside other nouns, by layer (Lin et al. 2019)."""

from __future__ import annotations

from darksecrets.beyond.syntax.tables import ANY, DISTRACTORS, MANY
from darksecrets.core.plotting import kit

_TITLES = {ANY: "any others", "1": "1 other", "2": "2 others", MANY: f"{MANY} others"}
"""Titles of the panels, by the number of other nouns before the verb."""
_SUBJECT = kit.line(kit.MARK, "o")
_HOLLOW = {"markerfacecolor": "none", "markersize": 5.5, "markeredgewidth": 0.7}
_OTHERS = {
    "nearest": kit.line(kit.INK, "<", "--", width=0.7, **_HOLLOW),
    "random": kit.line(kit.GREY, "x", ":", width=0.8),
}
"""Lines of the controls that differ between layers. The nearest noun is often the subject: hollow
markers show both."""
_EQUAL = kit.line(kit.BASELINE, width=1.2)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the share of a verb's weight that its subject gets, a panel per number of other nouns.

    If no verb follows its subject and another noun, the figure says so.
    """
    table = sources.table(DISTRACTORS)
    rows = table[(table["state"] == "pretrained") & table["layer"].notna()]
    shown = [count for count in _TITLES if (rows["distractors"] == count).any()]
    highest = float(rows[["share_high", "share", *_OTHERS]].max().max())

    def shares(axes: kit.Axes, count: str) -> None:
        if not shown:
            kit.say(axes, "No verb follows its subject and another noun.")
            return
        own = kit.pick(rows, distractors=count)
        ends = ("share_low", "share_high")
        kit.lines(axes, own, "layer", "share", {"subject": _SUBJECT}, ends=ends)
        for name, look in _OTHERS.items():
            kit.lines(axes, own, "layer", name, {name: look})
        axes.axhline(float(own["uniform"].iloc[0]), zorder=1, **_EQUAL)
        axes.set_ylim(0, min(1.0, 1.1 * highest))

    def title(count: str) -> str:
        number = int(kit.pick(rows, distractors=count)["verbs"].iloc[0]) if shown else 0
        return f"{_TITLES[count]} (n = {number})"

    names = "subject", "nearest noun", "subject, random weights", "equal parts"
    legend = dict(zip(names, (_SUBJECT, *_OTHERS.values(), _EQUAL), strict=True))
    panel = kit.Panel(shares, x="Layer", y="Share of weight", share="columns")
    grids = kit.Grid(shown or [ANY], panel, most=2, title=title)
    headline = "Attention of verbs to their subjects"
    return kit.page(sources, headline, grids, legend=legend, width=kit.COLUMN)
