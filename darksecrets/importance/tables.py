"""Tables of head importance (Michel et al. 2019; Prasanna et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.ablation.tables import JOINT_ABLATION, RANDOM, TOLERATED_HEADS
from darksecrets.data.tables import METRIC
from darksecrets.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.run.tables import Column, Table, interval

DEFINITIONS = ABSOLUTE, PER_TOKEN, ACCUMULATED, SIGNED, INTEGRATED, EXACT = (
    "absolute gradient",
    "per token",
    "accumulated",
    "signed gradient",
    "integrated gradient",
    "exact",
)
REFERENCES = LOSS, SCORE, ORDER = ("exact loss", "validation score", "another order")

MODES = ("uniform", "zero")
MODE = MODES[1]
"""How removed heads are disabled: they add nothing."""
GREEDY, REVERSED = "greedy", "reversed"

_MODE = Column(
    "mode",
    "text",
    "what a closed gate does to the head: see `ablation.mode`",
    values=MODES,
)
_DEFINITION = Column(
    "definition",
    "text",
    f"`{ABSOLUTE}`: E|∂L/∂ξ| (Michel et al., text); `{PER_TOKEN}`: absolute values of single "
    f"tokens (their code); `{ACCUMULATED}`: gradients never set to zero between batches (code of "
    f"Prasanna et al.), mean over orders of the examples; `{SIGNED}`: −E ∂L/∂ξ; `{INTEGRATED}`: −E "
    f"∫ ∂L/∂ξ while all gates open together; `{EXACT}`: loss without the head, less that with it",
    values=DEFINITIONS,
)

_SCORES = ("baseline", "score", "delta", "ci_low", "ci_high")


def _with(table: Table, *columns: Column) -> tuple[Column, ...]:
    """The columns of a table, with others of the same names."""
    others = {column.name: column for column in columns}
    return tuple(others.get(each.name, each) for each in table.columns)


HEAD_IMPORTANCE = Table(
    "head_importance",
    "How much the loss of fine-tuned models depends on each head, on training examples. "
    f"`{PER_TOKEN}` and `{ACCUMULATED}` are divided by their Euclidean norm over the layer.",
    (
        *MODEL,
        _MODE,
        _DEFINITION,
        LAYER,
        HEAD,
        Column("importance", "number", "greater if the task needs the head more", "loss"),
        *interval("importance", unit="loss"),
        Column("examples", "integer", "training examples it was measured on", low=1),
    ),
    key=(*names(*MODEL), "mode", "definition", "layer", "head"),
    every=names(LAYER, HEAD),
)

_RHO = Column(
    *("spearman", "number"),
    "Spearman's rank correlation over heads; empty if one side is equal for all heads",
    low=-1,
    high=1,
    optional=True,
)

IMPORTANCE_AGREEMENT = Table(
    "importance_agreement",
    "Whether a definition of importance ranks heads as disabling them one by one does.",
    (
        *MODEL,
        _MODE,
        _DEFINITION,
        Column(
            "reference",
            "text",
            f"`{LOSS}`: what disabling the head adds to the loss of the same examples; `{SCORE}`: "
            "what it takes from the task's first metric on the validation set (only in the sweep's "
            f"mode); `{ORDER}`: the same definition with the examples in another order",
            values=REFERENCES,
        ),
        Column("heads", "integer", "heads of the model", low=1),
        _RHO,
        *interval("spearman", bounds=(-1, 1), optional=True),
        replace(
            P_VALUE,
            meaning="two-sided permutation test of no rank correlation",
            optional=True,
        ),
        replace(
            P_VALUE,
            name="p_within_layers",
            meaning="the same, heads permuted within their layers",
            optional=True,
        ),
    ),
    key=(*names(*MODEL), "mode", "definition", "reference"),
)

_ORDER = Column(
    "order",
    "text",
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
        Column("draw", "integer", "number of the random order, from 1", low=1),
        Column("rank", "integer", "1 is removed first", low=1),
        LAYER,
        HEAD,
    ),
    key=("order", "draw", "rank"),
)

PRUNING_CURVES = replace(
    JOINT_ABLATION,
    name="pruning_curves",
    meaning="Score against the number of removed heads. Training examples make the orders, all "
    "validation examples score them.",
    columns=_with(
        JOINT_ABLATION,
        _ORDER,
        Column("baseline", "number", "score of the intact model", "× 100", high=100),
        Column(
            *("score", "number", "score without the heads: mean over `draws`", "× 100"), high=100
        ),
        Column("examples", "integer", "examples of the validation split", low=1),
        Column("draws", "integer", "orders of this name", low=1),
    ),
)
PRUNED_HEADS = replace(
    TOLERATED_HEADS,
    name="pruned_heads",
    meaning="How many heads can be removed in each order without losing more than the tolerance.",
    columns=_with(TOLERATED_HEADS, _ORDER),
)
LAYER_NEEDS = Table(
    "layer_needs",
    "Score if one layer keeps only some of its heads, those with the greatest exact effects on the "
    "loss of training examples.",
    (
        *MODEL,
        METRIC,
        LAYER,
        Column("kept", "integer", "heads that the layer keeps", low=1),
        *(column for column in JOINT_ABLATION.columns if column.name in _SCORES),
        Column("tolerance", "number", "greatest drop that is tolerated", "× 100", low=0),
        Column("tolerated", "flag", "whether the drop is not greater"),
        Column("noninferior", "flag", "whether this is significant: `ci_low` ≥ −`tolerance`"),
    ),
    key=(*names(*MODEL, METRIC), "layer", "kept"),
)

SURVIVING_HEADS = Table(
    "surviving_heads",
    "Which heads are left if as many are removed as the task's first metric tolerates "
    f"(`tolerated` in `pruned_heads`), in every order but `{RANDOM}` and `{REVERSED}`.",
    (
        *MODEL,
        replace(METRIC, meaning="the task's first metric"),
        replace(
            _ORDER, values=tuple(name for name in _ORDER.values if name not in (RANDOM, REVERSED))
        ),
        LAYER,
        HEAD,
        Column("rank", "integer", "1 is removed first", low=1),
        Column("survives", "flag", "whether the head is left"),
        Column(
            *("chance", "number", "the same if as many heads are removed at random"),
            low=0,
            high=1,
            control_of="survives",
        ),
    ),
    key=(*names(*MODEL), "order", "layer", "head"),
    every=names(LAYER, HEAD),
)

IMPORTANT_HEADS = Table(
    "important_heads",
    "Whether the heads that a task needs are those that do something recognisable: rank "
    "correlation of importance with every measure of heads that the run has; means over seeds.",
    (
        TASK,
        replace(_DEFINITION, meaning=f"which importance (mode `{MODE}`)"),
        Column("measure", "text", "table, column and kind of the measure, as in the atlas"),
        Column("name", "text", "what the measure is called"),
        replace(STATE, name="measured", meaning="state of the model whose heads were measured"),
        Column("heads", "integer", "heads of the model", low=1),
        replace(_RHO, meaning="Spearman's rank correlation over heads"),
        *interval("spearman", bounds=(-1, 1), optional=True),
        replace(P_VALUE, meaning="two-sided permutation test of no rank correlation"),
        replace(Q_VALUE, meaning="false discovery rate over the measures of the task"),
        replace(
            P_VALUE,
            name="p_within_layers",
            meaning="the same, heads permuted within their layers: beyond what layers explain",
        ),
        replace(
            Q_VALUE, name="q_within_layers", meaning="false discovery rate of `p_within_layers`"
        ),
    ),
    key=("task", "definition", "measure", "measured"),
)

TABLES = (
    *(HEAD_IMPORTANCE, IMPORTANCE_AGREEMENT, PRUNING_CURVES, PRUNED_HEADS, LAYER_NEEDS),
    *(SURVIVING_HEADS, IMPORTANT_HEADS),
)
