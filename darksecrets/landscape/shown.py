"""What the atlas shows of what fine-tuning does (section 4.3, further)."""

from __future__ import annotations

from darksecrets.landscape import surface_tables as surfaces
from darksecrets.landscape import tables
from darksecrets.landscape.trajectory_tables import HEAD_HALFWAY
from darksecrets.run.shown import ModelNumbers, Phrase, Shown

SHOWN = (
    Shown(
        HEAD_HALFWAY,
        "halfway",
        "Halfway through its change",
        "Fine-tuning (4.3)",
        palette="weight",
        summaries=("layer_halfway", "halfway_order"),
        phrases=(
            Phrase(
                "halfway to its fine-tuned maps after {value:.0f} % of the training (all weights: "
                "{weights_halfway:.0f} %)"
            ),
        ),
    ),
)
"""Measures of heads that the atlas shows; docs/atlas.md explains how to add one."""

_FLATNESS = "Flatness (4.3)"
_SURFACE = "Loss surface (4.3)"
_WORDS = {
    surfaces.FINETUNED: "fine-tuned",
    surfaces.FROM_NORMAL: "random init.",
    surfaces.PRETRAINED: "pre-trained",
    tables.DIFFERENCE: "random init. − fine-tuned",
    tables.RISE: "mean rise",
    tables.SHARPNESS: "sharpness (%)",
    tables.TRACE: "trace of the Hessian",
    tables.TOP: "top eigenvalue",
    tables.TRAIN: "training examples",
    tables.VALIDATION: "validation examples",
    "split": "examples",
}

MODELS = (
    ModelNumbers(
        tables.FLATNESS,
        "How sharply the loss rises",
        _FLATNESS,
        "Greater is sharper. Filter-normalised: a step is as long as the weights that it moves, "
        "so models can be compared. Random init.: the same training of a randomly initialized "
        "model.",
        values=("value",),
        rows=("measure", "split"),
        across="state",
        where={"scale": tables.FILTER},
        words=_WORDS,
        over_seeds=tables.FLATNESS_MEANS,
    ),
    ModelNumbers(
        tables.FLATNESS,
        "Whether these models are at an optimum",
        _FLATNESS,
        "A model whose loss is not below that of constant output has not learned these examples. "
        "The loss may be flat around it, but it is not at an optimum.",
        values=("loss", "constant_loss", "gradient"),
        rows=("state", "seed", "split"),
        where={"scale": tables.FILTER, "measure": tables.RISE},
        words=_WORDS
        | {"state": "model", "constant_loss": "of constant output", "gradient": "‖gradient‖"},
    ),
    ModelNumbers(
        surfaces.LOSS_SURFACES,
        "Loss of {kind}",
        _SURFACE,
        "The plane through the weights of three models; across: to the pre-trained model; up: to "
        "the model that was randomly initialized before fine-tuning.",
        values=("loss",),
        rows=("y",),
        across="x",
        kind="split",
        where={"plane": surfaces.MODELS},
        words=_WORDS,
        marks={
            (0.0, 0.0): "● fine-tuned",
            (1.0, 0.0): "■ pre-trained",
            (0.0, 1.0): "▲ random init.",
        },
    ),
    ModelNumbers(
        surfaces.SURFACE_POINTS,
        "Loss of models in this plane",
        _SURFACE,
        "Mean loss over the examples; of the three models, and of the path of fine-tuning, if it "
        "was kept.",
        values=("loss",),
        rows=("point", "step"),
        across="split",
        words=_WORDS | {"point": "model"},
    ),
)
"""What the atlas shows of whole models."""
