"""What the atlas shows of weights beside norms."""

from __future__ import annotations

from darksecrets.norms.tables import FREQUENT, NORM_STATISTICS, OTHER, SPECIAL
from darksecrets.run.columns import FIRST, SEPARATOR
from darksecrets.run.shown import Phrase, Shown

_GROUP = "Norms of values (4.4)"
_WORDS = {
    FIRST: "[CLS]",
    SEPARATOR: "[SEP]",
    SPECIAL: "[CLS] and [SEP]",
    FREQUENT: "frequent words",
    OTHER: "other words",
}
_FEW = (SPECIAL, FREQUENT, OTHER)

SHOWN = (
    Shown(
        NORM_STATISTICS,
        "norm",
        "Share of norm: {kind}",
        _GROUP,
        kind="kind",
        words=_WORDS,
        over="over_control",
        summaries=("norm_levels",),
        on_card=False,
    ),
    Shown(
        NORM_STATISTICS,
        "kept",
        "Norm / weight: {kind}",
        _GROUP,
        kind="kind",
        words=_WORDS,
        summaries=("norm_levels",),
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
    Shown(
        NORM_STATISTICS,
        "length",
        "Length of f(x): {kind}",
        _GROUP,
        kind="kind",
        where={"kind": _FEW},
        words=_WORDS,
        summaries=("norm_levels",),
        on_card=False,
    ),
    Shown(
        NORM_STATISTICS,
        "correlation",
        "Correlation of weight and length: {kind}",
        _GROUP,
        kind="kind",
        where={"kind": _FEW},
        words=_WORDS,
        palette="effect",
        summaries=("norm_levels",),
        on_card=False,
    ),
)
