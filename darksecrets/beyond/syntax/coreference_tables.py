"""Tables of coreference (Clark et al. 2019, section 4.3)."""

from __future__ import annotations

from darksecrets.beyond.syntax.tables import ALL, estimate, rate
from darksecrets.core.run.columns import HEAD, LAYER, MAPS, names
from darksecrets.core.run.tables import Table, integer, like, share, text

PRONOUN, PROPER, NOMINAL = "pronoun", "proper noun", "common noun"
EXPRESSIONS = (PRONOUN, PROPER, NOMINAL)
"""Kinds of referring expressions, by their head words."""

BEST_HEAD = "best head"
NEAREST, HEAD_MATCH, RULES = "nearest", "head match", "rules"
DISTANCE = "fixed distance"
METHODS = (BEST_HEAD, NEAREST, DISTANCE, HEAD_MATCH, RULES)
"""Ways to choose the antecedent of an expression."""

MODEL = MAPS[1:]
"""Columns of a model; all read the same texts, so there is no task."""


_KIND = text(
    "kind",
    f"kind of the expressions that are resolved, by their head words; `{ALL}`: every kind",
    values=(ALL, *EXPRESSIONS),
)
_COUNTS = (
    integer("anaphors", "expressions that are resolved", low=1),
    integer("texts", "texts with such expressions", low=1),
)

COREFERENCE_HEADS = Table(
    "coreference_heads",
    "How often a head attends most, among the earlier expressions of a text, to one that refers to "
    "the same thing (Clark et al. 2019, section 4.3). Resolved are expressions that refer to "
    "something mentioned before, if something else was mentioned, too. Intervals: over texts "
    "(Wilson).",
    (
        *MODEL,
        _KIND,
        LAYER,
        HEAD,
        *estimate("accuracy", "share of the expressions for which it does"),
        rate(
            "fixed_distance",
            "the same of the earlier expression nearest to a fixed distance, the best one",
            control_of="accuracy",
        ),
        rate(
            "other_query",
            "the same if the head attends as it does from another expression of the text, that "
            "refers to something else; mean over all of them",
            control_of="accuracy",
        ),
        rate(
            "same_kind",
            "the same of a random earlier expression of the kind that the head chooses",
            control_of="accuracy",
        ),
        rate(
            "same_form",
            "the same of the first, the last or a random earlier expression, the best of these, "
            "whose head word is as long as its own (or not) and as frequent (or not), as that of "
            "the head's choice is",
            control_of="accuracy",
        ),
        share(
            "p_family",
            "p-value of exceeding all four controls (random signs of the texts' differences), "
            "corrected for all heads and kinds",
        ),
        *_COUNTS,
    ),
    key=(*names(*MODEL), "kind", "layer", "head"),
    every=names(LAYER, HEAD),
)

COREFERENCE_METHODS = Table(
    "coreference_methods",
    "How often the best head finds a right antecedent, beside methods that need no model (Clark et "
    "al. 2019, Table 2). Intervals: over texts; of the best head and of gains also over the choice "
    "of the head. These need 6 texts.",
    (
        *MODEL,
        _KIND,
        text(
            "method",
            f"`{BEST_HEAD}`: chosen on random halves of the texts and scored on the others; "
            f"`{NEAREST}`: the last expression; `{DISTANCE}`: the one nearest to a distance in "
            f"words, the best one; `{HEAD_MATCH}`: the last one with the same head word, or else "
            f"the last; `{RULES}`: a sieve of all words, head word, and person, number and gender",
            values=METHODS,
        ),
        *estimate("accuracy", "share of the antecedents that are right", optional=True),
        *estimate("gain", f"how much larger that of `{BEST_HEAD}` is", low=-1, optional=True),
        like(LAYER, "layer of the head that most halves chose", optional=True),
        like(HEAD, "that head", optional=True),
        rate("chosen", "share of the halves that chose it", optional=True),
        integer("distance", "the fixed distance", "words", low=1, optional=True),
        *_COUNTS,
    ),
    key=(*names(*MODEL), "kind", "method"),
)

TABLES = (COREFERENCE_HEADS, COREFERENCE_METHODS)
