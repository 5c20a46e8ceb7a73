"""Tables of layers and heads reset to pre-trained weights, and of paths between two models."""

from __future__ import annotations

from darksecrets.ablation.tables import LAYER_ABLATION
from darksecrets.data.tables import METRIC
from darksecrets.run import columns
from darksecrets.run.columns import HEAD, P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.run.tables import Table, integer, interval, like, number, share, text

STATES = ("finetuned", columns.FROM_NORMAL)
"""States of models whose weights can be reset to those that fine-tuning began with."""
DIFFERENCE = "difference"

DIRECTIONS = RESET, TRANSFERRED = ("reset", "transferred")
KINDS = EMBEDDINGS, UP_TO, FROM, LAYER, THIRD, ATTENTION, MLP = (
    *("embeddings", "up to", "from", "layer", "third", "attention", "mlp"),
)
PARTS = MODEL, ENCODER = ("model", "encoder")
CURVES = (MODEL, ENCODER, EMBEDDINGS, LAYER)
SPLITS = VALIDATION, TRAIN = ("validation", "train")
LOSS = "loss"

CHANGES = MAPS, WEIGHTS = ("maps", "weights")
COSTS = (LOSS, "score", "flips")
SCOPES = HEADS, LAYERS = ("heads", "layers")

_STATE = like(STATE, values=STATES)
_OF_MODEL = (TASK, _STATE, columns.SEED)

_DIRECTION = text(
    "direction",
    f"`{RESET}`: parts of the fine-tuned model are reset to the weights that fine-tuning began "
    f"with; `{TRANSFERRED}`: parts of the encoder that it began with get fine-tuned weights. "
    "Classifier and pooler are always the fine-tuned ones",
    values=DIRECTIONS,
)
_WHAT = (
    text(
        "kind",
        f"what is exchanged: `{EMBEDDINGS}`; `{UP_TO}`: these and layers 1 to `last_layer`; "
        f"`{FROM}`: layers `first_layer` to the last; `{LAYER}`: one layer; `{THIRD}` of the "
        f"layers; `{ATTENTION}` or `{MLP}` of these layers",
        values=KINDS,
    ),
    integer("first_layer", "first layer of it, from 1; 0: the embeddings"),
    integer("last_layer", "last layer of it"),
)
_BY_NAME = {column.name: column for column in LAYER_ABLATION.columns}
_EFFECT = (
    like(
        _BY_NAME["baseline"],
        f"score of the model as it is: the fine-tuned one, or with `{TRANSFERRED}` the encoder "
        "that fine-tuning began with, with the fine-tuned classifier",
    ),
    like(_BY_NAME["score"], "score with the weights put in"),
    *(_BY_NAME[name] for name in ("delta", "ci_low", "ci_high", "p_value")),
    like(Q_VALUE, "false discovery rate over the rows of the kind and direction"),
)
_FLIPS = number(
    "flips",
    "share of the examples whose prediction changes; empty for a regression",
    "%",
    low=0,
    high=100,
    optional=True,
)
_LOSS = (
    number("loss_delta", "what it adds to the mean loss of the validation examples"),
    *interval("loss_delta", "loss"),
)
_EXAMPLES = integer("examples", "validation examples that scores and losses are of", low=1)
_CHANGE = number(
    "weight_change",
    "how far fine-tuning has moved these weights: ‖difference‖ / ‖those that it began with‖",
    low=0,
)

RESET_LAYERS = Table(
    "reset_layers",
    "Score and loss with weights of some layers exchanged between a fine-tuned model and what "
    "fine-tuning began with (Hao et al. 2019): the pre-trained encoder, or for "
    f"`{columns.FROM_NORMAL}` the randomly initialized encoder.",
    (*_OF_MODEL, _DIRECTION, *_WHAT, METRIC, _EXAMPLES, *_EFFECT, _FLIPS, *_LOSS, _CHANGE),
    key=names(*_OF_MODEL, _DIRECTION, *_WHAT, METRIC),
)

