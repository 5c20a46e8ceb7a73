"""Tables of section 4.6: effects of disabling heads and layers on the scores."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.data.tables import METRIC
from darksecrets.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, SEED, STATE, TASK, names
from darksecrets.run.tables import Column, Table, interval

_SCORE = Column("score", "number", "score with the set disabled", "× 100", high=100)
_BASELINE = replace(_SCORE, name="baseline", meaning="score of the intact model")
_DELTA = Column("delta", "number", "`score` − `baseline`", "× 100")
_TESTED = (
    _DELTA,
    *interval("delta", unit="× 100"),
    replace(P_VALUE, meaning="paired test of no effect on the same examples"),
    replace(Q_VALUE, meaning="false discovery rate over the sets of the kind"),
)
_KIND = Column("kind", "text", "what was disabled", values=("head", "layer"))


def _ablation(kind: str, title: str, *place: Column, every: bool = True) -> Table:
    """Effects of all disabled sets of a kind."""
    return Table(
        f"{kind}_ablation",
        f"{title} A disabled head attends equally to all real tokens in its reach, or to none.",
        (*MODEL, *place, METRIC, _BASELINE, _SCORE, *_TESTED),
        key=names(*MODEL, *place, METRIC),
        every=names(*place) if every else (),
        may_be_empty=not every,
    )


HEAD_ABLATION = _ablation("head", "Effect of disabling each head (Figure 8).", LAYER, HEAD)
LAYER_ABLATION = _ablation("layer", "Effect of disabling each layer (Figure 9).", LAYER)
SET_ABLATION = _ablation(
    "set",
    "Effect of disabling each set of `ablation.sets`; no rows if none is configured.",
    Column("name", "text", "name of the set"),
    every=False,
)

_GAIN = Column("naive_gain", "number", "`delta` of the best on all examples", "× 100")
_GAINS = (
    _GAIN,
    replace(
        _GAIN,
        name="unbiased_gain",
        meaning="mean `delta` of the best of one random half on the other half",
    ),
    *interval("unbiased_gain", unit="× 100"),
)

BEST_HEAD = Table(
    "best_head",
    "Gain of disabling the best head or layer, on examples that did not choose it.",
    (
        *MODEL,
        METRIC,
        _KIND,
        replace(LAYER, meaning="layer of the best on all examples, from 1"),
        replace(HEAD, meaning="head of the best, from 1; empty for a layer", optional=True),
        *_GAINS,
        Column("chosen", "number", "share of the random halves that choose it", low=0, high=1),
    ),
    key=names(*MODEL, METRIC, _KIND),
)


def _count(name: str, meaning: str) -> Column:
    return Column(name, "integer", meaning, low=0)


SURVIVAL = Table(
    "survival",
    "How many heads and layers help or hurt, and how many of these effects are significant.",
    (
        *MODEL,
        METRIC,
        _KIND,
        Column("examples", "integer", "examples of the validation split", low=1),
        _BASELINE,
        Column("sets", "integer", "heads, or layers", low=1),
        _count("helped", "sets whose disabling raises the score"),
        _count("helped_p", "of these, significant without correction (p < 0.05)"),
        _count("helped_q", "of these, significant after correction (q < 0.05)"),
        _count("hurt", "sets whose disabling lowers the score"),
        _count("hurt_p", "of these, significant without correction"),
        _count("hurt_q", "of these, significant after correction"),
        replace(_DELTA, name="mean_effect", meaning="mean `delta` over all heads, or layers"),
        *interval("mean_effect", "mean_low", "mean_high", unit="× 100"),
        *_GAINS,
    ),
    key=names(*MODEL, METRIC, _KIND),
)


def _rank(name: str, coefficient: str) -> Column:
    meaning = f"{coefficient} of the heads' `delta`; empty if a seed's are all equal"
    return Column(name, "number", meaning, low=-1, high=1, optional=True)


SEED_AGREEMENT = Table(
    "seed_agreement",
    "Whether the same heads matter for every fine-tuning seed; no rows with one seed.",
    (
        TASK,
        STATE,
        METRIC,
        SEED,
        replace(SEED, name="other_seed", meaning="seed that `seed` is compared with"),
        Column("heads", "integer", "heads of the model", low=1),
        _rank("spearman", "Spearman's rank correlation"),
        _rank("kendall", "Kendall's tau-b"),
    ),
    key=("task", "state", "metric", "seed", "other_seed"),
    may_be_empty=True,
)

LINKED_ABLATION = Table(
    "linked_ablation",
    "Effects of the heads that attend most along frame-semantic links, or between equal words.",
    (
        *MODEL,
        Column(
            "group",
            "text",
            "experiment that names the head: `framenet` (not in `finetuned-from-normal`) or "
            "`equal_words`",
            values=("framenet", "equal_words"),
        ),
        LAYER,
        HEAD,
        Column("weight", "number", "its weight in that experiment", "attention", low=0, high=1),
        METRIC,
        *_TESTED,
        replace(
            _DELTA,
            name="others",
            meaning="mean `delta` of the heads outside the group",
            control_of="delta",
        ),
        Column(
            "share_below",
            "number",
            "share of the heads outside the group with a smaller `delta`; ties count half",
            low=0,
            high=1,
        ),
    ),
    key=(*names(*MODEL), "group", "layer", "head", "metric"),
    may_be_empty=True,
)

ORDERS = RANDOM, HARMLESS, NEEDED = ("random", "harmless first", "needed first")
"""Orders in which more and more heads are disabled together."""

_ORDER = Column(
    "order",
    "text",
    "order in which heads are added: drawn at random, or by their single effects on the task's "
    "first metric on one half of the examples, the highest or lowest `delta` first",
    values=ORDERS,
)
_TOGETHER = Column("heads", "integer", "heads disabled together", low=1)
_OVER_RANDOM = Column(
    "over_random",
    "number",
    "`score` − that of `random`; empty for `random`",
    "× 100",
    optional=True,
)

JOINT_ABLATION = Table(
    "joint_ablation",
    "Effect of disabling several heads together, on examples that did not choose them.",
    (
        *MODEL,
        METRIC,
        _ORDER,
        _TOGETHER,
        Column("share", "number", "share of the model's heads", low=0, high=1),
        replace(_BASELINE, meaning="score of the intact model: mean over both halves"),
        replace(_SCORE, meaning="score with the heads disabled: mean over both halves and `draws`"),
        _DELTA,
        *interval("delta", unit="× 100"),
        _OVER_RANDOM,
        *interval(
            "over_random", "over_random_low", "over_random_high", unit="× 100", optional=True
        ),
        replace(
            _SCORE,
            name="chance",
            meaning="score of a constant prediction, the most frequent label; 0 for a regression",
            control_of="score",
        ),
        Column("examples", "integer", "examples of the validation split, in two halves", low=4),
        Column("draws", "integer", "random orders; 2 orders, one chosen by each half", low=2),
    ),
    key=(*names(*MODEL, METRIC, _ORDER), "heads"),
    may_be_empty=True,
)

_TOLERATED = Column(
    "tolerated",
    "integer",
    "largest number in `heads` of `joint_ablation` for which, as for all smaller ones, `delta` is "
    "at least −`tolerance`; 0 if there is none",
    low=0,
)

TOLERATED_HEADS = Table(
    "tolerated_heads",
    "How many heads can be disabled together without losing more than a tolerance.",
    (
        *MODEL,
        METRIC,
        _ORDER,
        Column("tolerance", "number", "greatest drop that is tolerated", "× 100", low=0),
        replace(_TOGETHER, meaning="heads of the model"),
        _TOLERATED,
        *interval("tolerated", bounds=(0, float("inf"))),
        replace(
            _TOLERATED,
            name="noninferior",
            meaning="the same with `ci_low` of the `delta` in place of `delta`: the drop is "
            "significantly smaller than `tolerance` (fixed-sequence test, one-sided 2.5 %)",
        ),
    ),
    key=names(*MODEL, METRIC, _ORDER),
    may_be_empty=True,
)

EFFECTS = (HEAD_ABLATION, LAYER_ABLATION, SET_ABLATION, BEST_HEAD, SURVIVAL)
"""Tables that are computed from the predictions of one sweep."""

JOINT = (JOINT_ABLATION, TOLERATED_HEADS)
"""Tables that are computed from the predictions with several heads disabled."""

TABLES = (*EFFECTS, SEED_AGREEMENT, LINKED_ABLATION, *JOINT)
