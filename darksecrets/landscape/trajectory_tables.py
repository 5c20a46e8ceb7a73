"""Tables of heads on their way through a fine-tuning: which maps they have when."""

from __future__ import annotations

from darksecrets.landscape.tables import STATES
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run import columns
from darksecrets.run.columns import HEAD, LAYER, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.run.tables import Table, integer, interval, like, number, share, text

VERDICTS = LATER, EARLIER, NO_ORDER = ("upper layers later", "upper layers earlier", "no order")
"""What a run says about the order in which layers change."""

_STATE = like(STATE, values=STATES)
_OF_MODEL = (TASK, _STATE, columns.SEED)

STEP = integer("step", "step of the training; 0 is before the first")
_SHARE = number("training", "`step` as a share of all steps", "%", low=0, high=100)
_EXAMPLES = integer("examples", "sampled validation examples", low=1)
_COSINE = share(
    "cosine_to_start",
    "cosine of the head's maps with those that training began with, mean over examples, as in "
    "`cosine.csv`",
)
_TO_END = like(_COSINE, "the same with those that training ended with", name="cosine_to_end")


def pattern_column(pattern: str) -> str:
    """Name of the column with the share of a pattern."""
    return pattern.replace("+", "_")


HEAD_TRAJECTORIES = Table(
    "head_trajectories",
    "The maps of every head at some steps of a fine-tuning.",
    (
        *_OF_MODEL,
        STEP,
        LAYER,
        HEAD,
        _SHARE,
        _COSINE,
        *interval("cosine_to_start", "start", bounds=(0, 1), optional=True),
        _TO_END,
        *interval("cosine_to_end", "end", bounds=(0, 1), optional=True),
        number(
            "progress",
            "how much of the way from the first maps to the last is covered: ⟨now − first, last − "
            "first⟩ / ‖last − first‖², over all examples; empty if the maps did not change "
            "(`head_halfway.csv`)",
            optional=True,
        ),
        number("entropy", "of a query's weights, mean over queries", "nats", low=0),
        share("sharpness", "largest weight of a query, mean over queries"),
        share("first", "attention to the first token, [CLS]"),
        share("separators", "attention to all other special tokens, [SEP]"),
        like(
            _SHARE,
            "maps with the pattern that the example's map had at the start",
            name="same_pattern",
        ),
        *(
            like(_SHARE, f"maps of the pattern {name}", name=pattern_column(name))
            for name in PATTERNS
        ),
        _EXAMPLES,
    ),
    key=names(*_OF_MODEL, STEP, LAYER, HEAD),
    every=names(LAYER, HEAD),
)

_HALFWAY = like(
    _SHARE,
    "share of the training after which `progress` first reaches one half, linear between snapshots",
    name="halfway",
)
_ENDS = interval("halfway", unit="%", bounds=(0, 100), optional=True)
_WEIGHTS = like(
    _SHARE, "the same of all weights of the model", name="weights_halfway", control_of="halfway"
)

HEAD_HALFWAY = Table(
    "head_halfway",
    "When fine-tuning has covered half of the way of every head's maps.",
    (
        *_OF_MODEL,
        LAYER,
        HEAD,
        number(
            "change", "how far its maps moved: ‖last − first‖ / ‖first‖ over all examples", low=0
        ),
        like(
            _HALFWAY,
            _HALFWAY.meaning + "; empty if `change` is below 0.005: half precision alone "
            "moves maps by up to 0.0005",
            optional=True,
        ),
        *_ENDS,
        like(STEP, "last snapshot before; empty as above", name="after_step", optional=True),
        like(STEP, "first snapshot from there on", name="by_step", optional=True),
        _WEIGHTS,
        _EXAMPLES,
    ),
    key=names(*_OF_MODEL, LAYER, HEAD),
    every=names(LAYER, HEAD),
)

_SEEDS = integer("seeds", "fine-tuning seeds that were followed", low=1)

LAYER_HALFWAY = Table(
    "layer_halfway",
    "The same for all heads of a layer together, mean over fine-tuning seeds.",
    (
        TASK,
        _STATE,
        LAYER,
        _SEEDS,
        like(_HALFWAY, "mean over seeds; empty if no map changed", optional=True),
        *_ENDS,
        like(_WEIGHTS, "the same of all weights of the model, mean over seeds"),
        _EXAMPLES,
    ),
    key=names(TASK, _STATE, LAYER),
    every=names(LAYER),
)

HALFWAY_ORDER = Table(
    "halfway_order",
    "Do the layers change in an order?",
    (
        TASK,
        _STATE,
        _SEEDS,
        integer("layers", "layers of the encoder", low=1),
        number(
            "spearman",
            "rank correlation of `halfway` in `layer_halfway.csv` with the layer; 0 if all are "
            "equal, empty if a layer has none",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("spearman", "spearman", bounds=(-1, 1), optional=True),
        like(
            P_VALUE, "two-sided permutation test of the layers; exact for at most 7", optional=True
        ),
        like(Q_VALUE, "its false discovery rate over the tasks' states", optional=True),
        number(
            "difference",
            "mean `halfway` of the upper half of the layers minus that of the lower half",
            "% of the training",
            low=-100,
            high=100,
            optional=True,
        ),
        *interval("difference", unit="%", bounds=(-100, 100), optional=True),
        text(
            "verdict",
            f"`{LATER}` or `{EARLIER}` if `q_value` is at most 0.05 and both intervals leave out "
            f"0 on the same side; else `{NO_ORDER}` is shown",
            values=VERDICTS,
        ),
    ),
    key=names(TASK, _STATE),
)

TABLES = (HEAD_TRAJECTORIES, HEAD_HALFWAY, LAYER_HALFWAY, HALFWAY_ORDER)