RESET_HEADS = Table(
    "reset_heads",
    "Score and loss with the own parameters of one head reset to pre-trained weights: its rows of "
    "queries, keys and values, and its columns of the output projection. No rows for encoders "
    "whose heads share them.",
    (
        *_OF_MODEL,
        columns.LAYER,
        HEAD,
        METRIC,
        _EXAMPLES,
        *_EFFECT[:-1],
        like(Q_VALUE, "false discovery rate over the heads of the model"),
        _FLIPS,
        *_LOSS,
        _CHANGE,
    ),
    key=names(*_OF_MODEL, columns.LAYER, HEAD, METRIC),
    every=names(columns.LAYER, HEAD),
    may_be_empty=True,
)

_SEEDS = integer("seeds", "fine-tuning seeds", low=1)
_OVER = "over seeds and examples; with one seed, over examples"

RESET_MEANS = Table(
    "reset_means",
    "`reset_layers.csv` over fine-tuning seeds.",
    (
        TASK,
        _STATE,
        _DIRECTION,
        *_WHAT,
        METRIC,
        _SEEDS,
        like(_EFFECT[0], "mean `baseline` of the seeds"),
        like(_EFFECT[1], "mean `score` of the seeds"),
        like(_BY_NAME["delta"], "mean `delta` of the seeds"),
        *interval("delta", unit="× 100"),
        like(P_VALUE, f"test of a mean effect of 0, {_OVER}"),
        _EFFECT[-1],
        like(_FLIPS, "mean `flips` of the seeds; empty for a regression"),
        like(_LOSS[0], "mean `loss_delta` of the seeds"),
        *_LOSS[1:],
    ),
    key=(*names(TASK, _STATE, _DIRECTION, *_WHAT), "metric"),
)

INTERPOLATION = Table(
    "interpolation",
    "Loss and scores between two models: weights are (1 − α) times those that fine-tuning began "
    "with plus α times the fine-tuned ones, in a part of the model; the rest is fine-tuned.",
    (
        TASK,
        _STATE,
        text(
            "part",
            f"what is interpolated: `{MODEL}`, with its classifier, `{ENCODER}`, `{EMBEDDINGS}`, "
            f"or one `{LAYER}`",
            values=CURVES,
        ),
        like(columns.LAYER, "the layer, from 1; empty for other parts", optional=True),
        share("alpha", "share of the fine-tuned weights"),
        text(
            "split",
            "examples: those scored of `validation`, or `landscape.training` of `train`",
            values=SPLITS,
        ),
        text("quantity", f"`{LOSS}`, or a metric, × 100", values=(LOSS, *METRIC.values)),
        _SEEDS,
        number("value", "mean over the seeds"),
        number("difference", "`value` − that of the fine-tuned models, at α = 1"),
        *interval("difference"),
        number(
            "spread",
            "standard deviation of `value` over seeds; empty for one",
            low=0,
            optional=True,
        ),
    ),
    key=("task", "state", "part", "layer", "alpha", "split", "quantity"),
)

CHANGE_AND_COST = Table(
    "change_and_cost",
    "Whether resetting costs most where fine-tuning changes most: rank correlations over heads, "
    "and over layers.",
    (
        TASK,
        _STATE,
        text("scope", "what is reset to pre-trained weights, one by one", values=SCOPES),
        text(
            "change",
            f"`{MAPS}`: 1 − cosine of the maps before and after fine-tuning (`cosine.csv`), of a "
            f"layer the mean over its heads; `{WEIGHTS}`: `weight_change`",
            values=CHANGES,
        ),
        text(
            "cost",
            "what resetting adds to the validation `loss`, or takes from the `score` (the task's "
            "first metric), or the share of predictions that it `flips`",
            values=COSTS,
        ),
        _SEEDS,
        integer("units", "heads, or layers", low=1),
        *columns.correlation(
            "Spearman's rank correlation over heads, or layers, mean over seeds; empty if one side "
            "is equal for all"
        ),
        like(
            P_VALUE,
            "two-sided permutation test of no rank correlation, the heads (or layers) of all "
            "seeds permuted alike",
            optional=True,
        ),
        like(Q_VALUE, "its false discovery rate over the rows of the task", optional=True),
        like(
            P_VALUE,
            "the same, heads permuted within their layers: beyond what layers explain; empty for "
            "layers",
            name="p_within_layers",
            optional=True,
        ),
        like(
            Q_VALUE,
            "its false discovery rate over the rows of the task",
            name="q_within_layers",
            optional=True,
        ),
    ),
    key=("task", "state", "scope", "change", "cost"),
)

