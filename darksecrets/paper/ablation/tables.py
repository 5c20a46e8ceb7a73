"""Tables of section 4.6: effects of disabling heads and layers on the scores."""

from __future__ import annotations

from collections.abc import Sequence

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.core.run.tables import Column, Table, integer, interval, like, number, share, text

_SCORE = number("score", "score with the set disabled", "× 100", high=100)
_BASELINE = like(_SCORE, "score of the intact model", name="baseline")
_DELTA = number("delta", "`score` − `baseline`", "× 100")
_TESTED = (
    _DELTA,
    *interval("delta", unit="× 100"),
    like(P_VALUE, "paired test of no effect on the same examples"),
    like(Q_VALUE, "false discovery rate over the sets of the kind"),
)
_KIND = text("kind", "what was disabled", values=("head", "layer"))


def _ablation(
    kind: str, meaning: str, *place: Column, more: Sequence[Column] = (), every: bool = True
) -> Table:
    """Effects of all disabled sets of a kind."""
    return Table(
        f"{kind}_ablation",
        f"{meaning} A disabled head attends equally to all real tokens in its reach, or to none.",
        (*MODEL, *place, METRIC, _BASELINE, _SCORE, *_TESTED, *more),
        key=names(*MODEL, *place, METRIC),
        every=names(*place) if every else (),
        may_be_empty=not every,
    )


HEAD_ABLATION = _ablation(
    "head",
    "Effect of disabling each head (Figure 8).",
    LAYER,
    HEAD,
    more=(
        number(
            "over_layer",
            "`delta` minus the mean `delta` of the other heads of the layer; empty without others",
            "× 100",
            optional=True,
        ),
        *interval("over_layer", "over_layer", unit="× 100", optional=True),
    ),
)
LAYER_ABLATION = _ablation("layer", "Effect of disabling each layer (Figure 9).", LAYER)
SET_ABLATION = _ablation(
    "set",
    "Effect of disabling each set of `ablation.sets`; no rows if none is configured.",
    text("name", "name of the set"),
    every=False,
)

_GAIN = number("naive_gain", "`delta` of the best on all examples", "× 100")
_GAINS = (
    _GAIN,
    like(
        _GAIN, "mean `delta` of the best of one random half on the other half", name="unbiased_gain"
    ),
    *interval("unbiased_gain", unit="× 100"),
)

SURVIVAL = Table(
    "survival",
    "What disabling a head, or a layer, costs on average, and what disabling the best one gains on "
    "held-out examples.",
    (
        *MODEL,
        METRIC,
        _KIND,
        integer("examples", "examples of the validation split", low=1),
        _BASELINE,
        integer("sets", "heads, or layers", low=1),
        like(_DELTA, "mean `delta` over all heads, or layers", name="mean_effect"),
        *interval("mean_effect", "mean", unit="× 100"),
        like(LAYER, "layer of the best on all examples, from 1"),
        like(HEAD, "head of the best, from 1; empty for a layer", optional=True),
        *_GAINS,
        share("chosen", "share of the random halves that choose it"),
    ),
    key=names(*MODEL, METRIC, _KIND),
)


_BOTH_KINDS = (
    _KIND,
    like(LAYER, "layer that is disabled, or the head's layer, from 1"),
    like(HEAD, "head of the layer, from 1; empty for a layer", optional=True),
)
_SEEDS = integer("seeds", "fine-tuning seeds", low=2)
_OF_A_NEW_SEED = "over seeds and examples: of a model fine-tuned with another seed"


SEED_EFFECTS = Table(
    "seed_effects",
    "Effects of disabling each head and each layer, over fine-tuning seeds; no rows with one seed.",
    (
        TASK,
        STATE,
        METRIC,
        *_BOTH_KINDS,
        _SEEDS,
        like(_DELTA, "mean `delta` of the seeds"),
        *interval("delta", unit="× 100"),
        like(P_VALUE, f"t-test of a mean effect of 0, {_OF_A_NEW_SEED}"),
        like(Q_VALUE, "false discovery rate over the heads, or layers, of the task's models"),
    ),
    key=(*names(TASK, STATE, METRIC), "kind", "layer", "head"),
    may_be_empty=True,
)


