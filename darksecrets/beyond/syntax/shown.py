"""What the atlas shows of syntax."""

from __future__ import annotations

from darksecrets.beyond.syntax.coreference_tables import COREFERENCE_HEADS, NOMINAL, PRONOUN, PROPER
from darksecrets.beyond.syntax.tables import (
    ALL,
    ATTENTION_TREES,
    DEPENDENT_TO_HEAD,
    HEAD_TO_DEPENDENT,
    NO,
    SYNTACTIC_HEADS,
    YES,
)
from darksecrets.core.run.shown import Phrase, Shown

SHOWN = (
    Shown(
        SYNTACTIC_HEADS,
        "over_offset",
        "Best relation, over distance",
        "Syntax (4.2)",
        "share of a relation's arcs that it finds, minus that of the best fixed distance. A head's "
        "relation is that in which it exceeds the mean head most, on other sentences",
        chosen=("label", "direction"),
        chosen_by="selecting",
        words={
            ALL: "all relations",
            DEPENDENT_TO_HEAD: "dependent to head",
            HEAD_TO_DEPENDENT: "head to dependent",
        },
        beside=("accuracy", "at_offset"),
        test="q_value",
        tested={"syntactic": (YES, NO)},
        palette="effect",
        phrases=(
            Phrase(
                "follows {kind}, beyond all controls (finds {accuracy:.0%} of them; the best fixed "
                "distance, {at_offset:.0%})",
                significant=True,
                sign=1,
            ),
        ),
    ),
    Shown(
        ATTENTION_TREES,
        "uuas",
        "Trees: {kind}",
        "Syntax (4.2)",
        kind="direction",
        words={
            DEPENDENT_TO_HEAD: "dependents attend to heads",
            HEAD_TO_DEPENDENT: "heads attend to dependents",
        },
        test="q_value",
        over="over_chain",
        on_card=False,
    ),
    Shown(
        COREFERENCE_HEADS,
        "accuracy",
        "Antecedents: {kind}",
        "Coreference (4.2)",
        "share of the expressions from which it attends most to a right antecedent",
        kind="kind",
        words={
            ALL: "all expressions",
            PRONOUN: "pronouns",
            PROPER: "proper nouns",
            NOMINAL: "common nouns",
        },
        test="p_family",
        summaries=("coreference_methods",),
        on_card=False,
        phrases=(
            Phrase(
                "finds the antecedents of {value:.0%} of the pronouns (95% interval {low:.0%} to "
                "{high:.0%}; the best fixed distance, {fixed_distance:.0%})",
                significant=True,
                sign=1,
                kinds=(PRONOUN,),
            ),
        ),
    ),
)
