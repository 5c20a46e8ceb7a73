"""What the atlas shows of sections 4.4 and 4.5."""

from __future__ import annotations

from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.paper.features import tables

_LEVELS = ("attention_levels", "attention_changes", "attention_trends", "attention_origins")

SHOWN = (
    Shown(
        tables.STRIPES,
        "weight",
        "Stripe: {kind}",
        "Vertical stripes (4.4)",
        kind="feature",
        summaries=_LEVELS,
        on_card=False,
    ),
    Shown(
        tables.HEAD_STATISTICS,
        "value",
        "Attention: {kind}",
        "Where attention goes (4.4)",
        kind="statistic",
        words={
            "previous": "the previous token",
            "next": "the next token",
            "self": "the token itself",
        },
        phrases=(
            Phrase(
                "gives {value:.0%} of its attention to {kind} (uniform attention: {uniform:.0%})",
                at_least=0.25,
                times=2,
                greatest=True,
                kinds=tables.SHARES,
            ),
        ),
    ),
    Shown(
        tables.CLS_ATTENTION,
        "weight",
        "From [CLS]: {kind}",
        "[CLS] in the last layer (4.5)",
        kind="feature",
        summaries=("attention_levels",),
        on_card=False,
    ),
    Shown(
        tables.TOKEN_PAIRS,
        "weight",
        "Pair: {kind}",
        "Related tokens (4.5)",
        kind="relation",
        test="q_value",
        summaries=("token_pair_correlations", "linked_groups"),
        phrases=(Phrase("attends from {kind} beyond all controls", significant=True),),
    ),
    Shown(
        tables.EQUAL_WORDS,
        "weight",
        "Equal words",
        "Related tokens (4.5)",
        test="q_value",
        summaries=("linked_groups",),
        phrases=(Phrase("attends between equal words beyond all controls", significant=True),),
    ),
)
