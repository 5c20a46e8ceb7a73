"""Tables of section 4.2: frame-semantic links, and the heads that attend along them."""

from __future__ import annotations

from darksecrets.run.columns import HEAD, LAYER, MAPS, P_VALUE, Q_VALUE, RANDOM, names
from darksecrets.run.tables import Column, Table, flag, integer, interval, like, number, share, text

ELEMENT_TO_PREDICATE, PREDICATE_TO_ELEMENT = DIRECTIONS = (
    "element_to_predicate",
    "predicate_to_element",
)
"""What attends to what. The first is the direction of the published numbers, see the protocol."""

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


def _over(name: str, meaning: str, *, optional: bool = True) -> tuple[Column, ...]:
    """What exceeds a control: the mean difference over sentences, its interval and its test."""
    column = number(name, meaning, "attention", low=-2, high=2, optional=optional)
    ends = interval(name, name, unit="attention", optional=optional)
    test = f"p-value of `{name}` > 0: random signs of the units' differences"
    return column, *ends, like(P_VALUE, test, name=f"{name}_p")


_MODEL = MAPS[1:]
"""All maps are of the same sentences, so there is no task."""

HEADS = Table(
    "framenet_heads",
    "Attention of every head along frame-semantic links, with its five controls (Figure 3): the "
    "distance, the word attended to, the place, and both words' effects with the distance's, added "
    "and multiplied. States are `pretrained` and, "
    f"for comparison, `{RANDOM}`; each is tested on its own.",
    (
        *_MODEL,
        _DIRECTION,
        LAYER,
        HEAD,
        _weight("weight", "greatest weight of a linked pair, mean over sentences"),
        integer(
            "sentences", "sentences; those longer than local attention reaches are left out", low=1
        ),
        integer(
            "elements",
            "different elements; in tests and intervals, sentences with the same ones are one unit",
            low=1,
        ),
        flag(
            "above_percentile",
            "the paper's criterion: `weight` is above the 99th percentile of the heads of the "
            "direction. This holds for 2 heads in 144, and 1 in 72, whatever they do",
        ),
        _weight(
            "control",
            "the same for the links at all positions of their sentences, distances kept",
            control_of="weight",
        ),
        _weight(
            "uniform", "the same under uniform attention: mean of 1 / length", control_of="weight"
        ),
        *_over(
            "over_control", "`weight` − `control`: more than at the same distance", optional=False
        ),
        _weight("linked", "`weight` over the sentences of `unlinked`", optional=True),
        _weight(
            "unlinked",
            "the same to the same words from words of no link between the two; empty without such "
            "sentences",
            control_of="linked",
            optional=True,
        ),
        integer("unlinked_sentences", "sentences with enough words of no link in between"),
        *_over("over_unlinked", "`linked` − `unlinked`: more than from other words"),
        _weight(
            "places",
            "the same at the places of the links of the other sentences with as many tokens; empty "
            "without others",
            control_of="weight",
            optional=True,
        ),
        integer("places_sentences", "sentences with others of as many tokens"),
        *_over("over_places", "more than there, over these sentences"),
        *_over(
            "excess",
            "weight of the linked pairs minus the sum of the effects of the attending word, the "
            "word attended to and the distance, fitted to the other pairs of the sentence",
        ),
        integer("excess_sentences", "sentences in which these effects are known"),
        *_over(
            "excess_product",
            "the same for products of these effects: difference of geometric means of three "
            "weights each, over the sets of six pairs of words in which all effects cancel",
        ),
        integer("excess_product_sentences", "sentences with such sets"),
        like(P_VALUE, "p-value of exceeding all five: the largest of the p-values"),
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

TABLES = (LINKS, HEADS)
