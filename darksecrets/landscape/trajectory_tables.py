"""Tables of heads on their way through a fine-tuning: which maps they have when."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.landscape.tables import STATES
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run import columns
from darksecrets.run.columns import HEAD, LAYER, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.run.tables import Column, Table, interval

VERDICTS = LATER, EARLIER, NO_ORDER = ("upper layers later", "upper layers earlier", "no order")
"""What a run says about the order in which layers change."""

_STATE = replace(STATE, values=STATES)
_OF_MODEL = (TASK, _STATE, columns.SEED)

STEP = Column("step", "integer", "step of the training; 0 is before the first", low=0)
_SHARE = Column("training", "number", "`step` as a share of all steps", "%", low=0, high=100)
_EXAMPLES = Column("examples", "integer", "sampled validation examples", low=1)
_COSINE = Column(
    "cosine_to_start",
    "number",
    "cosine of the head's maps with those that training began with, mean over examples, as in "
    "`cosine.csv`",
    low=0,
    high=1,
)
_TO_END = replace(
    _COSINE, name="cosine_to_end", meaning="the same with those that training ended with"
)


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
        Column(
            "progress",
            "number",
            "how much of the way from the first maps to the last is covered: ⟨now − first, last − "
            "first⟩ / ‖last − first‖², over all examples; empty if the maps did not change "
            "(`head_halfway.csv`)",
            optional=True,
        ),
        Column("entropy", "number", "of a query's weights, mean over queries", "nats", low=0),
        Column(
            "sharpness", "number", "largest weight of a query, mean over queries", low=0, high=1
        ),
        Column("first", "number", "attention to the first token, [CLS]", low=0, high=1),
        Column(
            "separators", "number", "attention to all other special tokens, [SEP]", low=0, high=1
        ),
        Column(
            "same_pattern",
            "number",
            "maps with the pattern that the example's map had at the start",
            "%",
            low=0,
            high=100,
        ),
        *(
            Column(
                pattern_column(name), "number", f"maps of the pattern {name}", "%", low=0, high=100
            )
            for name in PATTERNS
        ),
        _EXAMPLES,
    ),
    key=names(*_OF_MODEL, STEP, LAYER, HEAD),
    every=names(LAYER, HEAD),
)

_HALFWAY = Column(
    "halfway",
    "number",
    "share of the training after which `progress` first reaches one half, linear between snapshots",
    "%",
    low=0,
    high=100,
)
_ENDS = interval("halfway", unit="%", bounds=(0, 100), optional=True)
_WEIGHTS = Column(
    "weights_halfway",
    "number",
    "the same of all weights of the model",
    "%",
    low=0,
    high=100,
    control_of="halfway",
)

HEAD_HALFWAY = Table(
    "head_halfway",
    "When fine-tuning has covered half of the way of every head's maps.",
    (
        *_OF_MODEL,
        LAYER,
        HEAD,
        Column(
            "change",
            "number",
            "how far its maps moved: ‖last − first‖ / ‖first‖ over all examples",
            low=0,
        ),
        replace(
            _HALFWAY,
            optional=True,
            meaning=_HALFWAY.meaning + "; empty if `change` is below 0.005: half precision alone "
            "moves maps by up to 0.0005",
        ),
        *_ENDS,
        replace(
            STEP, name="after_step", optional=True, meaning="last snapshot before; empty as above"
        ),
        replace(STEP, name="by_step", optional=True, meaning="first snapshot from there on"),
        _WEIGHTS,
        _EXAMPLES,
    ),
    key=names(*_OF_MODEL, LAYER, HEAD),
    every=names(LAYER, HEAD),
)

_SEEDS = Column("seeds", "integer", "fine-tuning seeds that were followed", low=1)

LAYER_HALFWAY = Table(
    "layer_halfway",
    "The same for all heads of a layer together, mean over fine-tuning seeds.",
    (
        TASK,
        _STATE,
        LAYER,
        _SEEDS,
        replace(_HALFWAY, optional=True, meaning="mean over seeds; empty if no map changed"),
        *_ENDS,
        replace(_WEIGHTS, meaning="the same of all weights of the model, mean over seeds"),
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
        Column("layers", "integer", "layers of the encoder", low=1),
        Column(
            "spearman",
            "number",
            "rank correlation of `halfway` in `layer_halfway.csv` with the layer; 0 if all are "
            "equal, empty if a layer has none",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("spearman", "spearman", bounds=(-1, 1), optional=True),
        replace(
            P_VALUE,
            optional=True,
            meaning="two-sided permutation test of the layers; exact for at most 7",
        ),
        replace(Q_VALUE, optional=True, meaning="its false discovery rate over the tasks' states"),
        Column(
            "difference",
            "number",
            "mean `halfway` of the upper half of the layers minus that of the lower half",
            "% of the training",
            low=-100,
            high=100,
            optional=True,
        ),
        *interval("difference", unit="%", bounds=(-100, 100), optional=True),
        Column(
            "verdict",
            "text",
            f"`{LATER}` or `{EARLIER}` if `q_value` is at most 0.05 and both intervals leave out 0 "
            f"on the same side; else `{NO_ORDER}` is shown",
            values=VERDICTS,
        ),
    ),
    key=names(TASK, _STATE),
)

TABLES = (HEAD_TRAJECTORIES, HEAD_HALFWAY, LAYER_HALFWAY, HALFWAY_ORDER)