SWAPS = Table(
    "swaps",
    "What was exchanged between two models, in the order of their outputs.",
    (_DIRECTION, *_WHAT, _CHANGE),
    key=names(_DIRECTION, *_WHAT),
)

SCALES = PLAIN, FILTER = ("plain", "filter")
MEASURES = SHARPNESS, RISE, TRACE, TOP = ("sharpness", "rise", "trace", "top_eigenvalue")
LEAST = {SHARPNESS: 0.0}
"""Least possible values: the greatest loss nearby is at least that of the model. The others may be
negative: away from a minimum the loss can fall in most directions, and with it its mean."""

_SPLIT = text("split", "the examples are from this split", values=SPLITS)
_SCALE = text(
    "scale",
    f"`{PLAIN}`: steps are those of the weights, as they are; `{FILTER}`: steps are as long as "
    "the filters (rows of a matrix, embeddings of a token) that they move, biases and layer "
    "norms stay: only these can be compared between models",
    values=SCALES,
)
_MEASURE = text(
    "measure",
    f"`{SHARPNESS}` (Keskar et al. 2017, 2.1, found by gradients: at least): (greatest loss "
    f"nearby − loss) / (1 + loss), in %; `{RISE}`: mean rise of the loss in random directions, at "
    f"a quarter of the lengths of filters, both ways; `{TRACE}` of the Hessian (Hutchinson "
    f"1990, beside Lanczos vectors); its `{TOP}`, with its sign (Lanczos 1950)",
    values=MEASURES,
)

FLATNESS = Table(
    "flatness",
    "How flat the loss is around every fine-tuned model, as a function of the encoder's weights "
    "(embeddings included, pooler and classifier fixed), without dropout. Greater is sharper.",
    (
        *_OF_MODEL,
        _SPLIT,
        _SCALE,
        _MEASURE,
        number("value", "the number; of plain scale, in units of weights"),
        *interval("value", optional=True),
        number(
            "error",
            "standard error over random vectors; of an eigenvalue, the residual: the Hessian has "
            "an eigenvalue that near; empty for a sharpness, which is a lower bound",
            low=0,
            optional=True,
        ),
        integer(
            "steps", "random vectors, Lanczos vectors, or gradients from each start, at most", low=1
        ),
        integer("examples", "examples of the split", low=1),
        integer("parameters", "weights of the encoder", low=1),
        number("loss", "mean loss of the examples", low=0),
        number(
            "constant_loss",
            "the least that a model reaches which gives one output for all of them",
            low=0,
        ),
        number("gradient", "length of the gradient; 0 at an optimum", low=0),
    ),
    key=names(*_OF_MODEL, _SPLIT, _SCALE, _MEASURE),
)

FLATNESS_MEANS = Table(
    "flatness_means",
    "`flatness.csv` over fine-tuning seeds, and the difference of both states.",
    (
        TASK,
        like(
            _STATE,
            f"how the model was made; `{DIFFERENCE}`: that of `{columns.FROM_NORMAL}` less that "
            "of `finetuned`, of the same seed",
            values=(*STATES, DIFFERENCE),
        ),
        _SPLIT,
        _SCALE,
        _MEASURE,
        _SEEDS,
        number("value", "mean over the seeds"),
        *interval("value", optional=True),
    ),
    key=names(TASK, _STATE, _SPLIT, _SCALE, _MEASURE),
)

TABLES_OF_FLATNESS = (FLATNESS, FLATNESS_MEANS)
TABLES = (RESET_LAYERS, RESET_HEADS, RESET_MEANS, INTERPOLATION, CHANGE_AND_COST)
