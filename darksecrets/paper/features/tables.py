"""Tables of sections 4.4 and 4.5: what the heads attend to."""

from __future__ import annotations

from darksecrets.core.run.columns import (
    HEAD,
    LAYER,
    MAPS,
    P_VALUE,
    Q_VALUE,
    STATE_OF_MAPS,
    TASK,
    names,
    per_head,
)
from darksecrets.core.run.tables import Column, Table, integer, interval, like, number, share, text
from darksecrets.paper.features.labels import FEATURES, RELATIONS

#: Shares of a token's attention, which may overlap (Clark et al. 2019).
SHARES = ("previous", "next", "self", "[CLS]", "[SEP]", "punctuation")
#: In nats. The second, of uniform attention, is for encoders with local attention only.
ENTROPIES = ("entropy", "greatest entropy")
STATISTICS = (*SHARES, *ENTROPIES)

_FEATURE = text("feature", "what the tokens attended to are", values=FEATURES)
_RELATION = text("relation", "of two tokens; the first attends", values=RELATIONS)
_WEIGHT = share("weight", "", "attention")
_CONTROL = like(_WEIGHT, name="control", control_of="weight")
_UNIFORM = like(
    _WEIGHT,
    "`weight` under uniform attention: mean of 1 / length over the examples; with "
    "local attention, 1 / tokens in reach of the same attending tokens",
    name="uniform",
    control_of="weight",
)
_EXAMPLES = integer("examples", "")
_IN_REACH = "; with local attention, those in the layer's reach (weight 0 if there are none)"


def _excess_columns(name: str, meaning: str) -> tuple[Column, ...]:
    """What exceeds a control, and its interval."""
    column = number(name, meaning, "attention", low=-3, high=3, optional=True)
    return column, *interval(name, name, unit="attention", optional=True)


PLACE, KEY, SUM, PRODUCT, FORM = RELATION_CONTROLS = ("place", "key", "sum", "product", "form")
"""What a head must exceed to attend to related tokens, see `darksecrets.paper.features.pairs`."""
FIRST_LETTER, LAST_LETTER = "first letter", "last letter"
EQUAL_CONTROLS = (*RELATION_CONTROLS, FIRST_LETTER, LAST_LETTER)
"""What it must exceed to attend to equal words."""

_TESTED = (
    like(
        P_VALUE,
        "p-value of exceeding all controls: the largest of their one-sided paired t-tests; 1 "
        "with fewer than 6 examples",
    ),
    like(Q_VALUE, "false discovery rate over the heads of the model"),
)

STRIPES = per_head(
    "stripes",
    "Attention to tokens with a feature, from all tokens (Figure 6). "
    "Features absent from a task have no rows.",
    like(
        _WEIGHT,
        "largest mean weight that such a token receives from the tokens that can "
        "attend to it, mean over examples",
    ),
    like(_CONTROL, "`weight` of as many random tokens at likely positions"),
    _UNIFORM,
    like(_EXAMPLES, "examples with such a token"),
    kind=_FEATURE,
)

CLS_ATTENTION = Table(
    "cls_attention",
    "Attention of [CLS] in the last layer to tokens with a feature (Figure 7).",
    (
        *MAPS,
        _FEATURE,
        like(HEAD, "head of the last layer, from 1"),
        like(_WEIGHT, "largest weight that such a token receives, mean over examples"),
        like(_CONTROL, "`weight` of as many random tokens at likely positions"),
        _UNIFORM,
        like(_EXAMPLES, "examples with such a token" + _IN_REACH),
    ),
    key=(*names(*MAPS), "feature", "head"),
    every=("head",),
)

TOKEN_PAIRS = per_head(
    "token_pairs",
    "Attention between related tokens. Relations absent from a task have no rows.",
    like(_WEIGHT, "largest weight of a related pair, mean over examples"),
    like(_CONTROL, "`weight` of random pairs at the same distances"),
    _UNIFORM,
    *_TESTED,
    like(_WEIGHT, "attention to the token itself and its neighbours", name="diagonal"),
    like(_EXAMPLES, "examples with such a pair" + _IN_REACH),
    kind=_RELATION,
    may_be_empty=True,
)


def _correlation(name: str, meaning: str) -> tuple[Column, ...]:
    """A correlation over heads and its interval; empty if either side does not vary."""
    column = number(name, f"{meaning}; empty if either does not vary", low=-1, high=1)
    return (like(column, optional=True), *interval(name, name, bounds=(-1, 1), optional=True))


