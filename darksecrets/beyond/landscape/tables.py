"""Tables of layers reset to what fine-tuning began with, and of flatness."""

from __future__ import annotations

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run import columns
from darksecrets.core.run.columns import P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.core.run.tables import Table, integer, interval, like, number, text
from darksecrets.paper.ablation.tables import LAYER_ABLATION

STATES = ("finetuned", columns.FROM_NORMAL)
"""States of models whose weights can be reset to those that fine-tuning began with."""
DIFFERENCE = "difference"

KINDS = UP_TO, FROM, LAYER, THIRD = ("up to", "from", "layer", "third")
SPLITS = VALIDATION, TRAIN = ("validation", "train")

_STATE = like(STATE, values=STATES)
_OF_MODEL = (TASK, _STATE, columns.SEED)

_WHAT = (
    text(
        "kind",
        f"what is reset: `{UP_TO}`: the embeddings and layers 1 to `last_layer`; `{FROM}`: layers "
        f"`first_layer` to the last; `{LAYER}`: one layer; `{THIRD}` of the layers. Classifier and "
        "pooler are always the fine-tuned ones",
        values=KINDS,
    ),
    integer("first_layer", "first layer of it, from 1; 0: the embeddings"),
    integer("last_layer", "last layer of it"),
)
_BY_NAME = {column.name: column for column in LAYER_ABLATION.columns}
_EFFECT = (
    like(_BY_NAME["baseline"], "score of the fine-tuned model"),
    like(_BY_NAME["score"], "score with the layers reset"),
    *(_BY_NAME[name] for name in ("delta", "ci_low", "ci_high", "p_value")),
    like(Q_VALUE, "false discovery rate over the rows of the kind"),
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
    number(
        "loss_delta",
        "what it adds to the mean loss of the validation examples; its interval covers less than "
        "95 % if only few of the examples change much",
    ),
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
    "Score and loss of fine-tuned models with some layers reset to what fine-tuning began with "
    f"(Hao et al. 2019): the pre-trained encoder, or for `{columns.FROM_NORMAL}` the randomly "
    "initialized encoder.",
    (*_OF_MODEL, *_WHAT, METRIC, _EXAMPLES, *_EFFECT, _FLIPS, *_LOSS, _CHANGE),
    key=names(*_OF_MODEL, *_WHAT, METRIC),
)

_SEEDS = integer("seeds", "fine-tuning seeds", low=1)
_OVER = "over seeds and examples; with one seed, over examples"

RESET_MEANS = Table(
    "reset_means",
    "`reset_layers.csv` over fine-tuning seeds.",
    (
        TASK,
        _STATE,
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
    key=(*names(TASK, _STATE, *_WHAT), "metric"),
)

SWAPS = Table(
    "swaps",
    "What was reset, in the order of the models' outputs.",
    (*_WHAT, _CHANGE),
    key=names(*_WHAT),
)

MEASURES = SHARPNESS, RISE, TRACE, TOP = ("sharpness", "rise", "trace", "top_eigenvalue")
LEAST = {SHARPNESS: 0.0}
"""Least possible values: the greatest loss nearby is at least that of the model. The others may be
negative: away from a minimum the loss can fall in most directions, and with it its mean."""

_SPLIT = text("split", "the examples are from this split", values=SPLITS)
_MEASURE = text(
    "measure",
    f"`{SHARPNESS}` (after Keskar et al. 2017, 2.1, found by gradients: at least): (greatest loss "
    f"nearby − loss) / (1 + loss), in %; `{RISE}`: mean rise of the loss in random directions, at "
    f"a quarter of the lengths of filters, both ways; `{TRACE}` of the Hessian (Hutchinson "
    f"1990, beside Lanczos vectors); its `{TOP}`, with its sign (Lanczos 1950)",
    values=MEASURES,
)

FLATNESS = Table(
    "flatness",
    "How flat the loss is around every fine-tuned model, as a function of the encoder's weights "
    "(embeddings included, pooler and classifier fixed), without dropout. Greater is sharper. "
    "Steps are as long as the filters (rows of a matrix, embeddings of a token) that they move, "
    "and biases and layer norms stay: else numbers of two models could not be compared (Dinh et "
    "al. 2017).",
    (
        *_OF_MODEL,
        _SPLIT,
        _MEASURE,
        number("value", "the number"),
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
    key=names(*_OF_MODEL, _SPLIT, _MEASURE),
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
        _MEASURE,
        _SEEDS,
        number("value", "mean over the seeds"),
        *interval("value", optional=True),
    ),
    key=names(TASK, _STATE, _SPLIT, _MEASURE),
)

TABLES_OF_FLATNESS = (FLATNESS, FLATNESS_MEANS)
TABLES = (RESET_LAYERS, RESET_MEANS)
