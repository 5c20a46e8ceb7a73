"""Tables and entry of the analysis of weights beside norms (Kobayashi et al. 2020)."""

from __future__ import annotations

from typing import Any

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import FIRST, LAYER, MAPS, PUNCTUATION, SEPARATOR, names, per_head
from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.core.run.tables import Table, add_ends, integer, like, number, share, text

SPECIAL, FREQUENT, OTHER = "special", "frequent word", "other word"
KINDS = (FIRST, SEPARATOR, SPECIAL, PUNCTUATION, FREQUENT, OTHER)
"""Kinds of tokens; `SPECIAL` are the first two together. All others exclude each other."""

_SHARE = share("weight", "", "share")
_KIND = text(
    "kind",
    f"`{FIRST}`: [CLS]; `{SEPARATOR}`: [SEP]; `{SPECIAL}`: both; `{FREQUENT}`: its word piece "
    "occurs more often in the task's examples than that of the median word token",
    values=KINDS,
)
_WEIGHT = (
    *add_ends(like(_SHARE, "share of the attention weights that such tokens get")),
    like(
        _SHARE,
        "`weight` under uniform attention to the tokens in reach",
        name="uniform",
        control_of="weight",
    ),
)
_NORM = (
    *add_ends(
        like(_SHARE, "share of the lengths of what tokens add to the output, ‖α f(x)‖", name="norm")
    ),
    like(
        _SHARE,
        "`norm` with the lengths ‖f(x)‖ assigned to the tokens of an example at random",
        name="shuffled",
        control_of="norm",
    ),
)
_OVER_CONTROL = (
    *add_ends(number("over_control", "`norm` − `shuffled`", "share", low=-1, high=1)),
    number(
        "random",
        "`over_control` of the encoder with random weights: mean of its layer",
        "share",
        low=-1,
        high=1,
        control_of="over_control",
    ),
)
_KEPT = add_ends(
    number(
        "norm_weight_ratio",
        "`norm` / `weight`: what norms leave of the share of the weights; a ratio of means, "
        "not a mean of the ratios of heads or examples",
        low=0,
        optional=True,
    )
)
_LENGTH = add_ends(number("length", "mean length ‖f(x)‖, divided by that of all tokens", low=0))
_CORRELATION = (
    *add_ends(
        number(
            "correlation",
            "Pearson's correlation, over all such tokens, of the logarithms of the weight that a "
            "token gets (relative to uniform attention) and of its length ‖f(x)‖; empty if either "
            "varies by less than 0.01 %",
            low=-1,
            high=1,
            optional=True,
        )
    ),
    number(
        "random_correlation",
        "`correlation` of the encoder with random weights: mean of its layer",
        low=-1,
        high=1,
        optional=True,
        control_of="correlation",
    ),
)
_EXAMPLES = integer("examples", "examples with such a token", low=1)
_COLUMNS = (*_WEIGHT, *_NORM, *_OVER_CONTROL, *_KEPT, *_LENGTH, *_CORRELATION)
_INTERVALS = "Intervals: bootstrap over examples, as wide as Student's t; empty with fewer than 6."

NORM_STATISTICS = per_head(
    "norm_statistics",
    "How much every head attends to kinds of tokens, by weights and by norms (Kobayashi et al. "
    f"2020). Kinds absent from a task have no rows. {_INTERVALS}",
    *_COLUMNS,
    _EXAMPLES,
    kind=_KIND,
)

NORM_LEVELS = Table(
    "norm_levels",
    "Means of `norm_statistics.csv` over the heads of a layer, or of the whole encoder "
    "(correlations: over the heads that have one). Intervals of `weight`, `norm`, `summed`: "
    "bootstrap over examples; of others, also over heads (Student's t), as other heads might have "
    "been trained; empty with fewer than 6 examples.",
    (
        *MAPS,
        _KIND,
        like(LAYER, "layer, from 1; empty for all layers", optional=True),
        *_COLUMNS,
        *add_ends(
            like(
                _SHARE,
                "share of the lengths of what tokens add through all heads of a layer together, "
                "‖Σ α f(x)‖; mean over layers",
                name="summed",
            )
        ),
        _EXAMPLES,
    ),
    key=(*names(*MAPS), "kind", "layer"),
)

TABLES = (NORM_STATISTICS, NORM_LEVELS)


_GROUP = "Norms of values (4.4)"
_WORDS = {
    FIRST: "[CLS]",
    SEPARATOR: "[SEP]",
    SPECIAL: "[CLS] and [SEP]",
    FREQUENT: "frequent words",
    OTHER: "other words",
}
_FEW = (SPECIAL, FREQUENT, OTHER)


def _shown_kinds(value: str, name: str, **more: Any) -> Shown:  # noqa: ANN401 - of `Shown`
    """A column of the heads, for every kind of token."""
    about = {"kind": "kind", "words": _WORDS, "summaries": ("norm_levels",), **more}
    return Shown(NORM_STATISTICS, value, f"{name}: {{kind}}", _GROUP, **about)


SHOWN = (
    _shown_kinds("norm", "Share of norm", over="over_control", on_card=False),
    _shown_kinds(
        "norm_weight_ratio",
        "Norm / weight",
        on_card=(SPECIAL, OTHER),
        phrases=(
            Phrase(
                "norms leave {value:.0%} of its attention to {kind} (95% interval {low:.0%} to "
                "{high:.0%})",
                at_most=0.5,
                kinds=(SPECIAL,),
            ),
        ),
    ),
    _shown_kinds("length", "Length of f(x)", where={"kind": _FEW}, on_card=False),
    _shown_kinds(
        "correlation",
        "Correlation of weight and length",
        where={"kind": _FEW},
        palette="effect",
        on_card=False,
    ),
)


ANALYSIS = Analysis(
    name="norms",
    question="What share of attention is retained if the norms of value vectors count?",
    papers="Kobayashi et al. 2020",
    tables={"Section 4.4, further: weights and norms": TABLES},
    shown=SHOWN,
    about_attention=True,
    requires=("values",),
)
