"""What the atlas shows of weights beside norms."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.norms.tables import FREQUENT, NORM_STATISTICS, OTHER, SPECIAL
from darksecrets.core.run.columns import FIRST, SEPARATOR
from darksecrets.core.run.shown import Phrase, Shown

_GROUP = "Norms of values (4.4)"
_WORDS = {
    FIRST: "[CLS]",
    SEPARATOR: "[SEP]",
    SPECIAL: "[CLS] and [SEP]",
    FREQUENT: "frequent words",
    OTHER: "other words",
}
_FEW = (SPECIAL, FREQUENT, OTHER)


def _of_kinds(value: str, name: str, **more: Any) -> Shown:  # noqa: ANN401 - of `Shown`
    """A column of the heads, for every kind of token."""
    about = {"kind": "kind", "words": _WORDS, "summaries": ("norm_levels",), **more}
    return Shown(NORM_STATISTICS, value, f"{name}: {{kind}}", _GROUP, **about)


SHOWN = (
    _of_kinds("norm", "Share of norm", over="over_control", on_card=False),
    _of_kinds(
        "kept",
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
    _of_kinds("length", "Length of f(x)", where={"kind": _FEW}, on_card=False),
    _of_kinds(
        *("correlation", "Correlation of weight and length"),
        where={"kind": _FEW},
        palette="effect",
        on_card=False,
    ),
)
