"""Settings, tables and entry of the analysis of what fine-tuning does to the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run import columns, states
from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import P_VALUE, Q_VALUE, STATE, TASK, names
from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.tables import Table, integer, interval, like, number, text
from darksecrets.paper.ablation.tables import LAYER_ABLATION

State = Literal["finetuned", "finetuned-from-normal"]


def _limits(minimum: int, maximum: int) -> dict[str, int]:
    return {"minimum": minimum, "maximum": maximum}


@dataclass(frozen=True)
class Surface(Section):
    """Loss surfaces."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models have their loss surfaces computed, which takes long; all "
        "for `null`.",
        default=(),
    )
    seeds: int = constant(1, "For how many seeds of a task surfaces are computed.")
    snapshots: int = constant(
        8,
        "Steps of the training at which weights are kept for its path, at most, the first and the "
        "last included; half of them evenly spaced, half geometrically.",
    )
    grid: int = setting(
        15,
        "Points along each axis of the plane, an odd number. The loss is computed at its square "
        "and at nearly twice as many on a line (254 for 15).",
        **_limits(5, 201),
    )
    examples: int = setting(
        100,
        "Examples of each split whose loss is computed; all if a task has fewer.",
        **_limits(10, 1_000_000),
    )


@dataclass(frozen=True)
class Flatness(Section):
    """How flat the loss is around a model."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models, randomly initialized ones included, are measured for how "
        "flat the loss is around them; all for `null`. Each takes about as long as a fine-tuning.",
        default=(),
    )
    examples: int = setting(
        64, "Training examples, drawn at random; all if there are fewer.", **_limits(1, 1_000_000)
    )
    probes: int = setting(10, "Random vectors for the trace of the Hessian.", **_limits(2, 10_000))
    iterations: int = setting(
        16,
        "Lanczos vectors for its top eigenvalue, at most; each takes the encoder's memory again.",
        **_limits(1, 1000),
    )
    directions: int = setting(
        10,
        "Random filter-normalised directions in which the loss is followed, both ways.",
        **_limits(2, 10_000),
    )
    ascent: int = setting(
        5, "Gradients for a sharpness, from each of three starts, at most.", **_limits(1, 1000)
    )


@dataclass(frozen=True)
class Settings(Section):
    """Layers reset to pre-trained weights, and the loss around models."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models have layers reset to pre-trained weights; all if not given, "
        "none for an empty list.",
    )
    states: tuple[State, ...] = setting(
        ("finetuned",),
        "Models whose layers are reset; must include `finetuned`. "
        "Those of `finetuned-from-normal` are reset to their random initialization.",
        uniqueItems=True,
        anyOf=[{"contains": {"const": "finetuned"}}],
        **{"$comment": "`finetuned` among them"},
    )
    examples: int | None = setting(
        None,
        "Validation examples that are scored, at most; all if not given.",
        **_limits(10, 1_000_000),
    )
    surface: Surface = setting(Surface, "Loss surfaces.")
    flatness: Flatness = setting(Flatness, "Flatness of the loss.")


STATES = (states.FINETUNED, states.FROM_NORMAL)
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
    f"(Hao et al. 2019): the pre-trained encoder, or for `{states.FROM_NORMAL}` the randomly "
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
            f"how the model was made; `{DIFFERENCE}`: that of `{states.FROM_NORMAL}` less that "
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
RESET_TABLES = (RESET_LAYERS, RESET_MEANS)


# Columns of the tables of loss surfaces.

CORNERS = (states.PRETRAINED, states.FINETUNED, states.FROM_NORMAL)
"""Models that span a plane: states of `darksecrets.core.run.columns`."""
PATH = "path"
PLANES = MODELS, LINE = ("models", "line")

_SEED = columns.SEED
_SURFACE_SPLIT = text(
    "split",
    "examples: a sample of `validation`, or of `train` (`landscape.surface.examples`)",
    values=SPLITS,
)

LOSS_SURFACES = Table(
    "loss_surfaces",
    "Mean loss around a fine-tuned model, on a plane and a line through its weights (Hao et al. "
    "2019). A node that is one of the three models has the loss of this model.",
    (
        TASK,
        _SEED,
        text(
            "plane",
            f"`{MODELS}`: the plane of the three models of this seed, fine-tuned, pre-trained "
            "(with the classifier of the state `pretrained`) and randomly initialized before "
            f"fine-tuning; `{LINE}`: the line through the pre-trained and the fine-tuned model, "
            "beyond both",
            values=PLANES,
        ),
        _SURFACE_SPLIT,
        integer("row", f"number of `y` on the grid, from 1; 1 for `{LINE}`", low=1),
        integer("column", "number of `x` on the grid, from 1", low=1),
        number(
            "x",
            f"`{MODELS}`: share of the way from the fine-tuned to the pre-trained model; "
            f"`{LINE}`: share of the fine-tuned weights",
        ),
        number(
            "y",
            f"`{MODELS}`: share of the way from the fine-tuned model to the one that was randomly "
            f"initialized before fine-tuning; `{LINE}`: 0",
        ),
        number(
            "loss",
            "mean loss of the examples: cross-entropy, or squared error. If few examples have a "
            "large loss (5 %), the interval of 32 examples covers the mean in 74 % of samples, of "
            "100 in 94 %",
        ),
        *interval("loss", bounds=(0, math.inf)),
    ),
    key=("task", "seed", "plane", "split", "row", "column"),
)

SURFACE_POINTS = Table(
    "surface_points",
    f"Models in the plane `{MODELS}` of `{LOSS_SURFACES.file}`: those that span it, and, where "
    "snapshots of the training were kept, the path of the training, projected into the plane.",
    (
        TASK,
        _SEED,
        text(
            "point",
            f"the model; `{PATH}`: the model after some steps of fine-tuning",
            values=(*CORNERS, PATH),
        ),
        integer("step", f"steps of fine-tuning; only for `{PATH}`", optional=True),
        _SURFACE_SPLIT,
        number("x", f"place on the axis `x` of `{MODELS}`"),
        number("y", f"place on the axis `y` of `{MODELS}`"),
        number(
            "distance_x",
            "Euclidean distance of weights from the fine-tuned model, towards the pre-trained one",
        ),
        number("distance_y", "the same at a right angle to it, in the plane"),
        number("beside", "Euclidean distance of the model from the plane", low=0),
        number(
            "loss",
            "mean loss of the model itself, not of its projection; on `validation`, for the "
            "models that span the plane, that of their stored outputs",
        ),
        *interval("loss", bounds=(0, math.inf)),
    ),
    key=(*names(TASK, _SEED), "point", "step", "split"),
)

SURFACE_TABLES = (LOSS_SURFACES, SURFACE_POINTS)


ANALYSIS = Analysis(
    name="landscape",
    question="Which layers does fine-tuning need, and how flat is the loss around its models?",
    papers="Hao et al. 2019",
    tables={
        "Section 4.3, further: what fine-tuning does": (
            *RESET_TABLES,
            *SURFACE_TABLES,
            *TABLES_OF_FLATNESS,
        )
    },
    settings=Settings,
    requires=("layers",),
    check="beyond.landscape.preflight.check",
)
