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

KINDS = ("baseline", "head", "layer", "set")

SWEEP_SETS = Table(
    "sets",
    "The sets of heads that a sweep disables, in the order of its predictions.",
    (
        Column("kind", "text", "what is disabled; `baseline`: nothing", values=KINDS),
        replace(LAYER, optional=True),
        replace(HEAD, optional=True),
        Column("name", "text", "the set in words", optional=True),
    ),
)


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


_BOTH_KINDS = (
    _KIND,
    replace(LAYER, meaning="layer that is disabled, or that of the head, from 1"),
    replace(HEAD, meaning="head of the layer, from 1; empty for a layer", optional=True),
)
_OTHER_SEED = replace(SEED, name="other_seed", meaning="seed that `seed` is compared with")
_SEEDS = Column("seeds", "integer", "fine-tuning seeds", low=2)
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
        replace(_DELTA, meaning="mean `delta` of the seeds"),
        *interval("delta", unit="× 100"),
        replace(P_VALUE, meaning=f"t-test of a mean effect of 0, {_OF_A_NEW_SEED}"),
        replace(
            Q_VALUE, meaning="false discovery rate over the heads, or layers, of the task's models"
        ),
        Column(
            "fixed_low",
            "number",
            "lower end of the 95% interval of `delta` over examples only: of these seeds' models",
            "× 100",
        ),
        Column("fixed_high", "number", "its upper end", "× 100"),
        Column(
            "df",
            "number",
            "degrees of freedom of interval and test (Satterthwaite)",
            low=1,
        ),
        Column("spread", "number", "standard deviation of `delta` over seeds", "× 100", low=0),
        Column(
            "agreement",
            "number",
            "share of the seeds whose `delta` has the sign of the majority; of ±0, none",
            low=0,
            high=1,
        ),
        Column(
            "agreement_chance",
            "number",
            "mean of `agreement` if the signs of each seed's heads (or layers) were shuffled",
            low=0,
            high=1,
            control_of="agreement",
        ),
    ),
    key=(*names(TASK, STATE, METRIC), "kind", "layer", "head"),
    may_be_empty=True,
)

CHOICES = BEST, WORST = ("best", "worst")

SEED_TRANSFER = Table(
    "seed_transfer",
    "The best and the worst head (or layer) of one seed's model, scored in another seed's; no rows "
    "with one seed.",
    (
        TASK,
        STATE,
        METRIC,
        Column("kind", "text", "what was disabled", values=("head", "layer")),
        Column("choice", "text", "highest or lowest `delta` of all", values=CHOICES),
        replace(SEED, meaning="seed of the model that chooses"),
        replace(SEED, name="other_seed", meaning="seed of the model that is scored"),
        replace(LAYER, meaning="layer of the choice on all examples, from 1"),
        replace(HEAD, meaning="head of the choice, from 1; empty for a layer", optional=True),
        replace(_GAIN, meaning="`delta` of the choice in the model that chose it, all examples"),
        replace(
            _GAIN,
            name="transferred_gain",
            meaning="mean `delta` in the other model: one random half of the examples chooses, the "
            "other half scores",
        ),
        *interval("transferred_gain", unit="× 100"),
        replace(
            _GAIN,
            name="mean_effect",
            meaning="mean `delta` of all heads, or layers, of the other model",
            control_of="transferred_gain",
        ),
        Column("chosen", "number", "share of the random halves that choose it", low=0, high=1),
    ),
    key=(*names(TASK, STATE, METRIC), "kind", "choice", "seed", "other_seed"),
    may_be_empty=True,
)


def _rank(name: str, meaning: str) -> Column:
    return Column(name, "number", meaning, low=-1, high=1, optional=True)


_RANKS = (
    Column("heads", "integer", "heads of the model", low=1),
    _rank(
        "spearman", "Spearman's rank correlation of the heads' `delta`; empty if one side is equal"
    ),
    *interval("spearman", bounds=(-1, 1), optional=True),
)
_PERMUTED = replace(
    P_VALUE,
    meaning="two-sided permutation test of no rank correlation; heads are permuted over all layers",
    optional=True,
)
_PERMUTED_WITHIN = replace(
    _PERMUTED,
    name="p_within_layers",
    meaning="the same, heads permuted within their layers: heads agree beyond what layers explain",
)

SEED_AGREEMENT = Table(
    "seed_agreement",
    "Whether the same heads matter for every fine-tuning seed; no rows with one seed.",
    (
        TASK,
        STATE,
        METRIC,
        SEED,
        _OTHER_SEED,
        *_RANKS,
        _rank("kendall", "Kendall's tau-b of the same"),
        _PERMUTED,
        _PERMUTED_WITHIN,
        Column(
            "same_sign",
            "number",
            "share of heads whose `delta` has one sign in both",
            low=0,
            high=1,
        ),
        Column(
            "same_sign_chance",
            "number",
            "the same if the heads of one seed were shuffled",
            low=0,
            high=1,
            control_of="same_sign",
        ),
    ),
    key=("task", "state", "metric", "seed", "other_seed"),
    may_be_empty=True,
)

