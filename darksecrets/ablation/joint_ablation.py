"""Score against the number of heads disabled together (section 4.6, beyond the paper)."""

from __future__ import annotations

from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from darksecrets.ablation.panels import REFERENCES, STATE, compare, rows_of
from darksecrets.ablation.tables import JOINT_ABLATION, LEAST_IMPORTANT, MOST_IMPORTANT, RANDOM
from darksecrets.data.metrics import titles
from darksecrets.plotting import kit

_LOOKS = {
    RANDOM: kit.line(kit.GREY, "s"),
    LEAST_IMPORTANT: kit.line(kit.HELPED, "o"),
    MOST_IMPORTANT: kit.line(kit.HURT, "^"),
}
_TICKS_APART = 1.7  # least ratio of two numbers written on the logarithmic axis


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the number of disabled heads, for each order.

    Bands are 95 % intervals of the difference to the intact model, drawn around its score. Scores
    and ends of intervals are averaged over seeds. Tasks on which no heads are disabled together
    are left out.
    """
    table, metrics = sources.table(JOINT_ABLATION), sources.main_metrics
    known = set(table.loc[table["state"] == STATE, "task"])

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        compare(axes, rows)
        ends = ("low", "high")
        kit.lines(axes, rows, "heads", "score", _LOOKS, by="order", ends=ends, alpha=0.18)
        counts = sorted(rows["heads"].unique(), reverse=True)
        written = counts[:1]
        for count in counts[1:]:
            if written[-1] >= _TICKS_APART * count:
                written.append(count)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(written))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda count, _: f"{count:g}")
        axes.yaxis.set_major_locator(MaxNLocator(5))

    shown = [task for task in sources.tasks if task in known]
    panel = kit.Panel(scores, x="Heads disabled together", y="Score", height=1.4)
    grids = kit.Grid(shown, panel, most=4, title=titles(metrics))
    names = {"at random" if name == RANDOM else name: look for name, look in _LOOKS.items()}
    headline = "Score with several heads disabled, in three orders"
    return kit.page(sources, headline, grids, legend={**names, **REFERENCES})
