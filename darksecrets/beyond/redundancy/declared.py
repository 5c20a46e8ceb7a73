"""Tables and entry of the analysis of heads that attend alike."""

from __future__ import annotations

import math

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import (
    HEAD,
    IDX,
    LAYER,
    MAPS,
    P_VALUE,
    Q_VALUE,
    names,
    per_head,
)
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Table, flag, integer, interval, like, number, share, text
from darksecrets.paper.features.tables import LAYER_OR_ALL

#: Types of heads, in the order in which the released code of Clark et al. (2019) assigns them: of
#: several, it draws the last. `broad for its length` is not from there.
TYPES = (NEXT, PREVIOUS, BROAD, BROAD_FOR_LENGTH, *_) = (
    "next",
    "previous",
    "broad",
    "broad for its length",
    "[CLS]",
    "[SEP]",
    "punctuation",
)
NO_TYPE = "none"
MAIN_TYPES = (*(name for name in TYPES if name != BROAD), NO_TYPE)
"""Types of which every head has one. Short texts have no heads that are `broad`."""

#: Kinds of pairs of maps whose distance `redundancy.csv` has.
PAIRS = (ALL_PAIRS, SAME_LAYER, DIFFERENT_LAYERS, NEAREST, OTHER_TEXT, UNIFORM) = (
    "all",
    "same layer",
    "different layers",
    "nearest",
    "other text",
    "uniform",
)

_PAIRS = text(
    "pairs",
    "all pairs of heads; those in one layer, or in different ones; every head and its nearest "
    "(found on one half of the examples, its distance taken from the other); a head's map and its "
    "map of another example with as many tokens; a head and uniform attention",
    values=PAIRS,
)
_DISTANCE = number("distance", "", "nats", low=0, high=math.log(2))
_HEADS = tuple(
    like(column, f"{column.meaning}, of the {order} head", name=f"{column.name}_{side}")
    for side, order in (("a", "first"), ("b", "second"))
    for column in (LAYER, HEAD)
)

HEAD_DISTANCES = Table(
    "head_distances",
    "How much the attention of every two heads differs: Jensen–Shannon divergence (Clark et al. "
    "2019, section 6). Each pair is there once, the head of the lower layer first.",
    (*MAPS, *_HEADS, like(_DISTANCE, "mean over the tokens of an example, then over examples")),
    key=names(*MAPS, *_HEADS),
    row_group=("task",),
)

EXAMPLE_DISTANCES = Table(
    "example_distances",
    "Mean distance between heads by example, for every kind of pairs and all models of a task.",
    (
        *MAPS,
        IDX,
        _PAIRS,
        like(_DISTANCE, "mean over the pairs; empty if there are none", optional=True),
    ),
    key=(*names(*MAPS), "idx", "pairs"),
)

REDUNDANCY = Table(
    "redundancy",
    "How redundant heads are: the mean distance of some pairs of "
    "heads. Intervals: bootstrap over examples; empty with fewer than 6. Kinds without pairs have "
    "no rows.",
    (
        *MAPS,
        _PAIRS,
        like(_DISTANCE, "mean over the pairs and examples"),
        *interval("distance", unit="nats", bounds=(0, math.log(2)), optional=True),
        like(
            _DISTANCE,
            "mean over all pairs of heads: expected if heads were assigned to layers, or "
            "paired, at random; empty for `all`, `other text` and `uniform`",
            name="control",
            control_of="distance",
            optional=True,
        ),
        number("difference", "`distance` − `control`", "nats", optional=True),
        *interval("difference", "difference", unit="nats", optional=True),
        like(
            P_VALUE,
            "of `same layer`: p-value of heads of one layer being nearer to each other "
            "than if heads are assigned to layers at random (permutation test)",
            optional=True,
        ),
        like(Q_VALUE, "its false discovery rate over all models", optional=True),
        integer("examples", "examples with such pairs", low=1),
    ),
    key=(*names(*MAPS), "pairs"),
)

_PROBABILITY = "share of the bootstrap samples of the examples, as wide as Student's t"

HEAD_TYPES = per_head(
    "head_types",
    "Whether a head is of a type of Clark et al. (2019): whether a mean over queries and examples "
    "is above a threshold. Intervals and probabilities need 6 examples.",
    number(
        "value",
        f"share of attention that such tokens get; `{BROAD}`: entropy in nats, at most the "
        f"logarithm of the number of tokens; `{BROAD_FOR_LENGTH}`: entropy divided by the largest "
        "that the text allows",
        low=0,
    ),
    *interval("value", optional=True),
    number(
        "uniform",
        "`value` under uniform attention to the tokens in reach",
        low=0,
        control_of="value",
    ),
    number("threshold", "the type's; of the released code", low=0),
    flag("of_type", "whether `value` is above `threshold`"),
    share("probability", f"that it is above: {_PROBABILITY}", optional=True),
    flag("main", f"whether it is the head's main type: the last that it is of, `{BROAD}` apart"),
    kind=text("type", "what gets most of the attention; or that it is spread", values=TYPES),
)

HEAD_TYPE_COUNTS = Table(
    "head_type_counts",
    "How many heads of a layer, or of the encoder, are of a type of `head_types.csv`. Intervals: "
    "bootstrap over examples; empty with fewer than 6.",
    (
        *MAPS,
        LAYER_OR_ALL,
        text("type", f"the type; `{NO_TYPE}`: no type, `{BROAD}` apart", values=(*TYPES, NO_TYPE)),
        integer("heads", "heads that are of it"),
        *interval("heads", optional=True),
        integer("random", "`heads` of the encoder with random weights", control_of="heads"),
        integer("of", "heads of the layer, or of the encoder", low=1),
    ),
    key=(*names(*MAPS), "layer", "type"),
)

TABLES = (REDUNDANCY, HEAD_TYPES, HEAD_TYPE_COUNTS)


SHOWN = (
    Shown(
        HEAD_TYPES,
        "probability",
        "Probable type: {kind}",
        "Where attention goes (4.4)",
        "probability that the head is of the type (bootstrap over examples)",
        kind="type",
        words={"next": "next token", "previous": "previous token", "broad": "broad (3.8 nats)"},
        summaries=("head_type_counts",),
        on_card=False,
    ),
)


ANALYSIS = Analysis(
    name="redundancy",
    question="Which heads attend alike, and of what types are they?",
    papers="Clark et al. 2019",
    tables={"Section 5, further: redundancy of heads": TABLES},
    shown=SHOWN,
    about_attention=True,
    requires=("words",),
)