_OTHER_TASK = replace(
    TASK,
    name="other_task",
    meaning="task it is compared with; the same task: different seeds of it, as a ceiling",
)

TASK_AGREEMENT = Table(
    "task_agreement",
    "Whether the same heads matter for different tasks: rank correlation of the effects on their "
    "first metrics.",
    (
        STATE,
        TASK,
        _OTHER_TASK,
        Column(
            "pairs",
            "integer",
            "pairs of models, one of each task, or two seeds of one, whose effects vary; "
            "correlations are means over these pairs",
            low=0,
        ),
        *_RANKS,
        _PERMUTED,
        replace(
            Q_VALUE,
            meaning="false discovery rate of `p_value` over the state's rows",
            optional=True,
        ),
        _PERMUTED_WITHIN,
        replace(
            Q_VALUE,
            name="q_within_layers",
            meaning="false discovery rate of `p_within_layers` over the state's rows",
            optional=True,
        ),
    ),
    key=("state", "task", "other_task"),
    may_be_empty=True,
)

_WORST_DELTA = replace(_DELTA, meaning="mean `delta` of the seeds, on the task's first metric")

WORST_OVERLAP = Table(
    "worst_overlap",
    "Whether two tasks share the heads whose loss costs most: those among the k worst of both.",
    (
        STATE,
        TASK,
        replace(TASK, name="other_task", meaning="task it is compared with"),
        Column(
            "k", "integer", "how many of each task's heads, the lowest mean `delta` first", low=1
        ),
        Column("heads", "integer", "heads of the model", low=1),
        Column("shared", "integer", "heads that are among the k worst of both tasks", low=0),
        Column(
            "shared_heads", "text", "these, as `L4H1 L2H12`; empty if there are none", optional=True
        ),
        Column(
            "expected",
            "number",
            "mean of `shared` for k random heads of each task",
            low=0,
            control_of="shared",
        ),
        replace(P_VALUE, meaning="chance of as many or more, hypergeometric"),
        replace(
            Q_VALUE, meaning="false discovery rate over the state's pairs of tasks with this k"
        ),
        replace(
            P_VALUE,
            name="p_within_layers",
            meaning="chance of as many or more if each task's heads are permuted within layers",
        ),
    ),
    key=("state", "task", "other_task", "k"),
    may_be_empty=True,
)

WORST_HEADS = Table(
    "worst_heads",
    "The heads whose loss costs each task most, other tasks that share them, and whether they "
    "attend to words that are in both sentences (section 5).",
    (
        STATE,
        TASK,
        Column("rank", "integer", "1 is the lowest mean `delta`; as many as the largest k", low=1),
        LAYER,
        HEAD,
        METRIC,
        _WORST_DELTA,
        Column(
            "q_value",
            "number",
            "largest `q_value` of the head over seeds in `head_ablation`",
            low=0,
            high=1,
        ),
        Column(
            "shared_with",
            "text",
            "other tasks of which the head is among the 2 worst, if it is among those of this one, "
            "separated by spaces",
            optional=True,
        ),
        Column(
            "equal_words",
            "number",
            "mean weight between words in both sentences, mean over seeds; empty without pairs",
            "attention",
            low=0,
            high=1,
            optional=True,
        ),
        *(
            Column(
                f"equal_words_{name}",
                "number",
                meaning,
                "attention",
                low=0,
                high=1,
                optional=True,
                control_of="equal_words",
            )
            for name, meaning in (
                ("control", "the same for random pairs at the same distances"),
                ("same_key", "the same from other tokens to the same words"),
            )
        ),
        replace(
            Q_VALUE,
            name="equal_words_q",
            meaning="largest `q_value` of the head over seeds in `equal_words`: it attends to such "
            "words more than each control",
            optional=True,
        ),
    ),
    key=("state", "task", "rank"),
    may_be_empty=True,
)

MODE_COMPARISON = Table(
    "mode_comparison",
    "Effects of disabling heads and layers in another way (`mode`), beside those of "
    "`ablation.mode`; no rows if `ablation.compare_modes` is empty.",
    (
        *MODEL,
        METRIC,
        _KIND,
        Column("mode", "text", "how heads are disabled in the comparison"),
        Column("sets", "integer", "heads, or layers", low=1),
        _rank("spearman", "Spearman's rank correlation of the `delta` of both modes"),
        *interval("spearman", "spearman_low", "spearman_high", bounds=(-1, 1), optional=True),
        replace(_DELTA, name="mean_effect", meaning="mean `delta` in this mode"),
        replace(
            _DELTA,
            name="reference_effect",
            meaning="mean `delta` in `ablation.mode`",
            control_of="mean_effect",
        ),
        replace(_DELTA, name="difference", meaning="`mean_effect` − `reference_effect`"),
        *interval("difference", unit="× 100"),
        Column(
            "absolute_difference",
            "number",
            "mean |difference| of the sets' `delta`",
            "× 100",
            low=0,
        ),
        _count("differ_q", "sets whose scores differ between the modes (paired test, q < 0.05)"),
        _count("opposite", "sets whose `delta` has opposite signs in the modes"),
        _count("opposite_q", "of these, significant in both modes (q < 0.05 each)"),
    ),
    key=(*names(*MODEL, METRIC, _KIND), "mode"),
    may_be_empty=True,
)

