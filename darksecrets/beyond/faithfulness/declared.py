"""Settings, tables and entry of the analysis of attention as an explanation."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import (
    FIRST,
    HEAD,
    LAYER,
    MAPS,
    MODEL,
    SEPARATOR,
    TOKEN_KINDS,
    names,
)
from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Table, add_ends, integer, like, number, share, text


@dataclass(frozen=True)
class Settings(Section):
    """Whose decisions are explained, and by how many examples."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks on which attention is compared with gradients of decisions, and tokens are erased; "
        "all if not given.",
    )
    examples: int = setting(
        100,
        "Sampled examples of a task whose gradients are computed; all if it has fewer.",
        minimum=1,
        maximum=1_000_000,
    )
    erased: int = setting(
        30,
        "How many of these have their tokens erased until the decision changes.",
        minimum=1,
        maximum=1_000_000,
    )


IMPORTANCE = WEIGHTS, NORMS, GRADIENT, ATTENTION_GRADIENT = (
    "weights",
    "norms",
    "gradient",
    "attention gradient",
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
    like(LAYER, "layer, from 1; empty for the mean of all layers", optional=True),
    like(HEAD, "head, from 1; empty for the mean of all heads", optional=True),
)
_INTERVALS = "Intervals: bootstrap over examples, as wide as Student's t; empty with fewer than 6."
_EXAMPLES = integer("examples", "examples", low=1)

ATTENTION_GRADIENTS = Table(
    "attention_gradients",
    "How much a change of attention to tokens of a kind would change the loss of the fine-tuned "
    "models, and of one with random weights (Clark et al. 2019, section 3.3). Kinds absent from a "
    f"task have no rows. {_INTERVALS}",
    (
        *MAPS,
        text(
            "kind",
            f"kind of the token attended to; `{FIRST}`: [CLS]; `{SEPARATOR}`: [SEP]",
            values=TOKEN_KINDS,
        ),
        *_LEVELS,
        *add_ends(
            number(
                "gradient",
                "mean magnitude of the gradient of an example's loss by the weight that one token "
                "gives to another",
                low=0,
            )
        ),
        *add_ends(
            number(
                "relative",
                "`gradient`, divided by that of tokens of all kinds; 1: such tokens are like "
                "others. Empty where no attention changes the loss",
                low=0,
                optional=True,
            )
        ),
        number(
            "random",
            "`relative` of the encoder with random weights: that of its layer",
            low=0,
            optional=True,
            control_of="relative",
        ),
        like(_EXAMPLES, "examples with such a token"),
    ),
    key=(*names(*MAPS), "kind", "layer", "head"),
)

_TAU = number("tau", "", low=-1, high=1, optional=True)

FAITHFULNESS = Table(
    "faithfulness",
    "Whether rankings of the ordinary tokens of an example agree: by the attention of [CLS], and "
    "by gradients of the decision (Jain and Wallace 2019). Means over examples of the fine-tuned "
    f"models, and of one with random weights. {_INTERVALS}",
    (
        *MAPS,
        text("compared", "the two rankings", values=tuple(COMPARED)),
        *_LEVELS,
        *add_ends(like(_TAU, "Kendall's τ-b; empty if a ranking has ties only, in all examples")),
        like(_TAU, "`tau` with the second ranking shuffled", name="shuffled", control_of="tau"),
        like(
            _TAU,
            "`tau` with the second ranking of another example, stretched to as many "
            "tokens: what the places of tokens explain; empty with one example",
            name="other_text",
            control_of="tau",
        ),
        *add_ends(like(_TAU, "`tau` − `other_text`", name="over_control", low=-2, high=2)),
        share(
            "significant",
            "share of the examples whose τ is beyond those of 95 % of random orders",
            optional=True,
        ),
        like(_EXAMPLES, "examples whose rankings are compared", low=0),
    ),
    key=(*names(*MAPS), "compared", "layer", "head"),
)

_ERASED = share("erased", "", "share")
_DIFFERENCE = like(_ERASED, low=-1)

ERASURE = Table(
    "erasure",
    "How many ordinary tokens must be hidden until a decision changes, in the order of their "
    "importance (after Serrano and Smith 2019); fine-tuned models, tasks of classes. Tokens are "
    f"hidden in tenths. {_INTERVALS}",
    (
        *MODEL,
        text(
            "importance",
            "what orders the tokens: means over the heads of the last layer of weights and norms, "
            "sums of gradients by attention",
            values=IMPORTANCE,
        ),
        *add_ends(like(_ERASED, "mean share of the tokens; 1 for decisions that never change")),
        like(_ERASED, "`erased`, the least important first", name="reversed", control_of="erased"),
        like(
            _ERASED,
            "`erased` in random orders: mean of several",
            name="random",
            control_of="erased",
        ),
        *add_ends(like(_DIFFERENCE, "`erased` − `random`", name="over_random")),
        _EXAMPLES,
    ),
    key=(*names(*MODEL), "importance"),
    may_be_empty=True,
)

TABLES = (ATTENTION_GRADIENTS, FAITHFULNESS, ERASURE)


_GROUP = "Attention and decisions (5)"
_COMPARED = ("weights and gradient", "norms and gradient")

SHOWN = (
    Shown(
        ATTENTION_GRADIENTS,
        "relative",
        "Gradient by attention to {kind}",
        _GROUP,
        "gradient of the loss by the weight given to such a token, divided by that of all tokens; "
        "1: such tokens are like others",
        kind="kind",
        where={"kind": (SEPARATOR, FIRST)},
        words={FIRST: "[CLS]", SEPARATOR: "[SEP]"},
        on_card=(SEPARATOR,),
    ),
    Shown(
        FAITHFULNESS,
        "tau",
        "Kendall’s τ: {kind}",
        _GROUP,
        "Kendall’s τ-b of two rankings of an example’s tokens; 0: they do not agree",
        kind="compared",
        where={"compared": _COMPARED},
        over="over_control",
        palette="effect",
        on_card=_COMPARED[:1],
    ),
)


ANALYSIS = Analysis(
    name="faithfulness",
    question="Does attention explain decisions?",
    papers="Jain and Wallace 2019, Serrano and Smith 2019, Clark et al. 2019",
    tables={"Section 5, further: attention and decisions": TABLES},
    settings=Settings,
    shown=SHOWN,
    requires=("values",),
)
