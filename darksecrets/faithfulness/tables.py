"""Tables of what attention has to do with decisions."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.run.columns import FIRST, HEAD, LAYER, MAPS, MODEL, SEPARATOR, TOKEN_KINDS, names
from darksecrets.run.tables import Column, Table, interval

IMPORTANCE = WEIGHTS, NORMS, GRADIENT, ATTENTION_GRADIENT = (
    *("weights", "norms", "gradient", "attention gradient"),
)
"""What says how important a token is for a decision: attention weights from [CLS]; norms ‖α f(x)‖;
gradient × input of its embedding; the gradient by the attention weight from [CLS]."""
RANDOM_ORDER = "random"

COMPARED = {
    "weights and gradient": (WEIGHTS, GRADIENT),
    "norms and gradient": (NORMS, GRADIENT),
    "weights and attention gradient": (WEIGHTS, ATTENTION_GRADIENT),
    "weights and norms": (WEIGHTS, NORMS),
}
"""Pairs of rankings whose agreement is measured; gradients without their signs."""

_LEVELS = (
    replace(LAYER, meaning="layer, from 1; empty for the mean of all layers", optional=True),
    replace(HEAD, meaning="head, from 1; empty for the mean of all heads", optional=True),
)
_INTERVALS = "Intervals: bootstrap over examples, as wide as Student's t; empty with fewer than 6."


def _with_ends(column: Column) -> tuple[Column, ...]:
    """A column and the ends of its interval, which needs 6 examples."""
    name, bounds = column.name, (column.low, column.high)
    return column, *interval(name, name, unit=column.unit, bounds=bounds, optional=True)


_EXAMPLES = Column("examples", "integer", "examples", low=1)

ATTENTION_GRADIENTS = Table(
    "attention_gradients",
    "How much a change of attention to tokens of a kind would change the loss of the fine-tuned "
    "models, and of one with random weights (Clark et al. 2019, section 3.3). Kinds absent from a "
    f"task have no rows. {_INTERVALS}",
    (
        *MAPS,
        Column(
            "kind",
            "text",
            f"kind of the token attended to; `{FIRST}`: [CLS]; `{SEPARATOR}`: [SEP]",
            values=TOKEN_KINDS,
        ),
        *_LEVELS,
        *_with_ends(
            Column(
                *("gradient", "number"),
                "mean magnitude of the gradient of an example's loss by the weight that one token "
                "gives to another",
                low=0,
            )
        ),
        *_with_ends(
            Column(
                *("relative", "number"),
                "the same, divided by that of tokens of all kinds; 1: such tokens are like others. "
                "Empty where no attention changes the loss",
                low=0,
                optional=True,
            )
        ),
        Column(
            *("random", "number"),
            "`relative` of the encoder with random weights: that of its layer",
            low=0,
            optional=True,
            control_of="relative",
        ),
        replace(_EXAMPLES, meaning="examples with such a token"),
    ),
    key=(*names(*MAPS), "kind", "layer", "head"),
)

_TAU = Column("tau", "number", "", low=-1, high=1, optional=True)

FAITHFULNESS = Table(
    "faithfulness",
    "Whether rankings of the ordinary tokens of an example agree: by the attention of [CLS], and "
    "by gradients of the decision (Jain and Wallace 2019). Means over examples of the fine-tuned "
    f"models, and of one with random weights. {_INTERVALS}",
    (
        *MAPS,
        Column("compared", "text", "the two rankings", values=tuple(COMPARED)),
        *_LEVELS,
        *_with_ends(
            replace(
                _TAU, meaning="Kendall's τ-b; empty if a ranking has ties only, in all examples"
            )
        ),
        replace(
            _TAU,
            name="shuffled",
            meaning="the same if the second ranking is shuffled",
            control_of="tau",
        ),
        replace(
            _TAU,
            name="other_text",
            meaning="the same if the second ranking is that of another example, stretched to as "
            "many tokens: what the places of tokens explain; empty with one example",
            control_of="tau",
        ),
        *_with_ends(
            replace(_TAU, name="over_control", meaning="`tau` − `other_text`", low=-2, high=2)
        ),
        Column(
            *("significant", "number"),
            "share of the examples whose τ is beyond those of 95 % of random orders",
            low=0,
            high=1,
            optional=True,
        ),
        Column(
            *("shuffled_significant", "number", "the same if the second ranking is shuffled"),
            low=0,
            high=1,
            optional=True,
            control_of="significant",
        ),
        replace(_EXAMPLES, meaning="examples whose rankings are compared", low=0),
    ),
    key=(*names(*MAPS), "compared", "layer", "head"),
)

_ERASED = Column("erased", "number", "", "share", low=0, high=1)
_DIFFERENCE = replace(_ERASED, low=-1)

ERASURE = Table(
    "erasure",
    "How many ordinary tokens must be hidden until a decision changes, in the order of their "
    "importance (after Serrano and Smith 2019); fine-tuned models, tasks of classes. Tokens are "
    f"hidden in tenths. {_INTERVALS}",
    (
        *MODEL,
        Column(
            "importance",
            "text",
            "what orders the tokens: means over the heads of the last layer of weights and norms, "
            "sums of gradients by attention",
            values=IMPORTANCE,
        ),
        *_with_ends(
            replace(_ERASED, meaning="mean share of the tokens; 1 for decisions that never change")
        ),
        replace(
            _ERASED,
            name="reversed",
            meaning="the same, the least important first",
            control_of="erased",
        ),
        replace(
            _ERASED,
            name="random",
            meaning="the same in random orders: the mean of several",
            control_of="erased",
        ),
        *_with_ends(replace(_DIFFERENCE, name="over_random", meaning="`erased` − `random`")),
        *_with_ends(
            replace(
                _DIFFERENCE,
                name="over_weights",
                meaning=f"`erased` − that of `{WEIGHTS}`; 0 for these",
            )
        ),
        Column(
            *("flipped", "number", "share of the examples whose decision changes"), low=0, high=1
        ),
        _EXAMPLES,
    ),
    key=(*names(*MODEL), "importance"),
    may_be_empty=True,
)

TABLES = (ATTENTION_GRADIENTS, FAITHFULNESS, ERASURE)
