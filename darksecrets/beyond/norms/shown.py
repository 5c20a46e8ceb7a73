"""The figure of weights beside norms, and numbers that claims need."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.norms.declared import FREQUENT, NORM_LEVELS, OTHER
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR
from darksecrets.core.run.states import FINETUNED, STATE_NAMES, STATES_OF_FIGURES
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

# How much heads attend to kinds of tokens, by weights and by norms (section 4.4).
#
# After Figure 4 of Kobayashi et al. (2020), with shares instead of sums.

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
SIDES = {"weight": "weights", "norm": "norms"}
"""Columns with the shares, and what they are shares of."""


def draw_weights_and_norms(sources: kit.Sources) -> kit.Figure:
    """Draw the share of every kind of token against the layer: weights above norms.

    Lines are means over seeds and learned tasks; bands reach from the task with the least mean to
    the one with the greatest, or are the intervals of a single task.
    """
    table = kit.pick(sources.table(NORM_LEVELS), task=sources.averaged, kind=LOOKS)
    table = table[table["layer"].notna()]
    means = {
        side: kit.average_over_tasks(
            table, side, ["state", "kind", "layer"], (f"{side}_low", f"{side}_high")
        )
        for side in SIDES
    }
    top = min(1.0, 1.1 * max(float(rows["greatest"].max()) for rows in means.values()))

    def share(axes: kit.Axes, state: str, side: str) -> None:
        rows = kit.pick(means[side], state=state)
        kit.lines(axes, rows, "layer", "mean", LOOKS, by="kind", ends=kit.ENDS_OF_BAND)
        axes.set_ylim(0, top)

    panels = [
        [kit.Panel(share, of=(side,), x=x, y=f"Share of {words}", height=1.5, share="columns")]
        for (side, words), x in zip(SIDES.items(), ("", "Layer"), strict=True)
    ]
    states = [state for state in STATES_OF_FIGURES if (table["state"] == state).any()]
    columns = kit.Grid(states, panels, most=3, title=lambda state: STATE_NAMES[state])
    return kit.page(
        sources,
        sources.headline(lambda _: _headline(kit.pick(table, state=FINETUNED))),
        columns,
        legend={NAMES.get(kind, kind): look for kind, look in LOOKS.items()},
        what=kit.means_in_words(sources.averaged, intervals=True),
        averaged=True,
    )


def _headline(rows: pd.DataFrame) -> str:
    """The special token whose share changes most if lengths count, mean over layers and tasks."""
    special = rows[rows["kind"].isin((FIRST, SEPARATOR))]
    shares = special.groupby("kind")[list(SIDES)].mean()
    kind = str((shares["weight"] - shares["norm"]).abs().idxmax())
    weight, norm = (100 * float(shares[side][kind]) for side in SIDES)
    return f"{NAMES[kind]} gets {weight:.0f}% of the weights, and adds {norm:.0f}% of the norms"


_KEY = ["state", "seed", "kind"]


def norm_weight_ratio(levels: pd.DataFrame) -> pd.DataFrame:
    """What norms leave of the share of weight of each kind of token.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        Columns ``state``, ``seed``, ``kind``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(_encoder_rows(levels, "norm_weight_ratio"), _KEY)


def norm_over_uniform(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that under uniform attention."""
    rows = _encoder_rows(levels, "norm")
    over = rows.assign(**{name: rows[name] - rows["uniform"] for name in ESTIMATE})
    return means_of_independent(over, _KEY)


def norm_over_control(levels: pd.DataFrame) -> pd.DataFrame:
    """The share of norm of each kind of token, minus that with random lengths."""
    return means_of_independent(_encoder_rows(levels, "over_control"), _KEY)


def correlations(levels: pd.DataFrame) -> pd.DataFrame:
    """The correlation of weight and length of each kind of token; see `norm_weight_ratio`."""
    return means_of_independent(_encoder_rows(levels, "correlation"), _KEY)


def length_of_frequent_words(levels: pd.DataFrame) -> pd.DataFrame:
    """How much longer the vectors of frequent words are than those of other words.

    Args:
        levels: The table ``norm_levels``.

    Returns:
        As `norm_weight_ratio`; the interval of the difference adds the half-widths of both, which
        is valid for any dependence.
    """
    rows = _encoder_rows(levels, "length")
    frequent, other = (rows[rows["kind"] == kind] for kind in (FREQUENT, OTHER))
    return means_of_independent(minus(frequent, other, ["task", "state", "seed"]), _KEY)


def _encoder_rows(levels: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows of the whole encoder, with a column and its interval as ``value``, ``low``, ``high``."""
    return named(levels[levels["layer"].isna()], column)