TOKEN_PAIR_CORRELATIONS = Table(
    "token_pair_correlations",
    "Whether heads that attend to related tokens are diagonal heads.",
    (
        *MAPS,
        _RELATION,
        integer("heads", "heads of the model with such a pair in reach", low=1),
        *_correlation(
            "weight", "Pearson's correlation of `weight` with `diagonal`, over the heads"
        ),
        *_correlation(
            "over_control", "Pearson's correlation of `weight` − `control` with `diagonal`"
        ),
    ),
    key=(*names(*MAPS), "relation"),
    may_be_empty=True,
)

HEAD_STATISTICS = per_head(
    "head_statistics",
    "Where the attention of every head goes, and how spread it is (Clark et al. 2019). "
    "`greatest entropy`: of uniform attention, for encoders with local attention.",
    number("value", "mean share of attention (entropies: in nats)", low=0),
    number(
        "uniform",
        "the value under uniform attention to the tokens in reach",
        low=0,
        control_of="value",
    ),
    kind=text("statistic", "what gets the attention, or an entropy", values=STATISTICS),
)

EQUAL_WORDS = per_head(
    "equal_words",
    "Attention between words that are in both sentences (section 5); tasks of two sentences only.",
    like(_WEIGHT, "mean weight between their word pieces, mean over examples"),
    like(_CONTROL, "`weight` of random pairs at the same distances"),
    _UNIFORM,
    *_TESTED,
    like(_EXAMPLES, "examples with such words" + _IN_REACH),
    may_be_empty=True,
)

EQUAL_WORD_CONTROLS = per_head(
    "equal_word_controls",
    "How far the attention of `equal_words.csv` exceeds each of seven controls.",
    integer("examples", "examples with pairs that have such a control"),
    *_excess_columns(
        "difference",
        "weight of the pairs minus the control's, mean over these examples; of "
        f"`{PRODUCT}`, the difference of geometric means of three cells",
    ),
    kind=text(
        "control",
        f"`{PLACE}`: random pairs as far from the same relative place in their sentences. `{KEY}`: "
        f"other tokens attend to the same ones. `{SUM}`: effects of the attending token, of the "
        "token attended to and of the distance, which cancel in contrasts of six cells. "
        f"`{PRODUCT}`: products of these effects. `{FORM}`: the same tokens attend to other words "
        f"of their length and frequency; `{FIRST_LETTER}`, `{LAST_LETTER}`: that begin, or end, "
        "alike",
        values=EQUAL_CONTROLS,
    ),
    may_be_empty=True,
)

#: What is measured of the tokens with a feature, per example; means over heads.
GREATEST, PER_TOKEN, TOTAL, MOST_ATTENDED, FROM_CLS = ATTENTION_MEASURES = (
    "greatest",
    "per token",
    "total",
    "most attended",
    "from [CLS]",
)

SEEDS = integer("seeds", "models whose mean it is: seeds of fine-tuning", low=1)
LAYER_OR_ALL = like(LAYER, "layer, from 1; empty for all layers", optional=True)
_Q_OVER = "false discovery rate over all tasks{} and features"

_OVER_RIVALS = _excess_columns(
    "over_rivals",
    "by how much the feature exceeds every other: the least difference to another one, of "
    "`weight` − `uniform` and, if there is a control, of `weight` − `control`. The lower end is "
    "the least of their 95% intervals. The upper end is the least of intervals corrected for their "
    "number: it is below 0 only if a single other feature gets more. Empty without others",
)
OVER_RIVALS = names(*_OVER_RIVALS)

