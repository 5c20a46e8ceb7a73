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
    directions: int = setting(
        10,
        "Random filter-normalised directions in which the loss is followed, both ways.",
        **_limits(2, 10_000),
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
_EXAMPLES = integer("examples", "validation examples that scores are of", low=1)

RESET_LAYERS = Table(
    "reset_layers",
    "Score of fine-tuned models with some layers reset to what fine-tuning began with "
    f"(Hao et al. 2019): the pre-trained encoder, or for `{states.FROM_NORMAL}` the randomly "
    "initialized encoder.",
    (*_OF_MODEL, *_WHAT, METRIC, _EXAMPLES, *_EFFECT),
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
    ),
    key=(*names(TASK, _STATE, *_WHAT), "metric"),
)

SWAPS = Table(
    "swaps",
    "What was reset, in the order of the models' outputs.",
    _WHAT,
    key=names(*_WHAT),
)

FLATNESS = Table(
    "flatness",
    "How flat the loss is around every fine-tuned model, as a function of the encoder's weights "
    "(embeddings included, pooler and classifier fixed), without dropout. Steps are as long as the "
    "filters (rows of a matrix, embeddings of a token) that they move, and biases and layer norms "
    "stay: else numbers of two models could not be compared (Dinh et al. 2017).",
    (
        *_OF_MODEL,
        number(
            "rise",
            "mean rise of the loss in random directions, at a quarter of the lengths of filters, "
            "both ways; negative where the loss falls in most of them",
        ),
        *interval("rise", "rise"),
        integer("examples", "training examples", low=1),
        number("loss", "mean loss of the examples", low=0),
        number(
            "constant_loss",
            "the least that a model reaches which gives one output for all of them",
            low=0,
        ),
    ),
    key=names(*_OF_MODEL),
)


CORNERS = (states.PRETRAINED, states.FINETUNED, states.FROM_NORMAL)
"""Models that span a plane: states of `darksecrets.core.run.columns`."""
PLANES = MODELS, LINE = ("models", "line")

_SEED = columns.SEED
LOSS_SURFACES = Table(
    "loss_surfaces",
    "Mean loss around a fine-tuned model, on a plane and a line through its weights (Hao et al. "
    "2019).",
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
        text(
            "split",
            "examples: a sample of `train`; on the line, of `validation`, too "
            "(`landscape.surface.examples`)",
            values=SPLITS,
        ),
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
RESET_TABLES = (RESET_LAYERS, RESET_MEANS)

ANALYSIS = Analysis(
    name="landscape",
    question="Which layers does fine-tuning need, and how flat is the loss around its models?",
    papers="Hao et al. 2019",
    tables={
        "Section 4.3, further: what fine-tuning does": (
            *RESET_TABLES,
            LOSS_SURFACES,
            FLATNESS,
        )
    },
    settings=Settings,
    requires=("layers",),
    check="beyond.landscape.preflight.check",
)