def _rank(name: str, meaning: str) -> Column:
    return number(name, meaning, low=-1, high=1, optional=True)


_RANKS = (
    integer("heads", "heads of the model", low=1),
    _rank(
        "spearman", "Spearman's rank correlation of the heads' `delta`; empty if one side is equal"
    ),
    *interval("spearman", bounds=(-1, 1), optional=True),
)
_PERMUTED = like(
    P_VALUE,
    "two-sided permutation test, heads permuted within their layers: no rank correlation beyond "
    "what layers explain",
    optional=True,
)

_OTHER_TASK = like(
    TASK,
    "task it is compared with; the same task: different seeds of it, as a ceiling",
    name="other_task",
)

TASK_AGREEMENT = Table(
    "task_agreement",
    "Whether the same heads matter for different tasks: rank correlation of the effects on their "
    "first metrics.",
    (
        STATE,
        TASK,
        _OTHER_TASK,
        integer(
            "pairs",
            "pairs of models, one of each task, or two seeds of one, whose effects vary; "
            "correlations are means over these pairs",
        ),
        *_RANKS,
        _PERMUTED,
        like(Q_VALUE, "false discovery rate over the state's rows", optional=True),
    ),
    key=("state", "task", "other_task"),
    may_be_empty=True,
)

_WORST_DELTA = like(_DELTA, "mean `delta` of the seeds, on the task's first metric")

WORST_HEADS = Table(
    "worst_heads",
    "The heads whose loss costs each task most (section 5).",
    (
        STATE,
        TASK,
        integer("rank", "1 is the lowest mean `delta`; as many as the largest k", low=1),
        LAYER,
        HEAD,
        METRIC,
        _WORST_DELTA,
        share("q_value", "largest `q_value` of the head over seeds in `head_ablation`"),
    ),
    key=("state", "task", "rank"),
    may_be_empty=True,
)

GROUPS = FRAMENET, EQUAL_WORDS, TOKEN_PAIRS = ("framenet", "equal_words", "token_pairs")
"""Experiments that name heads."""

_GROUP = (
    text(
        "group",
        "experiment that names the heads: `framenet` (not in `finetuned-from-normal`), "
        "`equal_words` or `token_pairs`",
        values=GROUPS,
    ),
    text("relation", "relation of `token_pairs`; empty for the others", optional=True),
)


def _group_column(name: str, meaning: str, control_of: str = "") -> Column:
    return number(name, meaning, "× 100", optional=True, control_of=control_of)


LINKED_GROUPS = Table(
    "linked_groups",
    "Whether the heads matter that exceed all controls along frame-semantic links "
    "(`exceeds_controls`), or between equal or related words (q < 0.05): their mean effect, beside "
    "random heads of the same layers. `heads` is 0 where there are none; the rest is then empty.",
    (
        *MODEL,
        *_GROUP,
        METRIC,
        integer("heads", "heads in the group"),
        _group_column("mean_effect", "mean `delta` of disabling each of them alone"),
        *interval("mean_effect", unit="× 100", optional=True),
        _group_column(
            "control",
            "`mean_effect` of random heads, as many of each layer",
            control_of="mean_effect",
        ),
        _group_column("over_control", "`mean_effect` − `control`"),
        *interval("over_control", "over_control", unit="× 100", optional=True),
        like(
            P_VALUE,
            "two-sided permutation test of `over_control`: heads permuted within layers; "
            "empty if they cannot differ",
            optional=True,
        ),
        like(Q_VALUE, "false discovery rate over tasks, seeds and metrics", optional=True),
        integer("significant", "of them, effects with q < 0.05", optional=True),
    ),
    key=(*names(*MODEL, *_GROUP), "metric"),
    may_be_empty=True,
)

EFFECTS = (HEAD_ABLATION, LAYER_ABLATION, SET_ABLATION, SURVIVAL)
"""Tables that are computed from the predictions of one sweep."""

OVER_TASKS = (TASK_AGREEMENT, WORST_HEADS)
"""Tables that compare the effects of heads between tasks."""

TABLES = (*EFFECTS, SEED_EFFECTS, *OVER_TASKS, LINKED_GROUPS)