GROUPS = FRAMENET, EQUAL_WORDS, TOKEN_PAIRS = ("framenet", "equal_words", "token_pairs")
"""Experiments that name heads."""

_GROUP = (
    Column(
        "group",
        "text",
        "experiment that names the heads: `framenet` (not in `finetuned-from-normal`), "
        "`equal_words` or `token_pairs`",
        values=GROUPS,
    ),
    Column("relation", "text", "relation of `token_pairs`; empty for the others", optional=True),
)

LINKED_ABLATION = Table(
    "linked_ablation",
    "Effects of the heads that stand out along frame-semantic links (`stands_out`), or between "
    "equal or related words (q < 0.05).",
    (
        *MODEL,
        *_GROUP,
        LAYER,
        HEAD,
        Column("weight", "number", "its weight in that experiment", "attention", low=0, high=1),
        METRIC,
        *_TESTED,
        Column(
            "share_below",
            "number",
            "share of the heads outside the group with a smaller `delta`; ties count half; empty "
            "if there is none outside",
            low=0,
            high=1,
            optional=True,
        ),
    ),
    key=(*names(*MODEL, *_GROUP), "layer", "head", "metric"),
    may_be_empty=True,
)


def _of_group(name: str, meaning: str, control_of: str = "") -> Column:
    return Column(name, "number", meaning, "× 100", optional=True, control_of=control_of)


LINKED_GROUPS = Table(
    "linked_groups",
    "Whether the heads of `linked_ablation` matter: their mean effect, beside random heads of the "
    "same layers. `heads` is 0 where no head stands out; the rest is then empty.",
    (
        *MODEL,
        *_GROUP,
        METRIC,
        _count("heads", "heads in the group"),
        _of_group("mean_effect", "mean `delta` of disabling each of them alone"),
        *interval("mean_effect", unit="× 100", optional=True),
        _of_group(
            "control",
            "the same for random heads, as many of each layer",
            control_of="mean_effect",
        ),
        _of_group("over_control", "`mean_effect` − `control`"),
        *interval(
            "over_control", "over_control_low", "over_control_high", unit="× 100", optional=True
        ),
        replace(
            P_VALUE,
            meaning="two-sided permutation test of `over_control`: heads permuted within layers; "
            "empty if they cannot differ",
            optional=True,
        ),
        replace(
            Q_VALUE, meaning="false discovery rate over tasks, seeds and metrics", optional=True
        ),
        _of_group("largest_drop", "baseline − score of the head whose loss costs most"),
        _of_group(
            "drop_bound",
            "upper limit for the drop of every one of them at once, with 95 % confidence "
            "(one-sided, Bonferroni over the group): none costs more than this",
        ),
        Column("significant", "integer", "of them, effects with q < 0.05", low=0, optional=True),
    ),
    key=(*names(*MODEL, *_GROUP), "metric"),
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

TOLERATED_MEANS = Table(
    "tolerated_means",
    "How many heads can be disabled together, mean over fine-tuning seeds; no rows with one seed.",
    (
        TASK,
        STATE,
        METRIC,
        _ORDER,
        Column("tolerance", "number", "greatest drop that is tolerated", "× 100", low=0),
        replace(_TOGETHER, meaning="heads of the model"),
        _SEEDS,
        Column("tolerated", "number", "mean of `tolerated` in `tolerated_heads`", low=0),
        *interval("tolerated", bounds=(0, float("inf"))),
    ),
    key=(*names(TASK, STATE, METRIC, _ORDER), "tolerance"),
    may_be_empty=True,
)

EFFECTS = (HEAD_ABLATION, LAYER_ABLATION, SET_ABLATION, BEST_HEAD, SURVIVAL, MODE_COMPARISON)
"""Tables that are computed from the predictions of one sweep."""

OVER_SEEDS = (SEED_EFFECTS, SEED_TRANSFER)
"""Tables that are computed from the sweeps of all seeds."""

OVER_TASKS = (SEED_AGREEMENT, TASK_AGREEMENT, WORST_OVERLAP, WORST_HEADS)
"""Tables that compare the effects of heads between seeds and tasks."""

JOINT = (JOINT_ABLATION, TOLERATED_HEADS)
"""Tables that are computed from the predictions with several heads disabled."""

TABLES = (
    *(*EFFECTS, *OVER_SEEDS, *OVER_TASKS, LINKED_ABLATION, LINKED_GROUPS, *JOINT),
    TOLERATED_MEANS,
)
