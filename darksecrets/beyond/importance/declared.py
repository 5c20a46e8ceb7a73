"""Settings, tables and entry of the analysis of important heads and MLPs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run import columns
from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Table, flag, integer, interval, like, number, share, text


@dataclass(frozen=True)
class Pruning(Section):
    """Heads removed in the order of their importance."""

    tasks: Tasks = tasks_among(
        "importance.tasks",
        "Tasks, among `importance.tasks`, for which heads are removed in the order of their "
        "importance; all of these if not given, none for an empty list.",
    )
    draws: int = setting(20, "Random orders, for comparison.", minimum=2, maximum=1_000_000)
    tolerance: float = constant(1, "Drop of a score (× 100) up to which heads are removable.")


@dataclass(frozen=True)
class LearnedGates(Section):
    """Gates that learn to close heads."""

    tasks: Tasks = tasks_among(
        "importance.tasks",
        "Tasks, among `importance.tasks`, on which models are trained on with gates that learn to "
        "close heads. It takes a training for every penalty, and more for comparison.",
        default=(),
    )
    penalties: tuple[float, ...] = setting(
        (0.003, 0.01, 0.03, 0.1),
        "Penalties λ per head that is not closed, each for a training of its own; the larger, the "
        "fewer heads are kept.",
        items={"exclusiveMinimum": 0},
        minItems=1,
        uniqueItems=True,
    )
    epochs: int = setting(
        3,
        "Epochs of such a training; the other settings are those of `fine_tuning`.",
        minimum=1,
        maximum=1000,
    )
    draws: int = constant(20, "Random sets of as many heads as gates keep, for comparison.")
    trained: int = setting(
        2,
        "How many of these are trained on, too, besides as many heads by the absolute gradient; "
        "neither if 0.",
        minimum=0,
        maximum=1_000_000,
    )


@dataclass(frozen=True)
class Settings(Section):
    """Whose heads are measured, and what is done with the order of their importance."""

    tasks: Tasks = tasks_among(
        "ablation.tasks",
        "Tasks, among `ablation.tasks`, for which the importance of heads is measured; all of "
        "these if not given.",
    )
    examples: int = setting(
        250,
        "Training examples on which importance is measured; as many others choose how many heads "
        "are removed. If there are too few, half of them each.",
        minimum=2,
        maximum=1_000_000,
    )
    pruning: Pruning = setting(Pruning, "Heads removed in the order of their importance.")
    learned_gates: LearnedGates = setting(LearnedGates, "Gates that learn to close heads.")


DEFINITIONS = ABSOLUTE, SIGNED, EXACT = (
    "absolute gradient",
    "signed gradient",
    "leave-one-out loss",
)
PARTS = HEADS, MLPS = ("head", "MLP")
REFERENCES = LOSS, SCORE, EXAMPLES = (
    "leave-one-out loss",
    "validation score",
    "other examples",
)

MODES = ("uniform", "zero")
MODE = MODES[1]
"""How removed heads are disabled: they add nothing."""
RANDOM, GREEDY, REVERSED = "random", "greedy", "reversed"
CHOOSING = (*DEFINITIONS, GREEDY)
"""Orders whose heads are worth removing, the least important first."""
LEARNED = "learned"
CHOSEN_BY = (LEARNED, ABSOLUTE, RANDOM)
WEIGHTS = FINE_TUNED, TRAINED_ON = ("fine-tuned", "trained on")
"""Of models with some of their heads: as they were fine-tuned, or trained on."""

_MODE = text("mode", "what a closed gate does to the head: see `ablation.mode`", values=MODES)
_DEFINITION = text(
    "definition",
    f"`{ABSOLUTE}`: E|∂L/∂ξ| (Michel et al.); `{SIGNED}`: −E ∂L/∂ξ; `{EXACT}`: the loss without "
    "the head minus that with it",
    values=DEFINITIONS,
)

_BASELINE = number("baseline", "score of the intact model", "× 100", high=100)
_SCORE = number("score", "score without the heads: mean over `draws`", "× 100", high=100)
_DELTA = (number("delta", "`score` − `baseline`", "× 100"), *interval("delta", unit="× 100"))
_OVER_RANDOM = (
    number("over_random", "`score` − that of `random`; empty for `random`", "× 100", optional=True),
    *interval("over_random", "over_random", unit="× 100", optional=True),
)
_CHANCE = like(
    _SCORE,
    "score of a constant prediction, the most frequent label; 0 for a regression",
    name="chance",
    control_of="score",
)
_TOLERANCE = number("tolerance", "largest drop that is tolerated", "× 100", low=0)

HEAD_IMPORTANCE = Table(
    "head_importance",
    "How much the loss of fine-tuned models depends on each head, on training examples.",
    (
        *MODEL,
        _MODE,
        _DEFINITION,
        LAYER,
        HEAD,
        number("importance", "greater if the task needs the head more", "loss"),
        *interval("importance", unit="loss"),
        integer("examples", "training examples it was measured on", low=1),
    ),
    key=(*names(*MODEL), "mode", "definition", "layer", "head"),
    every=names(LAYER, HEAD),
)

MLP_IMPORTANCE = Table(
    "mlp_importance",
    "How much the loss of fine-tuned models depends on the MLP of each layer, on training "
    "examples; no rows for encoders whose MLPs cannot be reached.",
    (
        *MODEL,
        like(
            _DEFINITION,
            f"`{ABSOLUTE}`: E|∂L/∂ξ| by a gate ξ on what the MLP adds to the hidden states; "
            f"`{SIGNED}`: −E ∂L/∂ξ; `{EXACT}`: the loss without the MLP minus that with it",
            values=(ABSOLUTE, SIGNED, EXACT),
        ),
        LAYER,
        number("importance", "greater if the task needs the MLP more", "loss"),
        *interval("importance", unit="loss"),
        integer("examples", "training examples it was measured on", low=1),
    ),
    key=(*names(*MODEL), "definition", "layer"),
    every=names(LAYER),
    may_be_empty=True,
)


IMPORTANCE_AGREEMENT = Table(
    "importance_agreement",
    "Whether a definition of importance ranks heads, or the MLPs of the layers, as disabling them "
    "one by one does. Intervals are over heads; those of MLPs, of which there are few, over "
    "examples.",
    (
        *MODEL,
        text("part", "what is ranked", values=PARTS),
        _MODE,
        _DEFINITION,
        text(
            "reference",
            f"`{LOSS}`: what disabling the head adds to the loss of the same examples; `{SCORE}`: "
            "what it takes from the task's first metric on the validation set (only in the "
            f"sweep's mode); `{EXAMPLES}`: importance on the other half of the examples, mean over "
            "20 divisions: on all of them, a ranking is at least as stable",
            values=REFERENCES,
        ),
        integer("parts", "heads of the model, or MLPs", low=1),
        *columns.correlation(
            "Spearman's rank correlation over heads, or over MLPs; empty if one side is equal for "
            "all"
        ),
        like(
            P_VALUE,
            "two-sided permutation test, heads permuted within their layers, MLPs over layers: no "
            "rank correlation beyond what layers explain",
            optional=True,
        ),
    ),
    key=(*names(*MODEL), "part", "mode", "definition", "reference"),
)

_ORDER = text(
    "order",
    "in which order heads are removed: at random, by a definition of `head_importance` (mode "
    f"`{MODE}`, the least important first), `{GREEDY}`: each step removes those whose removal, "
    f"beside those that are gone, adds least to the loss, `{REVERSED}`: the most important by "
    f"`{ABSOLUTE}` first",
    values=(RANDOM, *DEFINITIONS, GREEDY, REVERSED),
)

PRUNING_ORDERS = Table(
    "pruning_orders",
    "Orders in which the heads of one model are removed, made on training examples.",
    (
        _ORDER,
        integer("draw", "number of the random order, from 1", low=1),
        integer("rank", "1 is removed first", low=1),
        LAYER,
        HEAD,
    ),
    key=("order", "draw", "rank"),
)

_CHOSEN = (
    _TOLERANCE,
    integer(
        "removed",
        "largest number of heads for which, as for all smaller ones, the score of the training "
        "examples `chosen_on` drops by at most `tolerance`",
    ),
    integer("chosen_on", "training examples that determined no order"),
)
PRUNING_CHOICES = Table(
    "pruning_choices",
    "How many heads of one model are removed in each order, selected on training examples that "
    "determined no order.",
    (like(_ORDER, values=CHOOSING), METRIC, *_CHOSEN),
    key=("order", "metric"),
)

_REMOVED = integer("heads", "heads removed together", low=1)

PRUNING_CURVES = Table(
    "pruning_curves",
    "Score against the number of removed heads. Training examples determine the orders, all "
    "validation examples score them.",
    (
        *MODEL,
        METRIC,
        _ORDER,
        _REMOVED,
        share("share", "share of the model's heads"),
        _BASELINE,
        _SCORE,
        *_DELTA,
        *_OVER_RANDOM,
        _CHANCE,
        integer("examples", "examples of the validation split", low=1),
        integer("draws", "orders of this name", low=1),
    ),
    key=(*names(*MODEL, METRIC, _ORDER), "heads"),
)

_LARGEST = integer(
    "largest",
    "largest number in `heads` of `pruning_curves` for which, as for all smaller ones, `delta` is "
    "at least −`tolerance`; 0 if there is none",
)

PRUNED_HEADS = Table(
    "pruned_heads",
    "How many heads can be removed in each order without losing more than the tolerance.",
    (
        *MODEL,
        METRIC,
        _ORDER,
        _TOLERANCE,
        like(_REMOVED, "heads of the model"),
        _LARGEST,
        *interval("largest", bounds=(0, float("inf"))),
        like(
            _LARGEST,
            "`largest` with `ci_low` in place of `delta`: the drop is "
            "significantly smaller than `tolerance` (fixed-sequence test, one-sided 2.5 %)",
            name="noninferior",
        ),
    ),
    key=names(*MODEL, METRIC, _ORDER),
)
SMALLER_MODELS = Table(
    "smaller_models",
    "The smallest model within the tolerance, in each order. The number of removed heads is "
    "selected on training examples that determined no order; all validation examples score the "
    "model.",
    (
        *MODEL,
        METRIC,
        like(_ORDER, values=CHOOSING),
        *_CHOSEN,
        share("share", "share of the model's heads that are removed"),
        _BASELINE,
        like(_SCORE, "score without the heads"),
        *_DELTA,
    ),
    key=(*names(*MODEL, METRIC), "order"),
)
LAYER_NEEDS = Table(
    "layer_needs",
    "Score if one layer keeps only some of its heads, those with the largest leave-one-out losses "
    "on training examples.",
    (
        *MODEL,
        METRIC,
        LAYER,
        integer("kept", "heads that the layer keeps", low=1),
        _BASELINE,
        like(_SCORE, "score with these heads alone in the layer"),
        *_DELTA,
        _TOLERANCE,
        flag("tolerated", "whether the drop is not greater"),
        flag("noninferior", "whether this is significant: `ci_low` ≥ −`tolerance`"),
    ),
    key=(*names(*MODEL, METRIC), "layer", "kept"),
)

REMAINING_HEADS = Table(
    "remaining_heads",
    "Which heads remain when as many are removed as possible within the tolerance, by the task's "
    "first metric (`largest` in `pruned_heads`), in every order except "
    f"`{RANDOM}` and `{REVERSED}`.",
    (
        *MODEL,
        like(METRIC, "the task's first metric"),
        like(
            _ORDER, values=tuple(name for name in _ORDER.values if name not in (RANDOM, REVERSED))
        ),
        LAYER,
        HEAD,
        integer("rank", "1 is removed first", low=1),
        flag("survives", "whether the head is left"),
        share(
            "chance",
            "probability to survive if as many heads are removed at random",
            control_of="survives",
        ),
    ),
    key=(*names(*MODEL), "order", "layer", "head"),
    every=names(LAYER, HEAD),
)

IMPORTANT_HEADS = Table(
    "important_heads",
    "Whether important heads have a recognisable function: rank correlation of importance with "
    "every measure of heads that the run has; means over seeds.",
    (
        TASK,
        like(_DEFINITION, f"which importance (mode `{MODE}`)"),
        text("measure", "table, column and kind of the measure, as in the atlas"),
        text("name", "what the measure is called"),
        like(STATE, "state of the model whose heads were measured", name="measured"),
        integer("heads", "heads of the model", low=1),
        *columns.correlation("Spearman's rank correlation over heads"),
        like(
            P_VALUE,
            "two-sided permutation test, heads permuted within their layers: no rank correlation "
            "beyond what layers explain",
        ),
        like(Q_VALUE, "false discovery rate over the measures of the task"),
    ),
    key=("task", "definition", "measure", "measured"),
)

_PENALTY = number("penalty", "λ, the penalty per head that is not closed", low=0)

LEARNED_GATES = Table(
    "learned_gates",
    "Scores of the heads that learned gates keep (Voita et al. 2019), beside as many heads kept "
    "by the absolute gradient, or at random. Training examples choose the heads, all "
    "validation examples score them.",
    (
        *MODEL,
        METRIC,
        _PENALTY,
        text(
            "chosen_by",
            f"`{LEARNED}`: the gates that are not 0; the others keep as many heads",
            values=CHOSEN_BY,
        ),
        text(
            "weights",
            f"`{FINE_TUNED}`: the other heads are removed from the fine-tuned model; "
            f"`{TRAINED_ON}`: training went on, with the gates or without the other heads",
            values=WEIGHTS,
        ),
        integer("heads", "heads of the model", low=1),
        integer("kept", "heads that are kept"),
        share("share", "`kept` / `heads`"),
        like(
            _BASELINE,
            "score with all heads, trained on for as long where `weights` says so",
        ),
        like(_SCORE, "score with the heads: mean over `draws`"),
        *_DELTA,
        *_OVER_RANDOM,
        _CHANCE,
        integer("examples", "examples of the validation split", low=1),
        integer("draws", "sets of heads of this kind", low=1),
    ),
    key=(*names(*MODEL, METRIC), "penalty", "chosen_by", "weights"),
)
HEAD_GATES = Table(
    "head_gates",
    "What the gate of every head has become (Voita et al. 2019).",
    (
        *MODEL,
        _PENALTY,
        LAYER,
        HEAD,
        share("gate", "factor of the head's output; 0 if closed"),
        share("open_probability", "probability not to be 0 in training"),
    ),
    key=(*names(*MODEL), "penalty", "layer", "head"),
    every=names(LAYER, HEAD),
)

OF_PRUNING = (PRUNING_CURVES, PRUNED_HEADS, REMAINING_HEADS, SMALLER_MODELS, LAYER_NEEDS)
TABLES = (
    *(HEAD_IMPORTANCE, IMPORTANCE_AGREEMENT),
    *(*OF_PRUNING, LEARNED_GATES, HEAD_GATES, IMPORTANT_HEADS),
)


_GROUP = "Importance and removal (4.6)"
_SUMMARIES = ("importance_agreement", "important_heads")
_SIGNED = (EXACT, SIGNED)


def _shown_definitions(names: tuple[str, ...], **more: Any) -> Shown:  # noqa: ANN401 - of `Shown`
    """The importance of heads by some definitions."""
    where = {"mode": MODE, "definition": names}
    about = {"kind": "definition", "where": where, "summaries": _SUMMARIES, **more}
    return Shown(HEAD_IMPORTANCE, "importance", "Importance: {kind}", _GROUP, **about)


SHOWN = (
    _shown_definitions(_SIGNED, palette="effect", on_card=(EXACT,)),
    _shown_definitions((ABSOLUTE,), on_card=False),
    Shown(
        REMAINING_HEADS,
        "survives",
        "Survives removal: {kind}",
        _GROUP,
        "whether the head remains when as many heads are removed as possible within the tolerance; "
        "for several seeds, the share for which it does",
        kind="order",
        where={"order": (ABSOLUTE, EXACT, GREEDY)},
        words={EXACT: "by leave-one-out loss", ABSOLUTE: "by absolute gradient"},
        beside=("rank",),
        summaries=("pruned_heads", "pruning_curves", "smaller_models"),
        on_card=(ABSOLUTE,),
    ),
    Shown(
        HEAD_GATES,
        "gate",
        "Learned gate: λ = {kind}",
        _GROUP,
        "factor of the head's output that a gate has learned, 0 if closed; for several seeds, the "
        "mean",
        kind="penalty",
        beside=("open_probability",),
        summaries=("learned_gates",),
        on_card=False,
    ),
)


ANALYSIS = Analysis(
    name="importance",
    question="How important is each head, and how many can be removed for good?",
    papers="Michel et al. 2019, Voita et al. 2019",
    tables={"Section 4.6, further: how important heads are": TABLES},
    settings=Settings,
    shown=SHOWN,
    requires=("interventions",),
    check="beyond.importance.preflight.check",
)
