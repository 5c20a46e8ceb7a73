"""Columns of the tables of loss surfaces. This module does not need torch."""

from __future__ import annotations

import math

from darksecrets.beyond.landscape.tables import SPLITS
from darksecrets.core.run import columns
from darksecrets.core.run.columns import TASK, names
from darksecrets.core.run.tables import Table, integer, interval, number, text

CORNERS = PRETRAINED, FINETUNED, FROM_NORMAL = ("pretrained", "finetuned", columns.FROM_NORMAL)
"""Models that span a plane: states of `darksecrets.core.run.columns`."""
PATH = "path"
PLANES = MODELS, LINE = ("models", "line")

_SEED = columns.SEED
_SPLIT = text(
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
        _SPLIT,
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
        _SPLIT,
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

TABLES = (LOSS_SURFACES, SURFACE_POINTS)
