"""Tables of section 4.2: frame-semantic links, and the heads that attend along them."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, LAYER, MAPS, P_VALUE, Q_VALUE, names
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import (
    Column,
    Table,
    flag,
    integer,
    interval,
    like,
    number,
    share,
    text,
)

ELEMENT_TO_PREDICATE, PREDICATE_TO_ELEMENT = DIRECTIONS = (
    "element_to_predicate",
    "predicate_to_element",
)
"""What attends to what. The first is the direction of the published numbers, see the protocol."""

DISTANCE, KEY, PLACE, SUM, PRODUCT, QUERY = CONTROLS = (
    "distance",
    "key",
    "place",
    "sum",
    "product",
    "query",
)
"""What a head must exceed to attend along links, see `darksecrets.paper.framenet.heads`."""

_DIRECTION = text(
    "direction",
    f"what attends to what; `{ELEMENT_TO_PREDICATE}` is the published one",
    values=DIRECTIONS,
)


def _place(name: str, meaning: str) -> Column:
    return integer(name, meaning, "characters")


LINKS = Table(
    "framenet_links",
    "Sentences with frame-semantic links, one row per link (Figures 3 and 4).",
    (
        integer("idx", "number of the sentence, from 0"),
        text("sentence", "the text"),
        text("frame", "frame; empty if not in the source", optional=True),
        _place("predicate_start", "first character of the word that evokes the frame"),
        _place("predicate_end", "the character after its last"),
        text("role", "frame element; empty if not in the source", optional=True),
        _place("element_start", "first character of the element"),
        _place("element_end", "the character after its last"),
    ),
    key=("idx", "role", "element_start", "element_end"),
)


def _weight(name: str, meaning: str, **more: object) -> Column:
    return share(name, meaning, "attention", **more)  # type: ignore[arg-type]


_MODEL = MAPS[1:]
"""All maps are of the same sentences, so there is no task."""

HEADS = Table(
    "framenet_heads",
    "Attention of every head along frame-semantic links (Figure 3), and whether it exceeds the "
    "six controls of `framenet_controls.csv`. States are `pretrained` and, for comparison, "
    f"`{RANDOM}`; each is tested on its own.",
    (
        *_MODEL,
        _DIRECTION,
        LAYER,
        HEAD,
        _weight("weight", "largest weight of a linked pair, mean over sentences"),
        integer(
            "sentences", "sentences; those longer than local attention reaches are left out", low=1
        ),
        integer(
            "elements",
            "different elements; in tests and intervals, sentences with the same elements are one "
            "unit, or those with the same predicate: what says less counts",
            low=1,
        ),
        flag(
            "above_percentile",
            "the paper's criterion: `weight` is above the 99th percentile of the heads of the "
            "direction. This holds for 2 heads in 144, and 1 in 72, whatever they do",
        ),
        _weight(
            "control",
            "`weight` of the links at all positions of their sentences, distances kept: `value` "
            f"of the control `{DISTANCE}`",
            control_of="weight",
        ),
        _weight(
            "uniform", "`weight` under uniform attention: mean of 1 / length", control_of="weight"
        ),
        like(P_VALUE, "p-value of exceeding all six: the largest of the p-values"),
        like(Q_VALUE, "false discovery rate over all heads and both directions"),
        like(
            P_VALUE,
            "`p_value` corrected for the family-wise error over all heads, both directions",
            name="p_family",
        ),
        flag("exceeds_controls", "`p_family` < 0.05"),
    ),
    key=(*names(*_MODEL), "direction", "layer", "head"),
    every=("layer", "head"),
)

CONTROLS_OF_HEADS = Table(
    "framenet_controls",
    "How far the attention of every head along frame-semantic links exceeds each of six controls.",
    (
        *_MODEL,
        _DIRECTION,
        LAYER,
        HEAD,
        text(
            "control",
            f"`{DISTANCE}`: the links at all positions of their sentences, distances kept. "
            f"`{KEY}`: the same words are attended to by words of no link between the two. "
            f"`{PLACE}`: the places of the links of the other sentences with as many tokens. "
            f"`{SUM}`: the effects of the attending word, the word attended to and the distance, "
            "fitted to the other pairs of the sentence and added up. "
            f"`{PRODUCT}`: products of these effects, which cancel in sets of six pairs of words. "
            f"`{QUERY}`: the same words attend to words of no link on that side, likewise apart",
            values=CONTROLS,
        ),
        integer("sentences", "sentences that have such a control"),
        _weight(
            "value",
            "largest weight in the control, mean over these sentences; empty for "
            f"`{SUM}` and `{PRODUCT}`, which are differences only, and without sentences",
            optional=True,
        ),
        number(
            "difference",
            "weight along the links minus the control's, mean over these sentences; of "
            f"`{PRODUCT}`, the difference of geometric means of three weights each",
            "attention",
            low=-2,
            high=2,
            optional=True,
        ),
        *interval("difference", "difference", unit="attention", optional=True),
        like(P_VALUE, "p-value of `difference` > 0: random signs of the units' differences"),
    ),
    key=(*names(*_MODEL), "direction", "layer", "head", "control"),
    every=("layer", "head"),
)

RANDOM_HEADS = Table(
    "framenet_random",
    "How many heads of encoders with random weights exceed all controls of frame-semantic links.",
    (
        *_MODEL,
        integer("exceeding", "heads that do, of both directions: `exceeds_controls`", low=0),
    ),
    key=names(*_MODEL),
)

TABLES = (LINKS, HEADS, CONTROLS_OF_HEADS, RANDOM_HEADS)
