"""The figure of weights beside norms, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.norms.declared import FREQUENT, NORM_LEVELS, OTHER
from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR
from darksecrets.core.run.states import STATES_OF_FIGURES
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


def draw_weights_and_norms(sources: kit.Sources) -> kit.Figure:
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
    headline = _separator_shares(kit.pick(table, kind=SEPARATOR, state="finetuned"))
    return kit.page(sources, headline, panels, most=4, align="left", legend=legend)


def _separator_shares(rows: pd.DataFrame) -> str:
    """The share of [SEP] in weights and in norms, mean over layers and tasks."""
    weight, norm = (100 * float(rows[name].mean()) for name in ("weight", "norm"))
    return f"[SEP] gets {weight:.0f}% of the weights, and adds {norm:.0f}% of the norms"


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