ATTENTION_LEVELS = Table(
    "attention_levels",
    "How much attention tokens with a feature get in a layer, or in the whole encoder; means over "
    "heads, then over the examples with such a token. Features in fewer than 6 examples have no "
    "intervals and are no rivals of others.",
    (
        TASK,
        STATE_OF_MAPS,
        text(
            "measure",
            f"`{GREATEST}`: as in `stripes.csv`; `{PER_TOKEN}`, `{TOTAL}`: mean and sum over all "
            f"such tokens instead; `{MOST_ATTENDED}`: share of the maps whose most attended token "
            f"has the feature; `{FROM_CLS}`: as in `cls_attention.csv` (last layer only)",
            values=ATTENTION_MEASURES,
        ),
        LAYER_OR_ALL,
        _FEATURE,
        SEEDS,
        like(_WEIGHT, "the measure"),
        *interval("weight", "weight", unit="attention", bounds=(0, 1), optional=True),
        like(
            _CONTROL,
            f"`weight` of as many random tokens at likely positions; for `{GREATEST}` and "
            f"`{FROM_CLS}` only",
            optional=True,
        ),
        like(_UNIFORM, "the value under uniform attention to the tokens in reach"),
        number(
            "to_special",
            "`weight` divided by the mean weight of [CLS] and [SEP], over the same examples; "
            "empty for these two",
            low=0,
            optional=True,
        ),
        *interval("to_special", "to_special", optional=True),
        share(
            "greatest_of_features",
            "probability that the feature has the largest of all features, both of `weight` − "
            "`uniform` and, if there is a control, of `weight` − `control` (bootstrap over "
            "examples and heads, Student's t over seeds)",
            optional=True,
        ),
        *_OVER_RIVALS,
        share(
            "greatest_of_tasks",
            "probability that the task has the largest weight of all tasks for this feature",
            optional=True,
        ),
        number("tokens", "mean number of such tokens in these examples", low=0),
        like(
            _EXAMPLES,
            f"examples with such a token; for `{FROM_CLS}` and with local attention, in "
            "reach of [CLS]",
            low=1,
        ),
    ),
    key=("task", "state", "measure", "layer", "feature"),
)

ATTENTION_CHANGES = Table(
    "attention_changes",
    "How fine-tuning changes the attention to tokens with a feature (`greatest` of "
    "`attention_levels.csv`): `finetuned` − `pretrained`, paired over examples.",
    (
        TASK,
        LAYER_OR_ALL,
        _FEATURE,
        SEEDS,
        *_excess_columns("change", "mean difference over examples and heads"),
        number(
            "control",
            "`change` of random tokens at likely positions",
            "attention",
            low=-1,
            high=1,
            control_of="change",
        ),
        *_excess_columns("over_control", "`change` − `control`"),
        like(
            P_VALUE,
            "p-value of no change over control, two-sided: the larger of two tests by "
            "random signs, of the examples' differences and of the heads'",
        ),
        like(Q_VALUE, _Q_OVER.format("") + ", for the encoder and for its layers separately"),
        like(_EXAMPLES, "examples with such a token", low=1),
    ),
    key=("task", "layer", "feature"),
    may_be_empty=True,
)

ATTENTION_TRENDS = Table(
    "attention_trends",
    "Whether attention to tokens with a feature (`greatest` of `attention_levels.csv`) rises or "
    "falls from layer to layer.",
    (
        TASK,
        STATE_OF_MAPS,
        _FEATURE,
        SEEDS,
        integer("layers", "layers of the encoder", low=1),
        number(
            "correlation",
            "Spearman's rank correlation of the layer's weight with its number; 0 if all layers "
            "have the same",
            low=-1,
            high=1,
        ),
        *interval("correlation", "correlation", bounds=(-1, 1), optional=True),
        number(
            "control",
            "`correlation` of random tokens at likely positions",
            low=-1,
            high=1,
            control_of="correlation",
        ),
        like(
            P_VALUE,
            "p-value of no trend, two-sided: permutations of the layers (at least 2 / "
            "their number's factorial)",
        ),
        like(Q_VALUE, _Q_OVER.format("") + " of the state"),
    ),
    key=("task", "state", "feature"),
)


def _alike(name: str, meaning: str, low: float = -1) -> tuple[Column, ...]:
    column = number(name, meaning, low=low, high=-low, optional=True)
    bounds = (low, -low)
    return column, *interval(name, name, bounds=bounds, optional=True)


ATTENTION_ORIGINS = Table(
    "attention_origins",
    "Whether the stripes of the fine-tuned model come from pre-training: correlations over heads "
    "of `weight` in `stripes.csv`; empty if the weights of a model do not vary. Intervals are over "
    "heads and seeds; encoders of fewer than four heads have none.",
    (
        TASK,
        _FEATURE,
        SEEDS,
        integer("heads", "heads of the encoder", low=1),
        *_alike("correlation", "Pearson's correlation of `pretrained` with `finetuned`"),
        *_alike("random", "Pearson's correlation of `random` with `finetuned`"),
        *_alike("difference", "`correlation` − `random`", low=-2),
    ),
    key=("task", "feature"),
    may_be_empty=True,
)

TABLES = (
    STRIPES,
    CLS_ATTENTION,
    TOKEN_PAIRS,
    EQUAL_WORDS,
    EQUAL_WORD_CONTROLS,
    HEAD_STATISTICS,
    TOKEN_PAIR_CORRELATIONS,
    ATTENTION_LEVELS,
    ATTENTION_CHANGES,
    ATTENTION_TRENDS,
    ATTENTION_ORIGINS,
)
