"""Tables of section 4.2: frame-semantic links, and the heads that attend along them."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.run.columns import HEAD, LAYER, P_VALUE, Q_VALUE
from darksecrets.run.tables import Column, Table

ELEMENT_TO_PREDICATE, PREDICATE_TO_ELEMENT = DIRECTIONS = (
    "element_to_predicate",
    "predicate_to_element",
)
"""What attends to what. The first is the direction of the published numbers, see the protocol."""

_DIRECTION = Column(
    "direction",
    "text",
    f"what attends to what; `{ELEMENT_TO_PREDICATE}` is the published one",
    values=DIRECTIONS,
)


def _place(name: str, meaning: str) -> Column:
    return Column(name, "integer", meaning, "characters", low=0)


LINKS = Table(
    "framenet_links",
    "Sentences with frame-semantic links, one row per link (Figures 3 and 4).",
    (
        Column("idx", "integer", "number of the sentence, from 0", low=0),
        Column("sentence", "text", "the text"),
        Column("frame", "text", "frame; empty if not in the source", optional=True),
        _place("predicate_start", "first character of the word that evokes the frame"),
        _place("predicate_end", "the character after its last"),
        Column("role", "text", "frame element; empty if not in the source", optional=True),
        _place("element_start", "first character of the element"),
        _place("element_end", "the character after its last"),
    ),
    key=("idx", "role", "element_start", "element_end"),
)


def _weight(name: str, meaning: str, **more: object) -> Column:
    return Column(name, "number", meaning, "attention", low=0, high=1, **more)  # type: ignore[arg-type]


HEADS = Table(
    "framenet_heads",
    "Attention of every head along frame-semantic links, with its controls (Figure 3).",
    (
        _DIRECTION,
        LAYER,
        HEAD,
        _weight("weight", "greatest weight of a linked pair, mean over sentences"),
        Column("sentences", "integer", "sentences", low=1),
        _weight(
            "control", "the same for links at random positions, distances kept", control_of="weight"
        ),
        _weight(
            "unlinked",
            "the same between the predicate and words of no link; empty without such sentences",
            control_of="linked",
            optional=True,
        ),
        _weight("linked", "`weight` over the sentences of `unlinked`", optional=True),
        Column("unlinked_sentences", "integer", "sentences with enough words of no link", low=0),
        replace(P_VALUE, meaning="p-value of `weight` against `control`, one-sided"),
        replace(Q_VALUE, meaning="false discovery rate over the heads of a direction"),
        replace(P_VALUE, name="p_family", meaning="family-wise p-value, against the greatest head"),
    ),
    key=("direction", "layer", "head"),
    every=("layer", "head"),
)

CORRELATION = Table(
    "framenet_correlation",
    "Correlation of the heads' weights with the published ones; only in a run of the paper.",
    (
        _DIRECTION,
        Column("coefficient", "text", "whose correlation", values=("pearson", "spearman")),
        Column("value", "number", "correlation over the heads", low=-1, high=1),
        replace(P_VALUE, meaning="p-value of no correlation"),
        Column("heads", "integer", "heads of the model", low=1),
    ),
    key=("direction", "coefficient"),
)

TABLES = (LINKS, HEADS, CORRELATION)
